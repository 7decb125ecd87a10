// SPDX-License-Identifier: Apache-2.0
/// \file \brief The marks that say which items run: set for all items of a tick at once, and taken away likewise.
#ifndef ELASTICJOB_EXECUTION_RUNNING_MARKS_HPP
#define ELASTICJOB_EXECUTION_RUNNING_MARKS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// What became of the items that were to start.
struct start_report {
    std::vector<item_index> started;
    std::vector<item_index> running_elsewhere; ///< a former owner has not finished; try again when its mark has gone
    std::vector<item_index> disabled;          ///< by an operator (RN-11)
    std::vector<item_index> unclaimed;         ///< the claim is out of date: make a new one
};

/// Starts and ends runs in the registry. A start is one transaction for all items: it checks that they are still ours,
/// that no operator has disabled them, and that nobody runs them, and it sets their marks. So two instances can never
/// run one item at the same time, and an assignment that is being replaced cannot start anything (D-13, D-15).
/// Threads: the loop's.
template <registry Registry>
class running_marks {
public:
    running_marks(Registry& r, job_layout at, instance_id self)
        : registry_{r}, at_{std::move(at)}, self_{std::move(self)} {}

    /// Precondition: `g` is the generation of the session that the instance is registered with. Errors: those of the
    /// registry, and then nothing has started: a lost reply has been read back. Where the items do not fit into one
    /// transaction and some have started before one failed, the others are given back as unclaimed.
    task<result<start_report>> start(session_generation g, item_claim claim) {
        start_report report;
        while (!claim.shares.empty()) {
            auto chunk = take_chunk(g, claim);
            auto const done = co_await start_chunk(g, claim, chunk, report);
            if (done) continue;
            if (report.started.empty()) co_return done.error();
            for (auto const* rest : {&chunk, &claim.shares})
                for (auto const& s : *rest) report.unclaimed.push_back(s.item);
            break;
        }
        co_return report;
    }

    /// Takes the marks away. Tried until it is done or the session is over, which does it too.
    task<void> finish(session_generation g, std::vector<item_index> items) {
        for (std::size_t done = 0; done < items.size();) {
            transaction t{g};
            std::size_t end = done;
            for (; end < items.size(); ++end) {
                auto mark = at_.item_running(items[end]);
                if (!t.has_room(registry_.limits(), 1, operation{operation::kind::remove, mark}.bytes())) break;
                t.remove(std::move(mark));
            }
            auto const reply = co_await registry_.commit(std::move(t));
            if (!reply || !*reply)
                for (auto i = done; i < end; ++i) co_await finish_one(g, items[i]);
            done = end;
        }
    }

    /// The session that the mark belonged to is over and the run goes on: marks it again, so that nobody else starts the
    /// item (D-17). Tried until it is done. Gives whether the mark that stands there is ours. Errors: session_lost if the
    /// new session is over too; those of the registry that trying again does not mend.
    task<result<bool>> mark_again(session_generation g, item_index i) {
        for (;;) {
            auto const marked = co_await registry_.create(at_.item_running(i), {}, create_mode::ephemeral, g);
            if (marked) co_return true;
            if (!is_connection(marked.error().code) && !(marked.error() == errc::node_exists)) co_return marked.error();
            ELASTICJOB_CO_TRY(bool const ours, co_await is_marked(g, i));
            if (ours || marked.error() == errc::node_exists) co_return ours;
        }
    }

private:
    using share = item_claim::share;

    transaction common_checks(session_generation g, item_claim const& claim) const {
        transaction t{g};
        t.check(at_.instance(self_));
        for (auto const& p : claim.common) t.check(p.path, p.version);
        return t;
    }

    void add_start(transaction& t, share const& s) const {
        for (auto const& p : s.own) t.check(p.path, p.version);
        t.check_absent(at_.item_disabled(s.item)).create(at_.item_running(s.item), {}, create_mode::ephemeral);
    }

    /// As many as fit into one transaction.
    std::vector<share> take_chunk(session_generation g, item_claim& claim) const {
        auto t = common_checks(g, claim);
        std::size_t n = 0;
        for (; n < claim.shares.size(); ++n) {
            auto with_one_more = transaction{g};
            add_start(with_one_more, claim.shares[n]);
            if (n > 0 && !t.has_room(registry_.limits(), with_one_more.size(), with_one_more.bytes())) break;
            for (auto const& o : with_one_more.operations()) t.add(o);
        }
        auto const end = claim.shares.begin() + static_cast<std::ptrdiff_t>(n);
        std::vector<share> chunk{std::make_move_iterator(claim.shares.begin()), std::make_move_iterator(end)};
        claim.shares.erase(claim.shares.begin(), end);
        return chunk;
    }

    /// `chunk` holds what is not in the report yet.
    task<result<void>> start_chunk(session_generation g, item_claim const& claim, std::vector<share>& chunk,
                                   start_report& report) {
        for (int attempt = 0; !chunk.empty() && attempt < 10; ++attempt) {
            auto t = common_checks(g, claim);
            auto const checks = t.size();
            for (auto const& s : chunk) add_start(t, s);
            auto const reply = co_await registry_.commit(std::move(t));
            if (!reply && !(reply.error() == errc::unknown_outcome)) co_return reply.error();
            bool happened = reply && *reply;
            if (!reply) {
                ELASTICJOB_CO_TRY(happened, co_await is_marked(g, chunk.front().item));
            }
            if (happened) {
                for (auto const& s : chunk) report.started.push_back(s.item);
                co_return success();
            }
            if (!reply) continue; // it did not happen: again
            if (reply->refused->operation < checks) {
                for (auto const& s : chunk) report.unclaimed.push_back(s.item);
                co_return success();
            }
            ELASTICJOB_CO_CHECK(co_await sort_out_hindered(chunk, report));
        }
        for (auto const& s : chunk) report.unclaimed.push_back(s.item);
        co_return success();
    }

    /// After a refusal: looks at all items at once, and keeps those that nothing stands in the way of.
    task<result<void>> sort_out_hindered(std::vector<share>& chunk, start_report& report) {
        auto const list = [&](share const& s) { return registry_.children(at_.item(s.item)); };
        auto const read_owner = [&](share const& s) { return registry_.get(at_.item_instance(s.item)); };
        auto listing = gather_each(registry_.loop(), chunk, list);
        auto reading = gather_each(registry_.loop(), chunk, read_owner);
        auto const found = co_await std::move(listing);
        auto const named = co_await std::move(reading);
        for (auto const& f : found)
            if (!f && !(f.error() == errc::no_node)) co_return f.error();
        std::vector<share> free;
        for (std::size_t n = 0; n < chunk.size(); ++n) {
            auto const has = [&](std::string_view name) {
                return std::find(found[n]->begin(), found[n]->end(), name) != found[n]->end();
            };
            auto const i = chunk[n].item;
            bool const is_ours = named[n] && named[n]->data == self_.str() && owns(chunk[n], named[n]->stat.version);
            if (!found[n] || !is_ours)
                report.unclaimed.push_back(i);
            else if (has("disabled"))
                report.disabled.push_back(i);
            else if (has("running"))
                report.running_elsewhere.push_back(i);
            else
                free.push_back(std::move(chunk[n]));
        }
        chunk = std::move(free);
        co_return success();
    }

    static bool owns(share const& s, node_version version) {
        return std::all_of(s.own.begin(), s.own.end(), [&](auto const& p) { return p.version == version; });
    }

    /// Whether our own mark stands there, after a reply was lost. The session's end answers it too: it does not.
    task<result<bool>> is_marked(session_generation g, item_index i) {
        for (;;) {
            ELASTICJOB_CO_TRY(auto const session, co_await connected_session(registry_, g));
            auto const mark = co_await registry_.exists(at_.item_running(i));
            if (mark) co_return *mark && (*mark)->owner == session.id;
            if (!is_connection(mark.error().code)) co_return mark.error();
        }
    }

    task<void> finish_one(session_generation g, item_index i) {
        for (;;) {
            auto const session = co_await connected_session(registry_, g);
            if (!session) co_return;
            auto const mark = co_await registry_.exists(at_.item_running(i));
            if (mark && (!*mark || (*mark)->owner != session->id)) co_return;
            auto const removed = co_await registry_.remove(at_.item_running(i), any_version, g);
            if (removed || !is_connection(removed.error().code)) co_return;
        }
    }

    Registry& registry_;
    job_layout at_;
    instance_id self_;
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_RUNNING_MARKS_HPP
