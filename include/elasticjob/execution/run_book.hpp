// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes the starts and the ends of runs: for all items of a firing at once, with a check of each
/// record's version.
#ifndef ELASTICJOB_EXECUTION_RUN_BOOK_HPP
#define ELASTICJOB_EXECUTION_RUN_BOOK_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/execution/run_requests.hpp>
#include <elasticjob/execution/run_transactions.hpp>
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/joint_commits.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// Whether this is the mark of a run of this instance under this session. Two instances of a process may share a
/// session, so a mark names its instance. A Java member's mark is empty.
bool is_own_mark(node const& mark, instance_id const& self, session_view const& session);

namespace detail {

/// What to do if it is unknown whether an end is recorded.
enum class end_step : std::uint8_t { done, done_before, fenced, write, read_again, session_over, refused };

/// `there` is the item's current record. Without a record, nobody has taken the item over: it has been removed, which
/// the leader does only when nothing marks it as running any more. So if the reply to an attempt was lost, that attempt
/// has recorded the end.
end_step step_after_reading(result<node> const& there, run_end const& e, bool is_reply_lost);

/// Whether the transaction may have been carried out although it was answered with an error.
inline bool is_lost(result<commit_reply> const& reply) noexcept { return !reply && is_connection(reply.error().code); }

/// Precondition: the reply is not a success.
end_step step_after_writing(result<commit_reply> const& reply);

/// Whether the later record contains the end in `ended`. A record keeps only the last ends.
bool tells_of_end(std::string_view later, std::string_view ended);

} // namespace detail

/// A start is one transaction for all items. It checks that this instance still owns them, that no operator has
/// disabled them, that no instance runs them and that their records are unchanged. It writes the records and creates
/// the marks. So two instances can never run one item under a valid token, a replaced assignment cannot start a run
/// (D-13, D-15), and no due instant is handled twice. Threads: the loop's.
template <registry Registry>
class run_book {
public:
    /// The starts and ends of other jobs may be sent together with these. All arguments must outlive this object.
    run_book(Registry& r, joint_commits<Registry>& commits, job_layout const& at, instance_id const& self)
        : registry_{r},
          commits_{commits},
          at_{at},
          self_{self} {}
    run_book(Registry&, joint_commits<Registry>&, job_layout const&, instance_id&&) = delete;
    run_book(Registry&, joint_commits<Registry>&, job_layout&&, instance_id const&) = delete;

    /// Precondition: `g` is the generation of the session under which the instance is registered. Errors: those of the
    /// registry. After session_lost it is unknown whether all items have started or none; after other errors none has,
    /// because a lost reply is read back. If the items do not fit into one transaction and some have started before one
    /// failed, the others are reported as unknown or unclaimed.
    task<result<start_report>> start(session_generation g, std::vector<item_claim::proof> common,
                                     std::vector<run_start> starts);

    /// Writes the records of runs that have ended and removes their marks, in one transaction if they fit. Repeated
    /// until the outcome is known, the session is over, or the registry has refused or not answered `attempts_max`
    /// times.
    task<end_report> finish(session_generation g, std::vector<run_end> ends);

    /// Removes the item's mark if it is this instance's. Precondition: the mark belongs to no live run of this
    /// instance. Returns whether there was a mark. Errors: those of the registry.
    task<result<bool>> drop_stray_mark(session_generation g, item_index i, node const& mark);

    /// Marks a live run again after its session has ended, unless another instance has taken the item over (D-17).
    /// Replaces the mark of that session, which the servers may keep for a while: after an outage, a new leader gives
    /// each session its whole time-out again. Repeated until the outcome is known. Returns whether the run is still
    /// valid. Errors: session_lost if the new session is over too; permanent errors of the registry.
    task<result<bool>> mark_again(session_generation g, item_index i, node_version version);

    /// After this, reads show at least all writes of this session and of the one before it, even if replies were lost
    /// and another server answers now, because a transaction passes the ensemble's leader. Errors: session_lost;
    /// permanent errors of the registry.
    task<result<void>> catch_up(session_generation g);

    /// Writes a record during the run. Errors: fenced; those of the registry, after which the outcome is unknown.
    task<result<void>> save(session_generation g, run_end e);

    /// Writes a record while no instance runs the item, except possibly a Java member, which does not read records.
    /// Errors: version_conflict if an instance has started the item, the record has changed, or the `dead` instance is
    /// alive; those of the registry, after which the outcome is unknown.
    task<result<void>> amend(session_generation g, run_end e, std::optional<instance_id> dead, bool may_java_run_it);

    /// Creates the records of items that have none yet, through `commits`, and sets their `created`. A record that
    /// another instance creates meanwhile is not changed. `records` must live until the end. Errors: version_conflict if
    /// others create or remove records or their parents during each of `attempts_max` attempts; those of the registry.
    task<result<void>> open(joint_commits<Registry>& commits, session_generation g,
                            std::vector<record_creation>& records);

private:
    task<result<void>> leave_out_present(std::vector<record_creation*>& records);

    /// Adds what `add` makes of each of these, from number `n` on, as long as the transaction fits into a request; of the
    /// first in any case. Returns the number of the next one.
    template <class T, class Add>
    std::size_t fill(transaction& t, std::vector<T> const& all, std::size_t n, Add add) const {
        for (auto const first = n; n < all.size(); ++n) {
            auto const size = t.size();
            add(all[n]);
            if (n == first || t.has_room(registry_.limits())) continue;
            t.shorten(size);
            break;
        }
        return n;
    }

    /// Moves as many items to `chunk` as fit into one transaction. Returns that transaction.
    transaction take_chunk(transaction const& checks, std::vector<run_start>& starts,
                           std::vector<run_start>& chunk) const;

    /// `t` is the first attempt; `chunk` holds the items that are not in the report yet.
    task<result<void>> start_chunk(transaction const& checks, transaction t, std::vector<run_start>& chunk,
                                   start_report& report);

    /// Whether this instance has written this record, although the reply was lost.
    static bool is_written(node const& there, std::string_view record, node_version version);

    /// After a refusal: reads the state of all items at once, and keeps the items without an obstacle.
    task<result<void>> sort_out_hindered(transaction const& checks, std::vector<run_start>& chunk,
                                         start_report& report);

    /// Creates an item's nodes again if they were removed although this instance owns the item by the assignment in
    /// force.
    task<result<void>> restore(transaction const& checks, item_index i);

    /// Creates the parents of the records, which may have been removed.
    task<result<void>> make_room();

    /// After a lost reply: the revision of the start, or 0 if it did not happen. No other instance writes the record
    /// while this instance's mark exists. If the session ends before the outcome is known, the next session finds it in
    /// the record.
    task<result<revision>> token_of(session_generation g, run_start const& s);

    /// `is_reply_lost`: of the first attempt.
    task<end_result> finish_one(session_generation g, run_end e, bool is_reply_lost, std::optional<error>& refusal);

    /// Removes the marks of this instance from an item without changing its record. Errors: permanent errors of the
    /// registry; session_lost, which means that the marks are gone.
    task<result<void>> drop_marks(session_generation g, item_index i);

    /// The transaction of the end, with the marks that exist and belong to this instance.
    task<run_end> with_own_marks(session_view session, run_end e);

    static constexpr int attempts_max = 10;

    Registry& registry_;
    joint_commits<Registry>& commits_;
    job_layout const& at_;
    instance_id const& self_;
};

template <registry Registry>
task<result<start_report>> run_book<Registry>::start(session_generation g, std::vector<item_claim::proof> common,
                                                     std::vector<run_start> starts) {
    start_report report;
    auto const checks = detail::start_checks(at_, self_, g, common);
    while (!starts.empty()) {
        std::vector<run_start> chunk;
        auto t = take_chunk(checks, starts, chunk);
        auto const done = co_await start_chunk(checks, std::move(t), chunk, report);
        if (done) continue;
        if (report.started.empty()) co_return done.error();
        for (auto const& s : chunk) report.hindered.push_back({s.share.item, start_answer::unknown});
        for (auto const& s : starts) report.hindered.push_back({s.share.item, start_answer::unclaimed});
        break;
    }
    co_return report;
}

template <registry Registry>
task<end_report> run_book<Registry>::finish(session_generation g, std::vector<run_end> ends) {
    end_report report;
    while (report.results.size() < ends.size()) {
        transaction t{g};
        auto const begin = report.results.size();
        auto const end = fill(t, ends, begin, [&](run_end const& e) { detail::add_end(t, at_, e); });
        auto const reply = co_await commits_.commit(std::move(t));
        for (auto n = begin; n < end; ++n) {
            auto one = end_result::recorded;
            if (!reply || !*reply) one = co_await finish_one(g, ends[n], detail::is_lost(reply), report.refusal);
            report.results.push_back(one);
        }
    }
    co_return report;
}

template <registry Registry>
task<result<bool>> run_book<Registry>::mark_again(session_generation g, item_index i, node_version version) {
    for (;;) {
        ELASTICJOB_CO_TRY(auto const session, co_await connected_session(registry_, g));
        transaction t{g};
        t.check(at_.run_record(i), version).create(at_.item_running(i), self_.str(), create_mode::ephemeral);
        auto const reply = co_await registry_.commit(std::move(t));
        if (reply && *reply) co_return true;
        if (!reply && !is_connection(reply.error().code)) co_return reply.error();
        if (reply && reply->refused->operation == 0) co_return false;
        if (reply && reply->refused->why == errc::no_node) co_return true; // the item was cut off: no start is possible
        auto const mark = co_await registry_.get(at_.item_running(i));
        if (!mark && !(mark.error() == errc::no_node) && !is_connection(mark.error().code)) co_return mark.error();
        if (!mark) continue;
        if (is_own_mark(*mark, self_, session)) co_return true;
        if (mark->data != self_.str()) co_return false;
        // It belongs to our last session, which the server has not ended yet.
        transaction instead{g};
        instead.check(at_.run_record(i), version)
            .remove(at_.item_running(i), mark->stat.version)
            .create(at_.item_running(i), self_.str(), create_mode::ephemeral);
        auto const replaced = co_await registry_.commit(std::move(instead));
        if (replaced && *replaced) co_return true;
        if (!replaced && !is_connection(replaced.error().code)) co_return replaced.error();
    }
}

template <registry Registry>
task<result<void>> run_book<Registry>::catch_up(session_generation g) {
    for (;;) {
        ELASTICJOB_CO_CHECK(co_await connected_session(registry_, g));
        auto const reply = co_await registry_.commit(catch_up_write(g, at_.instance(self_)));
        if (reply) co_return success();
        if (!is_connection(reply.error().code)) co_return reply.error();
    }
}

template <registry Registry>
task<result<void>> run_book<Registry>::save(session_generation g, run_end e) {
    auto const path = at_.run_record(e.item);
    auto const written = co_await registry_.set(path, e.record, e.version, g);
    if (written) co_return success();
    if (!is_conflict(written.error().code) && !is_connection(written.error().code)) co_return written.error();
    ELASTICJOB_CO_CHECK(co_await connected_session(registry_, g));
    ELASTICJOB_CO_TRY(auto const there, co_await registry_.get(path));
    if (is_written(there, e.record, e.version + 1)) co_return success();
    if (there.stat.version == e.version) co_return error{errc::not_sent, "the record was not written", path.str()};
    co_return error{errc::fenced, "another instance has taken the item over", path.str()};
}

template <registry Registry>
task<result<void>> run_book<Registry>::amend(session_generation g, run_end e, std::optional<instance_id> dead,
                                             bool may_java_run_it) {
    auto t = detail::note_transaction(at_, self_, g, e, dead, may_java_run_it);
    ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(t)));
    if (reply) co_return success();
    co_return error{errc::version_conflict,
                    "another instance has started the item, or has written its record since it was read",
                    at_.run_record(e.item).str()};
}

template <registry Registry>
task<result<void>> run_book<Registry>::open(joint_commits<Registry>& commits, session_generation g,
                                            std::vector<record_creation>& records) {
    std::vector<record_creation*> missing;
    for (auto& r : records) missing.push_back(&r);
    int refusals_left = attempts_max;
    while (!missing.empty()) {
        auto t = detail::creation_checks(at_, self_, g);
        auto const create = [&](record_creation const* r) { t.create(at_.run_record(r->item), r->text); };
        auto const n = fill(t, missing, 0, create);
        ELASTICJOB_CO_TRY(auto const reply, co_await commits.commit(std::move(t)));
        if (!reply) {
            if (reply.refused->operation == 0)
                co_return error{errc::no_node, "this instance is not registered", at_.instance(self_).str()};
            if (--refusals_left == 0)
                co_return error{errc::version_conflict, "the records keep coming and going", at_.run_records().str()};
            if (reply.refused->why == errc::no_node) {
                ELASTICJOB_CO_CHECK(co_await make_room());
                continue;
            }
            ELASTICJOB_CO_CHECK(co_await leave_out_present(missing));
            continue;
        }
        auto const end = missing.begin() + static_cast<std::ptrdiff_t>(n);
        std::for_each(missing.begin(), end, [&](record_creation* r) { r->created = reply.at; });
        missing.erase(missing.begin(), end);
        refusals_left = attempts_max;
    }
    co_return success();
}

template <registry Registry>
task<result<void>> run_book<Registry>::leave_out_present(std::vector<record_creation*>& records) {
    auto const look = [&](record_creation const* r) { return registry_.exists(at_.run_record(r->item)); };
    auto const found = co_await gather_each(registry_.loop(), records, look);
    std::vector<record_creation*> absent;
    for (std::size_t n = 0; n < found.size(); ++n) {
        if (!found[n]) co_return found[n].error();
        if (!*found[n]) absent.push_back(records[n]);
    }
    records = std::move(absent);
    co_return success();
}

template <registry Registry>
transaction run_book<Registry>::take_chunk(transaction const& checks, std::vector<run_start>& starts,
                                           std::vector<run_start>& chunk) const {
    auto t = checks;
    auto const n = fill(t, starts, 0, [&](run_start const& s) { detail::add_start(t, at_, self_, s); });
    auto const end = starts.begin() + static_cast<std::ptrdiff_t>(n);
    chunk.assign(std::make_move_iterator(starts.begin()), std::make_move_iterator(end));
    starts.erase(starts.begin(), end);
    return t;
}

template <registry Registry>
task<result<void>> run_book<Registry>::start_chunk(transaction const& checks, transaction t,
                                                   std::vector<run_start>& chunk, start_report& report) {
    for (int attempt = 0; !chunk.empty() && attempt < 10; ++attempt) {
        if (attempt > 0) {
            t = checks;
            for (auto const& s : chunk) detail::add_start(t, at_, self_, s);
        }
        auto const reply = co_await commits_.commit(std::move(t));
        if (!reply && !(reply.error() == errc::unknown_outcome)) co_return reply.error();
        revision token = reply && *reply ? reply->at : 0;
        if (!reply) {
            ELASTICJOB_CO_TRY(token, co_await token_of(checks.generation(), chunk.front()));
        }
        if (token != 0) {
            for (auto const& s : chunk) report.started.push_back({s.share.item, token, detail::version_after(s)});
            chunk.clear();
            co_return success();
        }
        if (!reply) continue; // it did not happen: try again
        if (reply->refused->operation < checks.size()) {
            for (auto const& s : chunk) report.hindered.push_back({s.share.item, start_answer::unclaimed});
            chunk.clear();
            co_return success();
        }
        ELASTICJOB_CO_CHECK(co_await sort_out_hindered(checks, chunk, report));
    }
    for (auto const& s : chunk) report.hindered.push_back({s.share.item, start_answer::unclaimed});
    chunk.clear();
    co_return success();
}

template <registry Registry>
bool run_book<Registry>::is_written(node const& there, std::string_view record, node_version version) {
    return there.stat.version == version && there.data == record;
}

template <registry Registry>
task<result<void>> run_book<Registry>::sort_out_hindered(transaction const& checks, std::vector<run_start>& chunk,
                                                         start_report& report) {
    auto const list = [&](run_start const& s) { return registry_.children(at_.item(s.share.item)); };
    auto const read_owner = [&](run_start const& s) { return registry_.get(at_.item_instance(s.share.item)); };
    auto const read_record = [&](run_start const& s) { return registry_.exists(at_.run_record(s.share.item)); };
    auto listing = gather_each(registry_.loop(), chunk, list);
    auto reading = gather_each(registry_.loop(), chunk, read_owner);
    auto looking = gather_each(registry_.loop(), chunk, read_record);
    auto const found = co_await std::move(listing);
    auto const named = co_await std::move(reading);
    auto const written = co_await std::move(looking);
    for (auto const& f : found)
        if (!f && !(f.error() == errc::no_node)) co_return f.error();
    for (auto const& w : written)
        if (!w) co_return w.error();
    std::vector<run_start> free;
    std::vector<item_index> removed;
    for (std::size_t n = 0; n < chunk.size(); ++n) {
        detail::item_findings const seen{found[n] ? std::optional{*found[n]} : std::nullopt, named[n], *written[n]};
        auto const i = chunk[n].share.item;
        bool const is_cut_off = detail::is_cut_off(chunk[n], seen);
        auto const obstacle = is_cut_off ? std::nullopt : detail::find_obstacle(chunk[n], self_, seen);
        if (is_cut_off) removed.push_back(i);
        if (obstacle)
            report.hindered.push_back({i, *obstacle});
        else
            free.push_back(std::move(chunk[n]));
    }
    chunk = std::move(free);
    for (auto const i : removed) {
        ELASTICJOB_CO_CHECK(co_await restore(checks, i));
    }
    for (auto const& s : chunk)
        if (!s.version) co_return co_await make_room(); // the parent may be missing
    co_return success();
}

template <registry Registry>
task<result<void>> run_book<Registry>::restore(transaction const& checks, item_index i) {
    ELASTICJOB_CO_TRY(auto const there, co_await registry_.exists(at_.item(i)));
    auto t = checks;
    if (!there) t.create(at_.item(i), {});
    t.create(at_.item_instance(i), self_.str());
    auto const reply = co_await registry_.commit(std::move(t));
    if (!reply && !is_connection(reply.error().code)) co_return reply.error();
    co_return success(); // a refusal shows when the start is tried again
}

template <registry Registry>
task<result<void>> run_book<Registry>::make_room() {
    std::vector<node_path> const parents{at_.ext(), at_.run_records()};
    for (auto const& path : parents) {
        auto const made = co_await registry_.create(path, {}, create_mode::persistent, session_generation::current());
        if (!made && !(made.error() == errc::node_exists) && !is_connection(made.error().code)) co_return made.error();
    }
    co_return success();
}

template <registry Registry>
task<result<revision>> run_book<Registry>::token_of(session_generation g, run_start const& s) {
    for (;;) {
        ELASTICJOB_CO_CHECK(co_await catch_up(g));
        auto const there = co_await registry_.get(at_.run_record(s.share.item));
        if (there) co_return is_written(*there, s.record, detail::version_after(s)) ? there->stat.modified : 0;
        if (there.error() == errc::no_node) co_return revision{0};
        if (!is_connection(there.error().code)) co_return there.error();
    }
}

template <registry Registry>
task<end_result> run_book<Registry>::finish_one(session_generation g, run_end e, bool is_reply_lost,
                                                std::optional<error>& refusal) {
    using step = detail::end_step;
    error obstacle{};
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        auto const session = co_await connected_session(registry_, g);
        if (!session) co_return end_result::session_over;
        auto const there = co_await registry_.get(at_.run_record(e.item));
        auto next = detail::step_after_reading(there, e, is_reply_lost);
        if (next == step::done) co_return end_result::recorded;
        if (next == step::done_before) co_return end_result::recorded_before;
        if (!there) obstacle = there.error();
        if (next == step::fenced) {
            auto const dropped = co_await drop_marks(g, e.item);
            if (dropped || dropped.error() == errc::session_lost) co_return end_result::fenced;
            obstacle = dropped.error();
            next = step::refused;
        }
        if (next == step::write) {
            e = co_await with_own_marks(*session, std::move(e));
            transaction t{g};
            detail::add_end(t, at_, e);
            auto const reply = co_await registry_.commit(std::move(t));
            if (reply && *reply) co_return end_result::recorded;
            if (!reply) obstacle = reply.error();
            if (detail::is_lost(reply)) is_reply_lost = true;
            next = detail::step_after_writing(reply);
        }
        if (next == step::session_over) co_return end_result::session_over;
        if (next == step::refused) break;
    }
    if (obstacle.what.empty())
        obstacle = {errc::version_conflict, "the item's nodes kept changing", at_.item(e.item).str()};
    if (!refusal) refusal = std::move(obstacle);
    co_return end_result::refused;
}

template <registry Registry>
task<run_end> run_book<Registry>::with_own_marks(session_view session, run_end e) {
    auto const mark = co_await registry_.get(at_.item_running(e.item));
    auto const taken = co_await registry_.get(at_.item_failover(e.item));
    auto const note = [&](result<node> const& found, bool& is_there) {
        if (found) is_there = is_own_mark(*found, self_, session);
        if (!found && found.error() == errc::no_node) is_there = false;
    };
    note(mark, e.is_marked);
    note(taken, e.is_failover);
    co_return e;
}

template <registry Registry>
task<result<void>> run_book<Registry>::drop_marks(session_generation g, item_index i) {
    for (auto const& path : {at_.item_running(i), at_.item_failover(i)})
        for (int attempts_left = attempts_max;; --attempts_left) {
            ELASTICJOB_CO_TRY(auto const session, co_await connected_session(registry_, g));
            auto const mark = co_await registry_.get(path);
            if (mark && !is_own_mark(*mark, self_, session)) break;
            if (!mark && mark.error() == errc::no_node) break;
            auto failure = mark ? error{} : mark.error();
            if (mark) {
                auto const removed = co_await registry_.remove(path, mark->stat.version, g);
                if (removed || removed.error() == errc::no_node) break;
                failure = removed.error();
            }
            if (attempts_left <= 1 || !is_connection(failure.code)) co_return failure;
        }
    co_return success();
}

template <registry Registry>
task<result<bool>> run_book<Registry>::drop_stray_mark(session_generation g, item_index i, node const& mark) {
    if (!is_own_mark(mark, self_, registry_.session())) co_return false;
    ELASTICJOB_CO_CHECK(co_await drop_marks(g, i));
    co_return true;
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/run_book.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_RUN_BOOK_HPP
