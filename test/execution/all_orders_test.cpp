// SPDX-License-Identifier: Apache-2.0
// Every order in which requests, replies, losses, ends of sessions, changes of hands and ends of bodies can come while two
// instances run an item. The lives of the item and the transactions are the shipped ones, and so is the tree.
#include <elasticjob/execution/item_life.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_transactions.hpp>
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/registry/memory/node_tree.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <support/sanitized.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace std::chrono_literals;

namespace {

job_layout const at{job_name::parse("a").value()};
UtcZone const utc;
wall_time const midnight{24h * 365};

instance_id instance(std::size_t i) {
    return instance_id::parse("10.0.0." + std::to_string(i) + "@-@" + std::to_string(i)).value();
}

/// What keeps runs right, and what happens without it.
enum class weakness {
    none,
    starts_ignore_records, ///< a start does not check that the record is as it was read
    ends_ignore_records,   ///< an end is written over whatever stands there
    losses_are_refusals,   ///< a start whose reply is lost is taken for one that has not happened
    writes_show_nothing,   ///< a follower that has answered to a write may still be behind it
    leases_are_ignored,    ///< a body goes on as if its session were not over
};

/// How many faults of each kind may happen, all instances together.
struct budget {
    int losses = 0;   ///< requests or replies
    int sessions = 0; ///< that end
    int changes = 0;  ///< of hands, while the owner lives
    int failures = 0; ///< of bodies
    int dues = 1;     ///< instants that become due
};

/// The terms of the job: due every minute, failover, no retries.
std::shared_ptr<run_terms const> terms() {
    run_terms t;
    job_config c{.name = "a", .cron = "0 * * * * ?"};
    c.failover = true;
    c.misfire = true;
    t.config = std::make_shared<valid_config const>(validate(c).value());
    t.due = std::make_shared<due_times const>(due_times::of(*t.config, utc).value());
    t.schedule = 1;
    t.is_open = true;
    return std::make_shared<run_terms const>(std::move(t));
}

class stage {
public:
    explicit stage(budget faults, weakness without = weakness::none)
        : left_{faults},
          without_{without},
          open_{terms()} {
        auto closed = *open_;
        closed.is_open = false;
        closed_ = std::make_shared<run_terms const>(std::move(closed));
        transaction t{session_generation::current()};
        for (auto const& p : {at.root(), at.config(), at.instances(), at.sharding(), at.item(0), at.ext(),
                              at.assignment(), at.run_records()})
            t.create(p, {});
        t.create(at.item_instance(0), instance(0).str());
        apply(t, 0);
        for (std::size_t i = 0; i < 2; ++i) {
            members_.emplace_back(instance(i), static_cast<std::int64_t>(i) + 1);
            enroll(members_[i]);
        }
        for (auto& m : members_) {
            show(m);
            hear(m);
        }
    }

    std::vector<std::string> moves() const {
        std::vector<std::string> all;
        if (left_.dues > 0) all.push_back("an instant becomes due");
        for (std::size_t i = 0; i < 2; ++i) {
            auto const& m = members_[i];
            auto const add = [&](char const* what) { all.push_back(std::to_string(i) + what); };
            if (m.is_connected && m.shown != is_) add(" catches up");
            if (m.is_connected && m.heard != version(*m.shown, at.assignment())) add(" hears who owns the item");
            if (m.is_connected && left_.sessions > 0) add(" loses its session");
            if (!m.is_connected) add(" has a new session");
            if (!m.asked && m.life) add(" goes on");
            if (m.asked == kind::call) {
                add("'s body ends well");
                if (left_.failures > 0) add("'s body fails");
                if (m.stopped_by != stop_reason::none) add("'s body stops");
            } else if (m.asked && m.is_connected) {
                add(" is served");
                if (left_.losses > 0) add(" loses the reply");
            } else if (m.asked) {
                add(" hears that its session is over");
            }
            bool const is_free = !is_there(owner());
            if (owner() != i && is_there(i) && (is_free || left_.changes > 0)) add(" is given the item");
        }
        return all;
    }

    void make(std::string const& move) {
        if (move.starts_with("an ")) {
            --left_.dues;
            now_ += 1min;
            return;
        }
        auto const i = static_cast<std::size_t>(move[0] - '0');
        auto& m = members_[i];
        auto const what = move.substr(1);
        if (what == " catches up") {
            show(m);
        } else if (what == " hears who owns the item") {
            hear(m);
        } else if (what == " has a new session") {
            m.session += 2;
            ++m.generation.value;
            m.is_connected = true;
            enroll(m);
            show(m);
        } else if (what == " goes on") {
            go_on(m);
        } else if (what == "'s body ends well") {
            end_body(m, success(), stop_reason::none);
        } else if (what == "'s body fails") {
            --left_.failures;
            end_body(m, error{errc::job_failed, "it failed"}, stop_reason::none);
        } else if (what == "'s body stops") {
            end_body(m, error{errc::job_failed, "it was stopped"}, m.stopped_by);
        } else if (what == " is served") {
            serve(m, true);
        } else if (what == " loses the reply") {
            --left_.losses;
            serve(m, false);
        } else if (what == " hears that its session is over") {
            lose(m);
        } else if (what == " is given the item") {
            if (is_there(owner())) --left_.changes;
            transaction t{session_generation::current()};
            t.set(at.assignment(), {}).set(at.item_instance(0), instance(i).str());
            apply(t, 0);
        } else {
            --left_.sessions;
            auto tree = *is_;
            tree.end_session(m.session, 0);
            is_ = std::make_shared<node_tree const>(std::move(tree));
            m.is_connected = false;
            if (m.asked == kind::call && without_ != weakness::leases_are_ignored)
                m.stopped_by = stop_reason::session_lost;
        }
    }

    std::string key() const {
        auto const zero = version(*is_, at.run_record(0));
        auto const text = [&](node_tree const& tree) {
            std::string t;
            for (auto const& p : {at.item_running(0), at.item_failover(0), at.item_instance(0), at.run_record(0),
                                  at.instance(instance(0)), at.instance(instance(1))}) {
                auto const* n = tree.find(p);
                t += n ? n->data + "/" + std::to_string(n->stat.owner) + ";" : "-;";
            }
            return t + std::to_string(version(tree, at.run_record(0)) - zero) + "," +
                   std::to_string(version(tree, at.assignment()));
        };
        std::string k = text(*is_);
        for (int const n : {left_.losses, left_.sessions, left_.changes, left_.failures, left_.dues})
            k += std::to_string(n);
        for (auto const& m : members_) {
            k += m.shown == is_ ? "|=" : "|" + text(*m.shown);
            k += (m.is_connected ? "c" : "-") + std::to_string(m.generation.value) + (m.is_sent ? "s" : "-") +
                 std::to_string(static_cast<int>(m.stopped_by));
            k += (m.asked ? std::to_string(static_cast<int>(*m.asked)) : "-") + ",";
            k += std::to_string(m.heard) + ",";
            if (m.life) k += to_string(*m.life, zero);
        }
        return k;
    }

    std::string problem() const {
        if (!problem_.empty()) return problem_;
        for (auto const& m : members_)
            if (m.life && !m.life->holds()) return m.self.str() + ": its life contradicts itself";
        auto const* mark = is_->find(at.item_running(0));
        if (!mark) return {};
        for (auto const& m : members_)
            if (m.session == mark->stat.owner && m.life && m.life->is_busy()) return {};
        return "a mark stands, and no run is behind it";
    }

    bool is_goal() const {
        auto const* there = is_->find(at.run_record(0));
        if (!there || left_.dues > 0 || is_->find(at.item_running(0))) return false;
        auto const r = run_record::parse(there->data).value();
        return r.through == now_ && !r.running && !r.retry && !r.resume;
    }

private:
    using kind = item_step::kind;

    struct member {
        member(instance_id id, std::int64_t s) : self{std::move(id)}, session{s} {}

        instance_id self;
        std::int64_t session;
        session_generation generation{1};
        bool is_connected = true;
        bool is_sent = false;                       ///< the start that it waits for may have happened: a reply was lost
        stop_reason stopped_by = stop_reason::none; ///< what its body is asked to end for
        std::optional<item_life> life{};
        std::optional<kind> asked{}; ///< what it waits for
        std::string text{};          ///< of a record to open
        node_version heard = -1;     ///< of the assignment
        std::vector<item_claim::proof> claim{};
        std::vector<item_claim::proof> claim_sent{}; ///< with the start
        std::shared_ptr<node_tree const> shown{};    ///< by the follower that it talks to
    };

    static node_version version(node_tree const& tree, node_path const& p) {
        auto const* n = tree.find(p);
        return n ? n->stat.version : -1;
    }
    static result<node> read(member const& m, node_path const& p) {
        auto const* n = m.shown->find(p);
        if (n) return *n;
        return error{errc::no_node, "absent", p.str()};
    }

    std::size_t owner() const { return is_->find(at.item_instance(0))->data == instance(0).str() ? 0 : 1; }
    bool is_there(std::size_t i) const { return is_->find(at.instance(instance(i))) != nullptr; }

    node_tree::applied apply(transaction const& t, std::int64_t session) {
        auto tree = *is_;
        auto done = tree.apply(t.operations(), session, 0);
        if (!done.refused) is_ = std::make_shared<node_tree const>(std::move(tree));
        return done;
    }
    /// Whatever answers to a write shows everything that came before.
    node_tree::applied write(member& m, transaction const& t) {
        auto done = apply(t, m.session);
        if (without_ != weakness::writes_show_nothing) show(m);
        return done;
    }
    void show(member& m) const { m.shown = is_; }

    void enroll(member& m) {
        transaction t{session_generation::current()};
        t.create(at.instance(m.self), {}, create_mode::ephemeral);
        apply(t, m.session);
    }

    item_moment moment(member const& m) const {
        item_moment now{m.is_connected ? *open_ : *closed_, m.self, at};
        now.wall = now_;
        now.session.generation = m.generation;
        now.session.state = m.is_connected ? session_state::connected : session_state::connecting;
        now.session.id = m.session;
        if (m.life && m.life->record().running) {
            auto const& runner = m.life->record().running->instance;
            now.is_runner_gone = runner == m.self.str() || !m.shown->find(at.instances() / runner);
        }
        return now;
    }

    void hear(member& m) {
        m.heard = version(*m.shown, at.assignment());
        auto const& named = *m.shown->find(at.item_instance(0));
        bool const is_ours = named.data == m.self.str();
        m.claim = {{at.assignment(), m.heard}, {at.item_instance(0), named.stat.version}, {at.config(), any_version}};
        if (is_ours && !m.life) m.life.emplace(item_index{0}, item_life::share{0, {}}, now_, 0);
        if (is_ours) m.life->give({0, {}});
        if (is_ours || !m.life) return;
        if (m.asked == kind::call && m.stopped_by == stop_reason::none) m.stopped_by = stop_reason::reassigned;
        m.life->take_away();
    }

    void go_on(member& m) {
        auto const step = m.life->next(moment(m));
        m.asked.reset();
        if (step.is == kind::leave) return m.life.reset();
        if (step.is == kind::rest) return;
        m.asked = step.is;
        m.text = step.text;
        if (step.is == kind::call) begin_body(m);
    }

    void begin_body(member& m) {
        m.stopped_by = m.life->is_ours() ? stop_reason::none : stop_reason::reassigned;
        if (!m.is_connected && without_ != weakness::leases_are_ignored) m.stopped_by = stop_reason::session_lost;
        auto const& record = m.life->record();
        for (auto const& e : record.ledger)
            if (e.outcome == run_outcome::completed && e.run.due == record.running->due)
                problem_ = "a due instant runs again, though it has completed";
        for (auto const& other : members_)
            if (&other != &m && other.asked == kind::call && other.stopped_by != stop_reason::session_lost &&
                m.stopped_by != stop_reason::session_lost)
                problem_ = "two bodies run, and neither knows better";
    }

    void end_body(member& m, result<void> outcome, stop_reason why) {
        body_end ended{std::move(outcome), false, why, {}};
        after_run const after{*open_, mono_time{}, now_};
        retry_budget budget;
        ended.again = after.retry_of(m.life->record(), ended, 1, budget);
        m.asked.reset();
        m.stopped_by = stop_reason::none;
        m.life->body_ended(moment(m), ended);
    }

    void serve(member& m, bool has_reply) {
        auto& life = *m.life;
        auto const now = moment(m);
        switch (*m.asked) {
        case kind::read:
        case kind::follow:
            answered(m);
            life.record_read(now, has_reply ? read(m, at.run_record(0)) : lost());
            break;
        case kind::look:
            answered(m);
            life.start_looked_for(now, has_reply ? read(m, at.run_record(0)) : lost());
            break;
        case kind::open: {
            transaction t{m.generation};
            t.check(at.instance(m.self)).create(at.run_record(0), m.text);
            write(m, t);
            answered(m);
            life.opened();
            break;
        }
        case kind::note: {
            auto const done = write(m, note_transaction(at, m.self, m.generation, life.note(), life.dead(), false));
            answered(m);
            if (!has_reply)
                life.noted(now, lost().error());
            else if (done.refused)
                life.noted(now, error{errc::fenced, "refused"});
            else
                life.noted(now, success());
            break;
        }
        case kind::start:
            serve_start(m, has_reply);
            break;
        case kind::await: {
            auto const mark = read(m, at.item_running(0));
            if (mark && is_own_mark(*mark, m.self, now.session)) {
                transaction t{m.generation};
                t.remove(at.item_running(0));
                write(m, t);
            } else if (mark && life.is_ours()) {
                break; // it waits on
            }
            answered(m);
            life.mark_gone();
            break;
        }
        case kind::end:
            if (auto const done = serve_end(m, life.end(), life.end_generation(now.session), has_reply)) {
                answered(m);
                life.end_answered(now, *done);
            }
            break;
        case kind::catch_up:
            write(m, catch_up_write(m.generation, at.instance(m.self)));
            if (!has_reply) break; // once more
            answered(m);
            life.caught_up(now, success());
            break;
        case kind::undo:
            if (auto const done = serve_end(m, life.undo(), life.settles_in(), has_reply)) {
                answered(m);
                life.undone(now, *done);
            }
            break;
        case kind::call:
        case kind::rest:
        case kind::leave:
            break;
        }
    }

    /// As the run book asks: a start whose reply is lost is looked for, and then asked for again.
    void serve_start(member& m, bool has_reply) {
        auto& life = *m.life;
        auto start = life.start();
        if (!m.is_sent && !life.is_ours()) return finish_start(m, start_answer::unclaimed);
        if (!m.is_sent) m.claim_sent = m.claim;
        life.start_sent(m.generation);
        auto const there = read(m, at.run_record(0));
        if (m.is_sent && there && there->data == start.record) {
            life.start_granted({0, 1, there->stat.version}, m.generation);
            return finish_start(m, start_answer::started);
        }
        auto t = start_checks(at, m.self, m.generation, m.claim_sent);
        auto const checks = t.size();
        add_start(t, at, m.self, start);
        auto const done = write(m, without_ == weakness::starts_ignore_records ? blind(t) : t);
        if (!has_reply) {
            m.is_sent = true;
            return;
        }
        if (!done.refused) {
            life.start_granted({0, done.at, version_after(start)}, m.generation);
            return finish_start(m, start_answer::started);
        }
        if (done.refused->operation < checks) return finish_start(m, start_answer::unclaimed);
        auto const* record = m.shown->find(at.run_record(0));
        item_findings found;
        found.names = m.shown->children(at.item(0));
        found.owner = read(m, at.item_instance(0));
        if (record) found.record = record->stat;
        finish_start(m, find_obstacle(start, m.self, found).value_or(start_answer::unclaimed));
    }

    void finish_start(member& m, start_answer a) {
        answered(m);
        m.life->start_answered(moment(m), a);
        if (a == start_answer::started) go_on(m); // in the same turn of the loop
    }

    /// As the run book does it; nothing: it is not known yet, and asked again.
    std::optional<end_result> serve_end(member& m, run_end e, session_generation g, bool has_reply) {
        if (g != m.generation) return end_result::session_over;
        auto const mark = read(m, at.item_running(0));
        e.is_marked = e.is_marked && mark && is_own_mark(*mark, m.self, moment(m).session);
        e.is_failover = e.is_failover && read(m, at.item_failover(0));
        transaction t{g};
        add_end(t, at, e);
        auto const done = write(m, without_ == weakness::ends_ignore_records ? blind(t) : t);
        if (!has_reply) return std::nullopt;
        if (!done.refused) return end_result::recorded;
        switch (step_after_reading(read(m, at.run_record(0)), e)) {
        case end_step::done:
            return end_result::recorded;
        case end_step::done_before:
            return end_result::recorded_before;
        case end_step::fenced:
            return end_result::fenced;
        default:
            return std::nullopt;
        }
    }

    /// The session is over before the answer is there.
    void lose(member& m) {
        auto& life = *m.life;
        auto const now = moment(m);
        error const over{errc::session_lost, "over"};
        auto const what = *m.asked;
        answered(m);
        switch (what) {
        case kind::read:
        case kind::follow:
            life.record_read(now, over);
            break;
        case kind::look:
            life.start_looked_for(now, over);
            break;
        case kind::open:
            life.opened();
            break;
        case kind::note:
            life.noted(now, over);
            break;
        case kind::start:
            life.start_answered(now, without_ == weakness::losses_are_refusals ? start_answer::unclaimed
                                                                               : start_answer::unknown);
            break;
        case kind::await:
            life.mark_gone();
            break;
        case kind::end:
            life.end_answered(now, end_result::session_over);
            break;
        case kind::catch_up:
            life.caught_up(now, over);
            break;
        case kind::undo:
            life.undone(now, end_result::session_over);
            break;
        case kind::call:
        case kind::rest:
        case kind::leave:
            break;
        }
    }

    static void answered(member& m) {
        m.asked.reset();
        m.is_sent = false;
    }
    static result<node> lost() { return error{errc::unknown_outcome, "lost"}; }

    static transaction blind(transaction const& t) {
        transaction all{session_generation::current()};
        for (auto o : t.operations()) {
            if (o.what == operation::kind::set) o.version = any_version;
            all.add(o);
        }
        return all;
    }

    std::shared_ptr<node_tree const> is_ = std::make_shared<node_tree const>();
    std::vector<member> members_;
    budget left_;
    weakness without_;
    std::shared_ptr<run_terms const> open_, closed_;
    wall_time now_ = midnight;
    std::string problem_;
};

static_assert(testing::searchable_world<stage>);

/// A sanitizer is slow, and finds what it is for in fewer states.
#ifdef ELASTICJOB_TEST_SANITIZED
constexpr budget scopes[]{{.losses = 1, .sessions = 1}};
constexpr std::uint64_t states_least = 5'000;
#else
constexpr budget scopes[]{{.losses = 1, .sessions = 1, .dues = 2},
                          {.losses = 1, .changes = 1, .dues = 2},
                          {.sessions = 1, .failures = 1, .dues = 2}};
constexpr std::uint64_t states_least = 100'000;
#endif

} // namespace

TEST_CASE("execution.item_life: in no order of events an instant is lost, runs twice, or leaves its mark behind") {
    std::uint64_t states = 0;
    for (auto const& b : scopes) {
        auto const found = testing::check_all(stage{b});
        CHECK_MESSAGE(found.holds(), to_string(found));
        states += found.states;
    }
    MESSAGE(states << " states");
    CHECK(states > states_least);
}

#ifndef ELASTICJOB_TEST_SANITIZED // it would take minutes, and finds nothing about memory that the one above does not
TEST_CASE("execution.item_life: without any of its protections, the search of all orders fails") {
    struct scope {
        weakness without;
        budget faults;
    };
    for (auto const& [without, faults] :
         {scope{weakness::starts_ignore_records, {.losses = 0, .sessions = 1, .changes = 1}},
          scope{weakness::ends_ignore_records, {.losses = 0, .sessions = 1}},
          scope{weakness::losses_are_refusals, {.losses = 1, .sessions = 1}},
          scope{weakness::writes_show_nothing, {.losses = 1}}, scope{weakness::leases_are_ignored, {.sessions = 1}}}) {
        auto const found = testing::check_all(stage{faults, without});
        INFO("protection " << static_cast<int>(without));
        CHECK_FALSE(found.problem.empty());
        CHECK(testing::check_all(stage{faults}).holds());
    }
}
#endif
