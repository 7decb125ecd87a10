// SPDX-License-Identifier: Apache-2.0
// Every order in which requests, replies, losses, ends of sessions, changes of hands and ends of bodies can come while
// two instances run an item. The lives of the item and the transactions are the shipped ones, and so is the tree.
#include <elasticjob/execution/item_life.hpp>
#include <elasticjob/registry/memory/node_tree.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <support/item_driver.hpp>
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

/// The protections that keep runs right, and what happens without them.
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
            auto const& asked = m.item.asked;
            if (!asked && m.item.life) add(" goes on");
            if (asked == kind::call) {
                add("'s body ends well");
                if (left_.failures > 0) add("'s body fails");
                if (m.item.stopped_by != stop_reason::none) add("'s body stops");
            } else if (asked && m.is_connected) {
                add(" is served");
                if (left_.losses > 0) add(" loses the reply");
            } else if (asked) {
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
        port there{*this, m};
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
            m.item.go_on(there);
        } else if (what == "'s body ends well") {
            m.item.end_body(there, success(), stop_reason::none);
        } else if (what == "'s body fails") {
            --left_.failures;
            m.item.end_body(there, error{errc::job_failed, "it failed"}, stop_reason::none);
        } else if (what == "'s body stops") {
            m.item.end_body(there, error{errc::job_failed, "it was stopped"}, m.item.stopped_by);
        } else if (what == " is served") {
            m.item.serve(there, at, true);
        } else if (what == " loses the reply") {
            --left_.losses;
            auto const held = m.shown;
            m.item.serve(there, at, false);
            m.shown = held; // it has not seen its own writes yet
        } else if (what == " hears that its session is over") {
            m.item.lose(there);
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
            if (m.item.asked == kind::call && without_ != weakness::leases_are_ignored)
                m.item.stopped_by = stop_reason::session_lost;
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
            k += (m.is_connected ? "c" : "-") + std::to_string(m.generation.value) + (m.item.is_sent ? "s" : "-") +
                 std::to_string(static_cast<int>(m.item.stopped_by));
            k += (m.item.asked ? std::to_string(static_cast<int>(*m.item.asked)) : "-") + ",";
            k += std::to_string(m.heard) + ",";
            if (m.item.life) k += to_string(*m.item.life, zero);
        }
        return k;
    }

    std::string problem() const {
        if (!problem_.empty()) return problem_;
        for (auto const& m : members_)
            if (m.item.life && !m.item.life->holds()) return m.self.str() + ": its life contradicts itself";
        auto const* mark = is_->find(at.item_running(0));
        if (!mark) return {};
        for (auto const& m : members_)
            if (m.session == mark->stat.owner && m.item.life && m.item.life->is_busy()) return {};
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
        test::item_driver item{};
        node_version heard = -1; ///< of the assignment
        std::vector<item_claim::proof> claim{};
        std::shared_ptr<node_tree const> shown{}; ///< by the follower that it talks to
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
    /// Any answer to a write shows everything that came before.
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

    item_moment moment(member const& m, std::optional<item_life> const& life) const {
        item_moment now{m.is_connected ? *open_ : *closed_, m.self, at};
        now.wall = now_;
        now.session.generation = m.generation;
        now.session.state = m.is_connected ? session_state::connected : session_state::connecting;
        now.session.id = m.session;
        if (life && life->record().running) {
            auto const& runner = life->record().running->instance;
            now.is_runner_gone = runner == m.self.str() || !m.shown->find(at.instances() / runner);
        }
        return now;
    }

    void hear(member& m) {
        m.heard = version(*m.shown, at.assignment());
        auto const& named = *m.shown->find(at.item_instance(0));
        bool const is_ours = named.data == m.self.str();
        m.claim = {{at.assignment(), m.heard}, {at.item_instance(0), named.stat.version}, {at.config(), any_version}};
        auto& life = m.item.life;
        if (is_ours && !life) life.emplace(item_index{0}, item_life::share{0, {}}, now_, 0);
        if (is_ours) life->give({0, {}});
        if (is_ours || !life) return;
        if (m.item.asked == kind::call && m.item.stopped_by == stop_reason::none)
            m.item.stopped_by = stop_reason::reassigned;
        life->take_away();
    }

    /// The stage, as the item of a member sees it.
    struct port {
        stage& s;
        member& m;

        item_moment moment(test::item_driver const& d) const { return s.moment(m, d.life); }
        result<node> read(node_path const& p) const { return stage::read(m, p); }
        std::vector<std::string> children(node_path const& p) const { return m.shown->children(p); }
        std::vector<item_claim::proof> const& claim() const { return m.claim; }
        node_tree::applied write(transaction const& t) const { return s.write(m, t); }
        node_tree::applied write_note(transaction const& t) const { return s.write(m, t); }
        node_tree::applied write_start(transaction const& t) const {
            return s.write(m, s.without_ == weakness::starts_ignore_records ? blind(t) : t);
        }
        node_tree::applied write_end(transaction const& t) const {
            return s.write(m, s.without_ == weakness::ends_ignore_records ? blind(t) : t);
        }
        start_answer lost_start() const {
            return s.without_ == weakness::losses_are_refusals ? start_answer::unclaimed : start_answer::unknown;
        }
        void report(item_index, item_news const&) const {}
        void begin_body(test::item_driver& d) const { s.begin_body(m, d); }
    };

    void begin_body(member const& m, test::item_driver& d) {
        d.stopped_by = d.life->is_ours() ? stop_reason::none : stop_reason::reassigned;
        if (!m.is_connected && without_ != weakness::leases_are_ignored) d.stopped_by = stop_reason::session_lost;
        auto const& record = d.life->record();
        for (auto const& e : record.ledger)
            if (e.outcome == run_outcome::completed && e.run.due == record.running->due)
                problem_ = "a due instant runs again, though it has completed";
        for (auto const& other : members_)
            if (&other != &m && other.item.asked == kind::call && other.item.stopped_by != stop_reason::session_lost &&
                d.stopped_by != stop_reason::session_lost)
                problem_ = "two bodies run, and neither knows better";
    }

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

/// A sanitizer is slow, and finds its errors in fewer states.
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

TEST_CASE("execution.item_life: no order of events loses an instant, runs it twice, or leaves its mark behind") {
    std::uint64_t states = 0;
    for (auto const& b : scopes) {
        auto const found = testing::check_all(stage{b});
        CHECK_MESSAGE(found.holds(), to_string(found));
        MESSAGE(to_string(found));
        states += found.states;
    }
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
        MESSAGE(to_string(found));
        CHECK_FALSE(found.problem.empty());
        CHECK(testing::check_all(stage{faults}).holds());
    }
}
#endif
