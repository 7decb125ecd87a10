// SPDX-License-Identifier: Apache-2.0
/// \file \brief A whole job in a world for the search of all orders of events.
#ifndef ELASTICJOB_TEST_SEARCH_JOB_WORLD_HPP
#define ELASTICJOB_TEST_SEARCH_JOB_WORLD_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/election/election.hpp>
#include <elasticjob/election/elector.hpp> // leads
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/registry/memory/node_tree.hpp>
#include <elasticjob/scheduler/leader_duty.hpp>
#include <elasticjob/sharding/departure.hpp>
#include <elasticjob/sharding/in_force.hpp>
#include <elasticjob/sharding/item_doubts.hpp>
#include <elasticjob/sharding/sharding_plan.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <support/item_driver.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// The number of events of each kind, summed over all instances.
struct events_left {
    int dues = 0;     ///< instants that become due
    int replies = 0;  ///< that are lost
    int requests = 0; ///< that are lost
    int sessions = 0; ///< that end while their process lives
    int deaths = 0;   ///< of processes
    int leaves = 0;   ///< of instances that are shut down
    int joins = 0;    ///< of further instances
    int disables = 0; ///< of servers
    int enables = 0;  ///< of servers
    int stops = 0;    ///< of item 0: an operator disables it
    int failures = 0; ///< of bodies
    int damages = 0;  ///< of the last item's owner node, by another client
};

struct job_scope {
    std::size_t members = 2; ///< that are in the job at the beginning
    item_index items = 1;
    bool is_split = false; ///< transactions have room for so little that a sharding takes several
    bool is_cold = false;  ///< at the beginning nothing has been sharded, and the job has no leader
    events_left left{};
};

/// Weaknesses that a search can plant: each removes one protection of a job.
enum class job_weakness {
    none,
    starts_ignore_owners,       ///< a start does not check the assignment that it is based on
    leases_are_ignored,         ///< a body goes on as if its session were not over
    notes_are_not_written,      ///< what is skipped is reported before it is on record
    writes_show_nothing,        ///< a follower that has answered to a write may still be behind it
    candidates_are_forgotten,   ///< a candidate whose creation has no reply is taken for absent
    candidates_stay,            ///< nobody removes the candidate of an election that has failed
    shardings_ignore_leaders,   ///< an assignment is written by an instance that does not lead any more
    shardings_ignore_instances, ///< an assignment names instances that may have gone
    shardings_stay_published,   ///< while owners change in several transactions, the assignment does not say so
    departures_ignore_versions, ///< an instance that leaves writes over an assignment that it has not seen
    departures_trust_reads,     ///< an instance that leaves believes a read that shows none of its nodes
    doubts_are_read_at_once,    ///< after a lost reply, the leader reads the items' nodes without a write before
    damage_is_ignored,          ///< the leader does not compare the items' nodes with the assignment
    views_are_believed,         ///< a leader resigns by its view, although another instance may lead by now
    disabled_leaders_stay,      ///< a leader whose server is disabled does not resign
};

/// Keeps one copy of each value, by its text. A world then is a list of pointers, cheap to copy and to compare.
template <class T>
class pool {
public:
    struct kept {
        T value;
        std::uint32_t number;
    };
    kept const* keep(T value, std::string const& text) {
        auto const [at, is_new] = all_.try_emplace(text);
        if (is_new)
            at->second = std::make_unique<kept>(kept{std::move(value), static_cast<std::uint32_t>(all_.size())});
        return at->second.get();
    }

private:
    std::unordered_map<std::string, std::unique_ptr<kept>> all_;
};

/// Two or three instances of one job over one tree: elections, the leader's shardings, the items' runs and leaving
/// interact. Each decision is made by the shipped class, and each transaction by the shipped function; the tree is that
/// of `MemoryRegistry`. The world does what the coroutines do: it carries out requests one at a time, in any order.
///
/// An instance has a follower of the ensemble, which may be behind the tree, and a view, which may be behind its
/// follower. It decides by its view and reads from its follower. The answer to a write shows all earlier writes.
class job_world {
public:
    explicit job_world(job_scope s, job_weakness without = job_weakness::none);

    std::vector<std::string> moves() const;
    void make(std::string const& move);
    std::string key() const;
    std::string problem() const;
    bool is_goal() const;

private:
    static constexpr std::size_t members_max = 3;
    static constexpr item_index items_max = 2;

    /// A tree, and its frequently used properties.
    struct known_tree {
        node_tree nodes;
        std::optional<assignment> in_force{};
        bool agrees = true; ///< the items' nodes and the assignment in force, if that says that they do
    };
    using tree = pool<known_tree>::kept;

    /// An instance's election.
    struct candidacy {
        election stands;
        std::optional<election_step> next{};
    };
    /// A leader's next step.
    struct leading {
        enum class phase : std::uint8_t { idle, reading, writing, granting, catching_up, looking, resigning, auditing };
        phase is = phase::idle;
        item_doubts doubts{};
        tree const* basis = nullptr;     ///< while reading: the view that the sharding is based on
        std::vector<transaction> rest{}; ///< to be written
    };
    struct leaving {
        enum class phase : std::uint8_t { stays, drains, withdraws, departs, has_left };
        phase is = phase::stays;
        std::optional<departure> decisions{};
        std::optional<departure_step> next{};
    };

    struct member {
        bool is_in = false;       ///< has joined, and its process lives
        bool has_session = false; ///< at the registry
        bool knows_session = false;
        bool was_enabled = false;
        bool is_share_known = false;
        bool is_first_sharding = false;
        bool is_registered = false; ///< as it knows
        bool awaits_news = false;   ///< after an election or a sharding, until its view has caught up with its follower
        std::uint8_t generation = 0;
        std::int8_t enabled_since = 0; ///< minutes
        std::int8_t doubted_at = 0;
        std::int8_t ours_since[items_max] = {};
        node_version heard = -1, heard_first = -1; ///< of the assignment and of item 0
        tree const* shown = nullptr;               ///< by its follower
        tree const* seen = nullptr;                ///< by its view
        pool<candidacy>::kept const* stands = nullptr;
        pool<leading>::kept const* leads = nullptr;
        pool<leaving>::kept const* leaves = nullptr;
        pool<item_driver>::kept const* items[items_max] = {};
    };

    /// Shared by all copies of a world.
    struct shared {
        job_layout at{job_name::parse("a").value()};
        UtcZone utc{};
        std::vector<instance_id> ids;
        job_scope scope;
        job_weakness without{};
        pool<known_tree> trees;
        pool<candidacy> candidacies;
        pool<leading> leadings;
        pool<leaving> leavings;
        pool<item_driver> items;
        std::unordered_map<int, std::shared_ptr<detail::run_terms const>> terms; ///< by openness and `enabled_since`
        std::string strategy{AverageAllocation::name};
    };

    /// The world, as an item of a member sees it.
    struct item_port {
        job_world& w;
        std::size_t i;

        detail::item_moment moment(item_driver const& d) const;
        result<node> read(node_path const& p) const { return w.read(i, p); }
        std::vector<std::string> children(node_path const& p) const {
            return w.members_[i].shown->value.nodes.children(p);
        }
        std::vector<item_claim::proof> claim() const;
        node_tree::applied write(transaction const& t) const { return w.write(i, t); }
        node_tree::applied write_note(transaction const& t) const;
        node_tree::applied write_start(transaction const& t) const;
        node_tree::applied write_end(transaction const& t) const { return w.write(i, t); }
        start_answer lost_start() const { return start_answer::unknown; }
        void report(item_index item, detail::item_news const& n) const;
        void begin_body(item_driver& d) const;
    };
    friend item_port;

    job_layout const& at() const { return common_->at; }
    bool lacks(job_weakness w) const { return common_->without == w; }
    std::size_t index_of(std::string_view id) const;

    std::int64_t session(std::size_t i) const { return members_[i].generation * 10 + static_cast<std::int64_t>(i) + 1; }
    session_view view_of_session(std::size_t i) const;
    bool is_registered(std::size_t i) const {
        return members_[i].is_in && members_[i].knows_session && members_[i].is_registered;
    }
    bool is_leaving(std::size_t i) const { return members_[i].leaves->value.is != leaving::phase::stays; }
    detail::run_terms const& terms(std::size_t i) const;

    // ---- The tree.

    result<node> read(std::size_t i, node_path const& p) const;
    bool is_there(node_path const& p) const { return is_->value.nodes.find(p) != nullptr; }
    std::string text_of(known_tree const& t) const;
    void replace_tree(node_tree t);
    node_tree::applied apply(transaction const& t, std::int64_t session);
    node_tree::applied write(std::size_t i, transaction const& t);
    bool is_disabled(node_tree const& t, std::size_t i) const;
    std::vector<instance_id> available(node_tree const& t) const;
    bool is_available(std::size_t i) const;
    bool has_available() const;
    bool is_lost(item_index n) const;

    // ---- The parts of a member. Each function that changes a part keeps the result.

    void keep(std::size_t i, candidacy c);
    void keep(std::size_t i, leading l);
    void keep(std::size_t i, leaving l);
    void keep(std::size_t i, item_index n, item_driver d);
    template <class F>
    void change_item(std::size_t i, item_index n, F f);

    void join(std::size_t i);
    void hear(std::size_t i);
    void claim_items(std::size_t i);
    void end_session(std::size_t i);
    void lose_process(std::size_t i);

    detail::leader_duty duty(std::size_t i) const;
    bool must_shard(std::size_t i) const;
    bool must_grant(std::size_t i) const;
    bool must_audit(std::size_t i) const;
    bool has_duty(std::size_t i) const;
    void see_to_duty(std::size_t i);
    void serve_leading(std::size_t i, bool has_reply);
    void answer_leading(std::size_t i, result<void> const& done);
    sharding_basis basis(std::size_t i, node_tree const& by) const;
    void plan(std::size_t i, leading l, tree const& by, item_nodes const& known, std::vector<node_path> missing);
    item_nodes read_items(node_tree const& t) const;
    transaction weakened_sharding(transaction const& t) const;
    void check_sharding(tree const* before);

    void go_on(std::size_t i, candidacy c, election_step s);
    void serve_candidacy(std::size_t i, bool has_reply);
    void answer_candidacy(std::size_t i, error const& e);

    void hand_over(std::size_t i);
    void go_on(std::size_t i, leaving l, departure_step s);
    void serve_leaving(std::size_t i, bool has_reply);
    void answer_leaving(std::size_t i, error const& e);
    bool is_idle(std::size_t i) const;

    void add_moves_of(std::size_t i, std::vector<std::string>& all) const;
    void add_requests_of(std::size_t i, std::vector<std::string>& all) const;

    std::shared_ptr<shared> common_;
    tree const* is_ = nullptr;
    std::array<member, members_max> members_{};
    events_left left_{};
    std::int8_t minute_ = 0;
    std::array<std::int8_t, items_max> handled_{};       ///< the latest instant that a body has ended for
    std::array<std::uint8_t, items_max> told_skipped_{}; ///< a bit for each minute
    bool is_damaged_ = false;
    char const* problem_ = nullptr;
};

namespace search {

inline constexpr wall_time midnight{std::chrono::hours{24 * 365}};
inline constexpr std::chrono::minutes sharding_timeout{1};

inline wall_time instant(int minute) { return midnight + std::chrono::minutes{minute}; }
inline int minute_of(wall_time t) {
    return static_cast<int>(std::chrono::floor<std::chrono::minutes>(t - midnight).count());
}

inline detail::run_terms first_terms(UtcZone const& zone) {
    detail::run_terms t;
    job_config c{.name = "a", .cron = "0 * * * * ?"};
    c.failover = true;
    c.misfire = true;
    t.config = std::make_shared<valid_config const>(validate(c).value());
    t.due = std::make_shared<due_times const>(due_times::of(*t.config, zone).value());
    t.schedule = 1;
    return t;
}

inline std::string text_of(transaction const& t) {
    std::string all;
    for (auto const& o : t.operations())
        all += std::to_string(static_cast<int>(o.what)) + o.path.str() + "=" + o.data + "/" +
               std::to_string(o.version) + ";";
    return all;
}

inline error lost() { return error{errc::unknown_outcome, "lost"}; }

} // namespace search

inline job_world::job_world(job_scope s, job_weakness without) : common_{std::make_shared<shared>()} {
    auto& c = *common_;
    c.scope = s;
    for (std::size_t i = 0; i < members_max; ++i)
        c.ids.push_back(instance_id::parse("10.0.0." + std::to_string(i) + "@-@1-" + std::to_string(i)).value());
    node_tree first;
    transaction t{session_generation::current()};
    for (auto const& path :
         {at().root(), at().config(), at().servers(), at().instances(), at().leader(), at().election(),
          at().election_latch(), at().sharding_flags(), at().sharding(), at().ext(), at().run_records()})
        t.create(path, {});
    first.apply(t.operations(), 0, 0);
    replace_tree(std::move(first));
    left_.joins = static_cast<int>(s.members);
    if (s.is_cold) {
        c.without = without;
        auto const more = s.left.joins;
        left_ = s.left;
        left_.joins = more + static_cast<int>(s.members);
        return;
    }
    // Without faults, every possible event leads to a job at rest.
    for (std::size_t n = 0; !(left_.joins == 0 && is_goal()); ++n) {
        auto const all = moves();
        make(all[n * 7 % all.size()]);
    }
    for (std::size_t i = 0; i < members_max; ++i) {
        if (!members_[i].is_in) continue;
        members_[i].shown = is_;
        hear(i);
    }
    left_ = s.left;
    c.without = without;
}

// ---- The possible events.

inline std::vector<std::string> job_world::moves() const {
    std::vector<std::string> all;
    if (left_.dues > 0) all.push_back("an instant becomes due");
    if (is_there(at().item_disabled(0)))
        all.push_back("item 0 is enabled");
    else if (left_.stops > 0 && is_there(at().item(0)))
        all.push_back("item 0 is disabled");
    if (left_.damages > 0 && is_there(at().item_instance(common_->scope.items - 1)))
        all.push_back("another client writes an owner");
    bool has_joined = false;
    for (std::size_t i = 0; i < members_max; ++i) {
        auto const& m = members_[i];
        if (m.is_in)
            add_moves_of(i, all);
        else if (m.has_session && m.leaves == nullptr)
            all.push_back(std::to_string(i) + "'s session ends");
        bool const is_new = m.generation == 0;
        if (is_new && left_.joins > 0 && !std::exchange(has_joined, true)) all.push_back(std::to_string(i) + " joins");
        if (is_new) continue;
        if (is_disabled(is_->value.nodes, i) && left_.enables > 0)
            all.push_back(std::to_string(i) + "'s server is enabled");
        if (!is_disabled(is_->value.nodes, i) && left_.disables > 0)
            all.push_back(std::to_string(i) + "'s server is disabled");
    }
    return all;
}

inline void job_world::add_moves_of(std::size_t i, std::vector<std::string>& all) const {
    auto const& m = members_[i];
    auto const add = [&](char const* what) { all.push_back(std::to_string(i) + what); };
    auto const where = m.leaves->value.is;
    if (left_.deaths > 0) add(" dies");
    if (m.knows_session) {
        if (m.shown != is_) add(" catches up");
        if (m.seen != m.shown) add(" hears");
        if (left_.sessions > 0) add(" loses its session");
        add_requests_of(i, all);
    } else if (where < leaving::phase::withdraws) {
        add(" has a new session");
        if (left_.replies > 0) add(" has a new session and no reply");
    }
    if (m.knows_session && !m.is_registered) add(" finds that it is registered");
    if (left_.leaves > 0 && where == leaving::phase::stays) add(" begins to leave");
    if (where == leaving::phase::drains && is_idle(i)) {
        add(" hands over");
        if (m.stands->value.next || !m.leads->value.rest.empty()) add(" hands over behind its last request");
    }
    if (m.leaves->value.next && m.leaves->value.next->what == departure_step::kind::pause) add(" tries again");
    for (item_index n = 0; n < common_->scope.items; ++n) {
        if (!m.items[n]) continue;
        auto const& d = m.items[n]->value;
        auto const item = "'s item " + std::to_string(n);
        if (!d.asked) all.push_back(std::to_string(i) + item + " goes on");
        if (d.asked != item_driver::kind::call) continue;
        all.push_back(std::to_string(i) + item + " ends well");
        if (left_.failures > 0) all.push_back(std::to_string(i) + item + " fails");
        if (d.stopped_by != stop_reason::none) all.push_back(std::to_string(i) + item + " stops");
    }
}

inline void job_world::add_requests_of(std::size_t i, std::vector<std::string>& all) const {
    auto const& m = members_[i];
    auto const add = [&](std::string const& whose) {
        auto const name = std::to_string(i) + whose;
        all.push_back(name + " is served");
        if (left_.replies > 0) all.push_back(name + " loses the reply");
        if (left_.requests > 0) all.push_back(name + " loses the request");
    };
    if (has_duty(i)) all.push_back(std::to_string(i) + " sees to its duty");
    if (m.leads->value.is != leading::phase::idle) add("'s leading");
    if (auto const& next = m.stands->value.next) {
        bool const is_waiting = next->what == election_step::kind::await_change;
        if (!is_waiting)
            add("'s candidacy");
        else if (!m.shown->value.nodes.find(next->path))
            all.push_back(std::to_string(i) + "'s candidacy is served");
    }
    auto const& leaves = m.leaves->value.next;
    if (leaves && leaves->what != departure_step::kind::pause) add("'s departure");
    for (item_index n = 0; n < common_->scope.items; ++n)
        if (m.items[n] && m.items[n]->value.asked && m.items[n]->value.asked != item_driver::kind::call)
            add("'s item " + std::to_string(n));
}

inline void job_world::make(std::string const& move) {
    auto const set = [&](node_path const& p, std::string data) {
        transaction t{session_generation::current()};
        t.set(p, std::move(data));
        apply(t, 0);
    };
    if (move == "an instant becomes due") {
        --left_.dues;
        ++minute_;
        return;
    }
    if (move.starts_with("item 0")) {
        transaction t{session_generation::current()};
        if (move == "item 0 is disabled") {
            --left_.stops;
            t.create(at().item_disabled(0), {});
        } else {
            t.remove(at().item_disabled(0));
        }
        apply(t, 0);
        return;
    }
    if (move.starts_with("another")) {
        --left_.damages;
        is_damaged_ = true;
        return set(at().item_instance(common_->scope.items - 1), "somebody@-@1-9");
    }
    auto const i = static_cast<std::size_t>(move[0] - '0');
    auto& m = members_[i];
    std::string_view what{move};
    what.remove_prefix(1);
    if (what == " joins") {
        --left_.joins;
        return join(i);
    }
    if (what == "'s session ends") return end_session(i);
    if (what == "'s server is enabled") {
        --left_.enables;
        return set(at().server(common_->ids[i].server()), {});
    }
    if (what == "'s server is disabled") {
        --left_.disables;
        return set(at().server(common_->ids[i].server()), std::string{server_disabled});
    }
    if (what == " dies") {
        --left_.deaths;
        return lose_process(i);
    }
    if (what == " catches up") {
        m.shown = is_;
        return;
    }
    if (what == " hears") return hear(i);
    if (what == " loses its session") {
        --left_.sessions;
        return end_session(i);
    }
    if (what == " has a new session") return join(i);
    if (what == " has a new session and no reply") {
        --left_.replies;
        auto const held = m.shown;
        join(i);
        m.shown = held;
        m.is_registered = false;
        return;
    }
    if (what == " finds that it is registered") {
        m.is_registered = true;
        m.shown = is_;
        return claim_items(i); // its view may show its share already
    }
    if (what == " sees to its duty") return see_to_duty(i);
    if (what == " begins to leave") {
        --left_.leaves;
        auto l = m.leaves->value;
        l.is = leaving::phase::drains;
        return keep(i, std::move(l));
    }
    if (what.starts_with(" hands over")) {
        if (what.ends_with("request")) {
            m.stands->value.next ? serve_candidacy(i, false) : serve_leading(i, false);
        }
        return hand_over(i);
    }
    if (what == " tries again") {
        auto l = m.leaves->value;
        auto s = l.decisions->resumed(view_of_session(i));
        return go_on(i, std::move(l), std::move(s));
    }

    bool const is_item = what.starts_with("'s item");
    item_index const n = is_item ? static_cast<item_index>(what[8] - '0') : 0;
    if (is_item && what.ends_with(" goes on"))
        return change_item(i, n, [](item_driver& d, item_port& p) { d.go_on(p); });
    if (is_item && what.ends_with(" ends well"))
        return change_item(i, n, [](item_driver& d, item_port& p) { d.end_body(p, success(), stop_reason::none); });
    if (is_item && what.ends_with(" fails")) {
        --left_.failures;
        return change_item(i, n, [](item_driver& d, item_port& p) {
            d.end_body(p, error{errc::job_failed, "it failed"}, stop_reason::none);
        });
    }
    if (is_item && what.ends_with(" stops"))
        return change_item(i, n, [](item_driver& d, item_port& p) {
            d.end_body(p, error{errc::job_failed, "it was stopped"}, d.stopped_by);
        });

    auto const held = m.shown;
    bool const has_reply = what.ends_with("is served");
    bool const is_request_lost = what.ends_with("loses the request");
    if (is_request_lost) --left_.requests;
    if (!has_reply && !is_request_lost) --left_.replies;
    if (what.starts_with("'s leading")) {
        is_request_lost ? answer_leading(i, search::lost()) : serve_leading(i, has_reply);
    } else if (what.starts_with("'s candidacy")) {
        is_request_lost ? answer_candidacy(i, search::lost()) : serve_candidacy(i, has_reply);
    } else if (what.starts_with("'s departure")) {
        is_request_lost ? answer_leaving(i, search::lost()) : serve_leaving(i, has_reply);
    } else {
        change_item(i, n, [&](item_driver& d, item_port& p) {
            is_request_lost ? d.lose_request(p) : d.serve(p, at(), has_reply);
        });
    }
    if (!has_reply) m.shown = held; // no reply has shown it its own write
}

// ---- The invariants.

inline std::string job_world::problem() const {
    if (problem_) return problem_;
    auto const& nodes = is_->value.nodes;
    if (!is_->value.agrees && !is_damaged_)
        return "the items' nodes and the published assignment name different owners";
    for (auto const& name : nodes.children(at().election_latch())) {
        auto const owner = nodes.find(at().election_latch() / name)->stat.owner;
        auto const i = static_cast<std::size_t>(owner % 10 - 1);
        auto const& m = members_[i];
        if (m.is_in && m.knows_session && owner == session(i) && !m.stands->value.stands.is_standing())
            return "a candidate is in the queue, and its instance does not know";
    }
    for (item_index n = 0; n < common_->scope.items; ++n) {
        auto const* mark = nodes.find(at().item_running(n));
        if (!mark) continue;
        auto const i = static_cast<std::size_t>(mark->stat.owner % 10 - 1);
        auto const& m = members_[i];
        bool const is_live = m.is_in && m.knows_session && mark->stat.owner == session(i);
        if (is_live && !(m.items[n] && m.items[n]->value.life && m.items[n]->value.life->is_busy()))
            return "a mark of a live session stands, and no run is behind it";
    }
    for (std::size_t i = 0; i < members_max; ++i) {
        auto const& m = members_[i];
        if (m.leaves && m.leaves->value.is == leaving::phase::has_left) {
            bool has_left_nodes = false;
            nodes.for_each([&](std::string const&, node const& n) { has_left_nodes |= n.stat.owner == session(i); });
            if (has_left_nodes) return "an instance has left, and a node of it is still there";
        }
        if (!m.is_in) continue;
        if (!m.stands->value.stands.holds()) return "an election contradicts itself";
        for (auto const* d : m.items)
            if (d && d->value.life && !d->value.life->holds()) return "the life of an item contradicts itself";
    }
    if (minute_ > 0 && has_available() && is_goal())
        for (item_index n = 0; n < common_->scope.items; ++n)
            if (is_lost(n)) return "a due instant is lost";
    return {};
}

/// The record of an item at rest has the outcome of the last instant.
inline bool job_world::is_lost(item_index n) const {
    auto const* there = is_->value.nodes.find(at().run_record(n));
    if (!there || handled_[n] == minute_) return false;
    auto const r = run_record::parse(there->data).value();
    for (auto const& e : r.ledger)
        if (search::minute_of(e.run.due) == minute_ && e.outcome != run_outcome::completed &&
            e.outcome != run_outcome::retried)
            return false;
    return true;
}

inline bool job_world::is_goal() const {
    if (left_.dues > 0) return false;
    auto const& nodes = is_->value.nodes;
    for (std::size_t i = 0; i < members_max; ++i) {
        auto const& m = members_[i];
        bool const is_going = m.is_in && is_leaving(i);
        if (is_going || (!m.is_in && m.has_session && !m.leaves)) return false;
    }
    if (!has_available()) return true; // it waits for an instance to join
    auto const* leader = nodes.find(at().leader_instance());
    auto const& in_force = is_->value.in_force;
    if (!leader || !in_force || !in_force->is_published() || !is_->value.agrees) return false;
    if (!is_available(static_cast<std::size_t>(leader->stat.owner % 10 - 1))) return false;
    if (in_force->instances() != available(nodes) || nodes.find(at().sharding_necessary())) return false;
    for (item_index n = 0; n < common_->scope.items; ++n) {
        auto const* there = nodes.find(at().run_record(n));
        if (!there || nodes.find(at().item_running(n)) || nodes.find(at().item_disabled(n))) return false;
        auto const r = run_record::parse(there->data).value();
        if (search::minute_of(r.through) != minute_ || r.running || r.retry || r.resume) return false;
    }
    return true;
}

inline std::string job_world::key() const {
    std::string k;
    k.reserve(160);
    auto const add = [&](auto n) { k.append(reinterpret_cast<char const*>(&n), sizeof n); };
    auto const add_number = [&](auto const* kept) { add(kept ? kept->number : 0); };
    add_number(is_);
    for (int const n : {left_.dues, left_.replies, left_.requests, left_.sessions, left_.deaths, left_.leaves,
                        left_.joins, left_.disables, left_.enables, left_.stops, left_.failures, left_.damages})
        add(static_cast<std::int8_t>(n));
    add(minute_);
    add(handled_);
    add(told_skipped_);
    add(is_damaged_);
    add(problem_ != nullptr);
    for (auto const& m : members_) {
        add(static_cast<std::uint8_t>(m.is_in + 2 * m.has_session + 4 * m.knows_session + 8 * m.was_enabled +
                                      16 * m.is_share_known + 32 * m.is_first_sharding + 64 * m.awaits_news +
                                      128 * m.is_registered));
        add(m.generation);
        if (m.generation == 0) continue;
        add_number(m.leaves);
        if (!m.is_in) continue;
        add(m.enabled_since);
        add(m.doubted_at);
        for (auto const t : m.ours_since) add(t);
        add(m.heard);
        add(m.heard_first);
        add_number(m.shown);
        add_number(m.seen);
        add_number(m.stands);
        add_number(m.leads);
        for (auto const* d : m.items) add_number(d);
    }
    return k;
}

// ---- The tree.

inline result<node> job_world::read(std::size_t i, node_path const& p) const {
    if (auto const* n = members_[i].shown->value.nodes.find(p)) return *n;
    return error{errc::no_node, "absent", p.str()};
}

inline std::string job_world::text_of(known_tree const& t) const {
    std::string all = t.in_force ? "f" : "-";
    auto const* first = t.nodes.find(at().item_instance(0));
    all += first && first->stat.created == first->stat.modified ? "n" : "-";
    t.nodes.for_each([&](std::string const& path, node const& n) {
        all += path;
        if (!n.data.empty()) all += "=" + n.data;
        if (n.stat.owner != 0) all += "@" + std::to_string(n.stat.owner);
        bool const is_checked = path.starts_with("/a/ext/") || path.starts_with("/a/servers/") || &n == first;
        if (is_checked) all += "/" + std::to_string(n.stat.version);
        all += ";";
    });
    return all;
}

inline void job_world::replace_tree(node_tree t) {
    known_tree now{std::move(t)};
    auto const find = [&](node_path const& p) {
        auto const* n = now.nodes.find(p);
        return n ? std::optional{*n} : std::nullopt;
    };
    now.in_force = assignment_in_force(find(at().assignment()), find(at().item_instance(0))).value();
    if (now.in_force && now.in_force->is_published())
        for (item_index n = 0; n < now.in_force->items(); ++n) {
            auto const owner = find(at().item_instance(n));
            now.agrees &= owner && owner_in(owner->data) == now.in_force->owner_id(n).str();
        }
    auto text = text_of(now);
    is_ = common_->trees.keep(std::move(now), text);
}

inline node_tree::applied job_world::apply(transaction const& t, std::int64_t session) {
    auto nodes = is_->value.nodes;
    auto done = nodes.apply(t.operations(), session, 0);
    if (!done.refused) replace_tree(std::move(nodes));
    return done;
}

inline node_tree::applied job_world::write(std::size_t i, transaction const& t) {
    auto const* before = is_;
    auto done = apply(t, session(i));
    for (item_index n = 0; n < common_->scope.items; ++n) {
        auto const mark = at().item_running(n);
        if (before->value.nodes.find(mark) || !is_there(mark)) continue;
        auto const* owner = is_->value.nodes.find(at().item_instance(n));
        if (!owner || owner->data != common_->ids[i].str())
            problem_ = "an instance starts an item that it does not own";
    }
    auto const epoch_before = epoch_of(before->value.nodes.find(at().assignment()));
    if (epoch_of(is_->value.nodes.find(at().assignment())) < epoch_before)
        problem_ = "an assignment goes back to an earlier one";
    if (!lacks(job_weakness::writes_show_nothing)) members_[i].shown = is_;
    return done;
}

inline bool job_world::is_disabled(node_tree const& t, std::size_t i) const {
    auto const* n = t.find(at().server(common_->ids[i].server()));
    return n && n->data == server_disabled;
}

inline std::vector<instance_id> job_world::available(node_tree const& t) const {
    std::vector<instance_id> all;
    for (auto i = members_max; i-- > 0;)
        if (t.find(at().instance(common_->ids[i])) && !is_disabled(t, i)) all.push_back(common_->ids[i]);
    return all; // in descending order
}

inline bool job_world::has_available() const {
    for (std::size_t i = 0; i < members_max; ++i)
        if (is_available(i)) return true;
    return false;
}

inline bool job_world::is_available(std::size_t i) const {
    return is_registered(i) && !is_leaving(i) && !is_disabled(is_->value.nodes, i);
}

// ---- A member.

inline session_view job_world::view_of_session(std::size_t i) const {
    auto const& m = members_[i];
    session_view v;
    v.generation.value = m.generation;
    if (m.knows_session) v.id = session(i);
    v.state = m.knows_session ? session_state::connected : session_state::connecting;
    return v;
}

inline detail::run_terms const& job_world::terms(std::size_t i) const {
    auto const& m = members_[i];
    bool const is_open = is_registered(i) && m.was_enabled && !is_leaving(i);
    auto& t = common_->terms[m.enabled_since * 2 + is_open];
    if (!t) {
        auto fresh = search::first_terms(common_->utc);
        fresh.is_open = is_open;
        fresh.enabled_since = search::instant(m.enabled_since);
        t = std::make_shared<detail::run_terms const>(std::move(fresh));
    }
    return *t;
}

inline void job_world::keep(std::size_t i, candidacy c) {
    auto const& e = c.stands;
    auto text = to_string(e);
    if (e.candidate()) text += "|" + e.candidate()->str();
    if (e.front()) text += "|behind " + e.front()->str();
    if (e.is_standing()) text += "|" + e.place()->str();
    if (c.next) text += "|" + std::to_string(static_cast<int>(c.next->what));
    text += static_cast<char>('0' + i);
    members_[i].stands = common_->candidacies.keep(std::move(c), text);
}

inline void job_world::keep(std::size_t i, leading l) {
    static assignment const any;
    std::string text{static_cast<char>('0' + static_cast<int>(l.is))};
    text += l.doubts.must_read(&any) ? "d" : "-";
    text += l.doubts.is_damaged() ? "d" : "-";
    text += l.doubts.has_cut_items() ? "c" : "-";
    text += l.doubts.must_catch_up() ? "w" : "-";
    if (l.basis) text += std::to_string(l.basis->number);
    for (auto const& t : l.rest) text += "|" + search::text_of(t);
    members_[i].leads = common_->leadings.keep(std::move(l), text);
}

inline void job_world::keep(std::size_t i, leaving l) {
    std::string text{static_cast<char>('0' + static_cast<int>(l.is))};
    if (l.decisions)
        text += static_cast<char>('0' + i) + to_string(*l.decisions) + std::to_string(members_[i].generation);
    if (l.next) text += std::to_string(static_cast<int>(l.next->what)) + search::text_of(l.next->changes);
    members_[i].leaves = common_->leavings.keep(std::move(l), text);
}

inline void job_world::keep(std::size_t i, item_index n, item_driver d) {
    if (!d.life) {
        members_[i].items[n] = nullptr;
        return;
    }
    auto text = to_string(*d.life) + "|" + std::to_string(n) + (d.is_sent ? "s" : "-");
    text +=
        std::to_string(static_cast<int>(d.stopped_by)) + (d.asked ? std::to_string(static_cast<int>(*d.asked)) : "-");
    if (d.is_sent)
        for (auto const& p : d.claim_sent) text += "," + std::to_string(p.version);
    members_[i].items[n] = common_->items.keep(std::move(d), text);
}

template <class F>
void job_world::change_item(std::size_t i, item_index n, F f) {
    auto d = members_[i].items[n]->value;
    item_port p{*this, i};
    bool const runs = d.asked == item_driver::kind::call;
    auto const due = runs ? search::minute_of(d.life->record().running->due) : 0;
    auto const was_stopped = d.stopped_by;
    f(d, p);
    bool const has_ended = runs && d.asked != item_driver::kind::call && d.stopped_by == stop_reason::none;
    bool const counts = has_ended && d.life && !d.life->record().retry && !d.life->record().resume;
    if (counts || (has_ended && was_stopped == stop_reason::none))
        handled_[n] = std::max(handled_[n], static_cast<std::int8_t>(due));
    keep(i, n, std::move(d));
}

/// Enrolment is one transaction; here it is never refused.
inline void job_world::join(std::size_t i) {
    auto& m = members_[i];
    bool const is_new = !m.is_in;
    ++m.generation;
    m.is_in = m.has_session = m.knows_session = m.is_registered = true;
    transaction t{session_generation::current()};
    if (!is_there(at().server(common_->ids[i].server()))) t.create(at().server(common_->ids[i].server()), {});
    t.create(at().instance(common_->ids[i]), {}, create_mode::ephemeral);
    if (!is_there(at().sharding_necessary())) t.create(at().sharding_necessary(), {});
    apply(t, session(i));
    m.shown = is_;
    if (!is_new) return;
    m.seen = is_;
    m.doubted_at = minute_;
    m.was_enabled = !is_disabled(is_->value.nodes, i);
    keep(i, candidacy{election{at(), common_->ids[i]}});
    keep(i, leading{});
    keep(i, leaving{});
    hear(i);
}

inline void job_world::hear(std::size_t i) {
    auto& m = members_[i];
    m.seen = m.shown;
    m.awaits_news = false;
    bool const is_enabled = !is_disabled(m.seen->value.nodes, i);
    if (is_enabled && !m.was_enabled) m.enabled_since = minute_;
    m.was_enabled = is_enabled;
    claim_items(i);
}

inline void job_world::claim_items(std::size_t i) {
    if (!is_registered(i) || is_leaving(i)) return;
    auto& m = members_[i];
    auto const& there = m.seen->value;
    if (!there.in_force) {
        if (std::exchange(m.is_share_known, false)) m.doubted_at = minute_;
        return;
    }
    auto const& self = common_->ids[i];
    auto const& first = *there.nodes.find(at().item_instance(0));
    auto const version = there.nodes.find(at().assignment())->stat.version;
    bool const is_news = !m.is_share_known || m.heard != version || m.heard_first != first.stat.version;
    if (!is_news) return;
    auto const timeout = static_cast<std::int8_t>(search::sharding_timeout.count());
    auto const since = m.is_share_known ? minute_ : std::max(m.doubted_at, static_cast<std::int8_t>(minute_ - timeout));
    m.is_share_known = true;
    m.heard = version;
    m.heard_first = first.stat.version;
    m.is_first_sharding = there.in_force->epoch() == 1 && first.stat.created == first.stat.modified;
    for (item_index n = 0; n < common_->scope.items; ++n) {
        bool const is_ours = there.in_force->owner_id(n) == self;
        if (!m.items[n]) {
            if (!is_ours) continue;
            m.ours_since[n] = since;
            detail::item_life life{n, item_claim::share{n, {}}, search::instant(since), 0, false, m.is_first_sharding};
            keep(i, n, item_driver{std::move(life)});
            continue;
        }
        auto d = m.items[n]->value;
        if (!is_ours && d.asked == item_driver::kind::call && d.stopped_by == stop_reason::none)
            d.stopped_by = stop_reason::reassigned;
        if (is_ours)
            d.life->give({n, {}});
        else
            d.life->take_away();
        keep(i, n, std::move(d));
    }
}

inline void job_world::end_session(std::size_t i) {
    auto& m = members_[i];
    auto nodes = is_->value.nodes;
    nodes.end_session(session(i), 0);
    replace_tree(std::move(nodes));
    m.has_session = m.knows_session = false;
    if (!m.is_in) return;
    error const over{errc::session_lost, "over"};
    if (m.leads->value.is != leading::phase::idle) answer_leading(i, over);
    if (m.stands->value.next) answer_candidacy(i, over);
    if (m.leaves->value.next) answer_leaving(i, over);
    for (item_index n = 0; n < common_->scope.items; ++n) {
        if (!m.items[n] || !m.items[n]->value.asked) continue;
        auto d = m.items[n]->value;
        item_port p{*this, i};
        if (d.asked != item_driver::kind::call)
            d.lose(p);
        else if (!lacks(job_weakness::leases_are_ignored))
            d.stopped_by = stop_reason::session_lost;
        keep(i, n, std::move(d));
    }
}

inline void job_world::lose_process(std::size_t i) {
    auto& m = members_[i];
    m.is_in = m.knows_session = false;
    m.leaves = nullptr;
    for (auto& d : m.items) d = nullptr;
}

// ---- Leading.

inline detail::leader_duty job_world::duty(std::size_t i) const {
    auto const& m = members_[i];
    detail::leadership now;
    now.is_member = is_registered(i) && !is_leaving(i);
    now.is_standing = m.stands->value.stands.is_standing();
    now.leader = m.seen->value.nodes.find(at().leader_instance());
    now.leads = now.is_member && leads(now.leader, common_->ids[i], view_of_session(i));
    now.is_disabled = is_disabled(m.seen->value.nodes, i);
    now.is_enabled = !now.is_disabled;
    return duty_of(now);
}

inline sharding_basis job_world::basis(std::size_t i, node_tree const& by) const {
    session_generation const g{members_[i].generation};
    return {g, "a", common_->scope.items, by.find(at().config())->stat.version, available(by)};
}

inline bool job_world::must_shard(std::size_t i) const {
    auto const& m = members_[i];
    auto const b = basis(i, m.seen->value.nodes);
    bool const is_damaged = m.leads->value.doubts.is_damaged() && !b.instances.empty();
    return is_damaged || is_outdated(m.seen->value.in_force ? &*m.seen->value.in_force : nullptr, b, common_->strategy);
}

inline bool job_world::must_grant(std::size_t i) const {
    auto const& there = members_[i].seen->value;
    return there.in_force && there.nodes.find(at().sharding_necessary());
}

/// The leader checks from time to time. The world lets it check while there is something to find.
inline bool job_world::must_audit(std::size_t i) const {
    auto const& there = members_[i].seen->value;
    bool const is_to_be_found = !is_->value.agrees && !members_[i].leads->value.doubts.is_damaged();
    return is_to_be_found && there.in_force && there.in_force->is_published() &&
           !lacks(job_weakness::damage_is_ignored);
}

inline bool job_world::has_duty(std::size_t i) const {
    auto const& m = members_[i];
    if (m.stands->value.next || m.leads->value.is != leading::phase::idle) return false;
    if (m.awaits_news && m.seen != m.shown) return false;
    switch (duty(i)) {
    case detail::leader_duty::withdraw:
        return !lacks(job_weakness::candidates_stay);
    case detail::leader_duty::resign:
        return !lacks(job_weakness::disabled_leaders_stay);
    case detail::leader_duty::stand:
        return true;
    case detail::leader_duty::keep_sharded:
        return must_audit(i) || must_shard(i) || must_grant(i);
    default:
        return false;
    }
}

inline void job_world::see_to_duty(std::size_t i) {
    auto const& m = members_[i];
    auto const& there = m.seen->value;
    session_generation const g{m.generation};
    auto c = m.stands->value;
    auto l = m.leads->value;
    switch (duty(i)) {
    case detail::leader_duty::withdraw: {
        auto s = c.stands.withdraw(g);
        return go_on(i, std::move(c), std::move(s));
    }
    case detail::leader_duty::stand: {
        // Any name that is not a candidate's.
        auto const names = is_->value.nodes.children(at().election_latch());
        std::string uuid;
        for (int n = 0; uuid.empty(); ++n) {
            uuid = std::to_string(i) + "-" + std::to_string(n);
            for (auto const& name : names)
                if (name.starts_with("_c_" + uuid + "-")) uuid.clear();
        }
        auto s = c.stands.stand(g, uuid);
        return go_on(i, std::move(c), std::move(s));
    }
    case detail::leader_duty::resign:
        l.is = leading::phase::catching_up;
        l.rest.push_back(catch_up_write(g, at().config()));
        if (lacks(job_weakness::views_are_believed)) {
            l.is = leading::phase::resigning;
            l.rest = {transaction{g}.remove(at().leader_instance())};
        }
        return keep(i, std::move(l));
    default:
        break;
    }
    if (must_audit(i)) {
        l.is = leading::phase::auditing;
    } else if (!must_shard(i)) {
        l.is = leading::phase::granting;
        l.rest.push_back(
            grant_of_requests(at(), g, there.nodes.find(at().assignment())->stat.version, {at().sharding_necessary()}));
    } else if (l.doubts.must_read(there.in_force ? &*there.in_force : nullptr)) {
        l.is = leading::phase::reading;
        l.basis = m.seen;
    } else {
        return plan(i, std::move(l), *m.seen, item_nodes{*there.in_force}, {});
    }
    keep(i, std::move(l));
}

inline item_nodes job_world::read_items(node_tree const& t) const {
    std::map<item_index, item_nodes::reading> read;
    for (item_index n = 0; n < common_->scope.items; ++n) {
        if (!t.find(at().item(n))) continue;
        item_nodes::reading one;
        if (auto const* owner = t.find(at().item_instance(n))) one.instance = *owner;
        read.emplace(n, std::move(one));
    }
    return item_nodes{std::move(read)};
}

/// As in the resharder.
inline void job_world::plan(std::size_t i, leading l, tree const& by, item_nodes const& known,
                            std::vector<node_path> missing) {
    auto const& nodes = by.value.nodes;
    auto const b = basis(i, nodes);
    sharded_so_far now;
    auto const* written = nodes.find(at().assignment());
    if (written) now.version = written->stat.version;
    now.in_force = by.value.in_force;
    now.epoch = now.in_force ? now.in_force->epoch() : epoch_of(written);
    if (nodes.find(at().sharding_necessary())) now.requests.push_back(at().sharding_necessary());
    for (auto const& id : b.instances)
        if (auto const* server = nodes.find(at().server(id.server())))
            now.servers.emplace_back(at().server(id.server()), server->stat.version);
    now.missing = std::move(missing);
    auto const before = previous_owners(now.in_force ? &*now.in_force : nullptr, known, b.instances);
    sharding_request const request{"a", b.instances, b.item_count, {}, before};
    assignment const after{now.epoch + 1, common_->strategy, b.instances, AverageAllocation{}(request)};
    l.basis = nullptr;
    l.is = leading::phase::idle;
    if (check_answer(after, b.item_count, false, common_->strategy)) {
        registry_limits const limits{1'000'000, common_->scope.is_split ? 8u : 1'000u};
        l.rest = plan_sharding(at(), limits, now, b, known, after).transactions;
        l.is = leading::phase::writing;
    }
    keep(i, std::move(l));
}

inline transaction job_world::weakened_sharding(transaction const& t) const {
    transaction all{t.generation()};
    for (auto o : t.operations()) {
        bool const is_check = o.what == operation::kind::check;
        if (is_check && o.path == at().leader_instance() && lacks(job_weakness::shardings_ignore_leaders)) continue;
        if (is_check && o.path.parent() == at().instances() && lacks(job_weakness::shardings_ignore_instances))
            continue;
        if (o.path == at().assignment() && lacks(job_weakness::shardings_stay_published) && !o.data.empty()) {
            auto a = assignment::parse(o.data).value();
            a.set_published(true);
            o.data = a.to_text();
        }
        all.add(std::move(o));
    }
    return all;
}

inline void job_world::serve_leading(std::size_t i, bool has_reply) {
    auto l = members_[i].leads->value;
    auto const shown_now = [&]() -> known_tree const& { return members_[i].shown->value; };
    using phase = leading::phase;
    if (l.is == phase::reading) {
        if (l.doubts.must_catch_up() && !lacks(job_weakness::doubts_are_read_at_once))
            write(i, catch_up_write(session_generation{members_[i].generation}, at().config()));
        if (!has_reply) return answer_leading(i, search::lost());
        auto const& by = *l.basis;
        bool const is_written = by.value.nodes.find(at().assignment()) && by.value.nodes.find(at().item_instance(0));
        if (is_written && !by.value.in_force && shown_now().in_force)
            return answer_leading(i, success()); // the view lags
        std::vector<node_path> missing;
        for (auto const& p : {at().sharding(), at().ext()})
            if (!shown_now().nodes.find(p)) missing.push_back(p);
        return plan(i, std::move(l), by, read_items(shown_now().nodes), std::move(missing));
    }
    if (l.is == phase::auditing) {
        auto const& in_force = members_[i].seen->value.in_force;
        if (has_reply && in_force && in_force->is_published())
            l.doubts.note_audit(read_items(shown_now().nodes), *in_force);
        l.is = phase::idle;
        return keep(i, std::move(l));
    }
    if (l.is == phase::looking) {
        bool const is_ours =
            has_reply && leads(shown_now().nodes.find(at().leader_instance()), common_->ids[i], view_of_session(i));
        l.is = is_ours ? phase::resigning : phase::idle;
        if (is_ours) l.rest.emplace_back(session_generation{members_[i].generation}).remove(at().leader_instance());
        return keep(i, std::move(l));
    }
    auto const t = weakened_sharding(l.rest.front());
    auto const* before = is_;
    auto const done = write(i, t);
    if (!done.refused) check_sharding(before);
    auto const* leader = before->value.nodes.find(at().leader_instance());
    if (l.is == phase::resigning && leader && leader->stat.owner != session(i))
        problem_ = "an instance that resigns removes the leadership of another";
    if (!has_reply) return answer_leading(i, search::lost());
    if (done.refused && l.is != phase::catching_up) return answer_leading(i, refusal_error(t, *done.refused));
    l.rest.erase(l.rest.begin());
    bool const is_over = l.rest.empty();
    if (l.is == phase::catching_up) {
        l.is = phase::looking;
        return keep(i, std::move(l));
    }
    keep(i, std::move(l));
    if (is_over) answer_leading(i, success());
}

inline void job_world::answer_leading(std::size_t i, result<void> const& done) {
    auto l = members_[i].leads->value;
    if (l.is == leading::phase::writing) l.doubts.note_sharding(done, at());
    members_[i].awaits_news |= l.is == leading::phase::writing && done && members_[i].seen != members_[i].shown;
    if (l.is == leading::phase::writing && done) is_damaged_ = is_damaged_ && !is_->value.agrees;
    l.is = leading::phase::idle;
    l.basis = nullptr;
    l.rest.clear();
    keep(i, std::move(l));
}

/// The conditions after a leader has written an assignment.
inline void job_world::check_sharding(tree const* before) {
    auto const* old = before->value.nodes.find(at().assignment());
    auto const* now = is_->value.nodes.find(at().assignment());
    if (!now || (old && old->stat.version == now->stat.version)) return;
    auto const epoch_before = epoch_of(old), epoch_now = epoch_of(now);
    if (epoch_now == epoch_before) return;
    if (!before->value.nodes.find(at().leader_instance()))
        problem_ = "an assignment is written while no instance leads";
    auto const written = assignment::parse(now->data);
    for (auto const& id : written->instances())
        if (!is_there(at().instance(id))) problem_ = "an assignment names an instance that has gone";
}

// ---- Elections.

inline void job_world::go_on(std::size_t i, candidacy c, election_step s) {
    c.next = std::move(s);
    if (c.next->what == election_step::kind::finished) c.next.reset();
    bool const is_over = !c.next;
    bool const is_standing = c.stands.is_standing();
    keep(i, std::move(c));
    members_[i].awaits_news |= is_over && members_[i].seen != members_[i].shown;
    if (!is_over || members_[i].leaves->value.is != leaving::phase::withdraws) return;
    // It must withdraw before it leaves.
    auto again = members_[i].stands->value;
    if (is_standing && members_[i].knows_session) {
        auto step = again.stands.withdraw(session_generation{members_[i].generation});
        return go_on(i, std::move(again), std::move(step));
    }
    again.stands.forget();
    keep(i, std::move(again));
    auto l = members_[i].leaves->value;
    l.is = leaving::phase::departs;
    l.decisions.emplace(at(), common_->ids[i], session_generation{members_[i].generation},
                        mono_time{std::chrono::hours{1}}, false, false);
    auto step = l.decisions->begin(view_of_session(i));
    go_on(i, std::move(l), std::move(step));
}

inline void job_world::serve_candidacy(std::size_t i, bool has_reply) {
    auto c = members_[i].stands->value;
    auto const s = *std::exchange(c.next, std::nullopt);
    auto const& shown = [&]() -> node_tree const& { return members_[i].shown->value.nodes; };
    using kind = election_step::kind;
    transaction t{session_generation{members_[i].generation}};
    if (s.what == kind::commit) t = s.changes;
    if (s.what == kind::create_candidate) t.create(s.path, {}, create_mode::ephemeral_sequential);
    if (s.what == kind::remove_candidate) t.remove(s.path);
    node_tree::applied done;
    if (!t.empty()) done = write(i, t);
    if (!has_reply) return answer_candidacy(i, search::lost());
    election_step next;
    switch (s.what) {
    case kind::create_candidate:
        if (done.refused) return answer_candidacy(i, error{done.refused->why, "refused"});
        next = c.stands.candidate_created(node_path::parse(done.created.front()).value());
        break;
    case kind::read_queue:
        next = c.stands.queue_read(shown().children(at().election_latch()));
        break;
    case kind::read_leader:
        next = c.stands.leader_read(shown().find(s.path) != nullptr);
        break;
    case kind::await_change:
        next = c.stands.front_changed(success());
        break;
    case kind::read_parents: {
        std::vector<std::optional<node>> found;
        for (auto const& p : c.stands.queue_paths())
            found.push_back(shown().find(p) ? std::optional{*shown().find(p)} : std::nullopt);
        next = c.stands.parents_read(std::move(found));
        break;
    }
    case kind::commit: {
        commit_reply reply;
        if (done.refused) reply.refused = *done.refused;
        next = c.stands.committed(reply);
        break;
    }
    case kind::remove_candidate:
        if (done.refused) return answer_candidacy(i, error{done.refused->why, "refused"});
        next = c.stands.candidate_removed(success());
        break;
    case kind::finished:
        return;
    }
    go_on(i, std::move(c), std::move(next));
}

inline void job_world::answer_candidacy(std::size_t i, error const& e) {
    auto c = members_[i].stands->value;
    using kind = election_step::kind;
    auto const what = c.next->what;
    c.next.reset();
    election_step next;
    switch (what) {
    case kind::create_candidate:
        next = c.stands.candidate_created(e);
        if (e == errc::unknown_outcome && lacks(job_weakness::candidates_are_forgotten)) c.stands.forget();
        break;
    case kind::read_queue:
        next = c.stands.queue_read(e);
        break;
    case kind::read_leader:
        next = c.stands.leader_read(e);
        break;
    case kind::await_change:
        next = c.stands.front_changed(e);
        break;
    case kind::read_parents:
        next = c.stands.parents_read(e);
        break;
    case kind::commit:
        next = c.stands.committed(e);
        break;
    case kind::remove_candidate:
        next = c.stands.candidate_removed(e);
        break;
    case kind::finished:
        return;
    }
    go_on(i, std::move(c), std::move(next));
}

// ---- Leaving.

inline bool job_world::is_idle(std::size_t i) const {
    for (auto const* d : members_[i].items)
        if (d && d->value.life->is_busy()) return false;
    return true;
}

/// Its coroutines end where they wait, and the replies to their requests are dropped.
inline void job_world::hand_over(std::size_t i) {
    auto& m = members_[i];
    for (auto& d : m.items) d = nullptr;
    keep(i, leading{});
    auto l = m.leaves->value;
    l.is = leaving::phase::withdraws;
    keep(i, std::move(l));
    auto c = m.stands->value;
    c.next.reset();
    auto s = c.stands.withdraw(session_generation{m.generation});
    if (!m.knows_session) { // the candidate has gone with its session
        c.stands.forget();
        s = {};
    }
    go_on(i, std::move(c), std::move(s));
}

inline void job_world::go_on(std::size_t i, leaving l, departure_step s) {
    if (s.what == departure_step::kind::finished) {
        l.is = leaving::phase::has_left;
        l.next.reset();
        l.decisions.reset();
        members_[i].is_in = members_[i].knows_session = false;
    } else {
        l.next = std::move(s);
    }
    keep(i, std::move(l));
}

inline void job_world::serve_leaving(std::size_t i, bool has_reply) {
    auto l = members_[i].leaves->value;
    auto const s = *std::exchange(l.next, std::nullopt);
    registry_limits const limits{1'000'000, common_->scope.is_split ? 8u : 1'000u};
    if (s.what == departure_step::kind::read) {
        std::vector<std::optional<node>> found;
        for (auto const& p : s.paths) {
            auto n = read(i, p);
            found.push_back(n ? std::optional{*std::move(n)} : std::nullopt);
        }
        auto read = has_reply ? result<std::vector<std::optional<node>>>{std::move(found)} : search::lost();
        auto next = l.decisions->nodes_read(std::move(read), limits, view_of_session(i), mono_time{});
        return go_on(i, std::move(l), std::move(next));
    }
    auto t = s.changes;
    if (lacks(job_weakness::departures_ignore_versions)) {
        transaction all{t.generation()};
        for (auto o : t.operations()) {
            o.version = any_version;
            all.add(std::move(o));
        }
        t = std::move(all);
    }
    auto const held = members_[i].shown;
    auto const done = write(i, t);
    if (l.decisions->where() == departure::phase::catching_up && lacks(job_weakness::departures_trust_reads))
        members_[i].shown = held;
    commit_reply reply;
    if (done.refused) reply.refused = *done.refused;
    auto next = has_reply ? l.decisions->committed(reply, view_of_session(i), mono_time{})
                          : l.decisions->committed(search::lost(), view_of_session(i), mono_time{});
    go_on(i, std::move(l), std::move(next));
}

inline void job_world::answer_leaving(std::size_t i, error const& e) {
    auto l = members_[i].leaves->value;
    auto const what = std::exchange(l.next, std::nullopt)->what;
    registry_limits const limits{1'000'000, 1'000};
    auto const s = view_of_session(i);
    auto next = what == departure_step::kind::read     ? l.decisions->nodes_read(e, limits, s, mono_time{})
                : what == departure_step::kind::commit ? l.decisions->committed(e, s, mono_time{})
                                                       : l.decisions->resumed(s);
    go_on(i, std::move(l), std::move(next));
}

// ---- Items.

inline detail::item_moment job_world::item_port::moment(item_driver const& d) const {
    auto const& m = w.members_[i];
    detail::item_moment now{w.terms(i), w.common_->ids[i], w.at()};
    now.wall = search::instant(w.minute_);
    now.session = w.view_of_session(i);
    now.is_share_known = m.is_share_known;
    now.is_first_sharding = m.is_first_sharding;
    now.is_closing = w.is_leaving(i);
    if (d.life && d.life->record().running) {
        auto const& runner = d.life->record().running->instance;
        now.is_runner_gone = runner == now.self.str() || !m.seen->value.nodes.find(w.at().instances() / runner);
    }
    return now;
}

inline std::vector<item_claim::proof> job_world::item_port::claim() const {
    auto const& m = w.members_[i];
    return {{w.at().assignment(), m.heard}, {w.at().item_instance(0), m.heard_first}, {w.at().config(), any_version}};
}

inline node_tree::applied job_world::item_port::write_start(transaction const& t) const {
    if (!w.lacks(job_weakness::starts_ignore_owners)) return w.write(i, t);
    transaction all{t.generation()};
    for (auto const& o : t.operations())
        if (o.path != w.at().assignment() && o.path != w.at().item_instance(0)) all.add(o);
    return w.write(i, all);
}

inline node_tree::applied job_world::item_port::write_note(transaction const& t) const {
    if (w.lacks(job_weakness::notes_are_not_written)) return {};
    return w.write(i, t);
}

inline void job_world::item_port::report(item_index item, detail::item_news const& n) const {
    using events::skip_reason;
    for (auto const& s : n.skipped) {
        if (s.why != skip_reason::disabled && s.why != skip_reason::paused && s.why != skip_reason::too_late) continue;
        auto const last = search::minute_of(s.last);
        for (int k = 0; k < static_cast<int>(s.count); ++k)
            w.told_skipped_[item] = static_cast<std::uint8_t>(w.told_skipped_[item] | (1 << (last - k)));
    }
}

inline void job_world::item_port::begin_body(item_driver& d) const {
    auto const& m = w.members_[i];
    auto const item = d.life->item();
    d.stopped_by = d.life->is_ours() ? stop_reason::none : stop_reason::reassigned;
    if (!m.knows_session && !w.lacks(job_weakness::leases_are_ignored)) d.stopped_by = stop_reason::session_lost;
    auto const& record = d.life->record();
    for (auto const& e : record.ledger)
        if (e.outcome == run_outcome::completed && e.run.due == record.running->due)
            w.problem_ = "a due instant runs again, though it has completed";
    if (w.told_skipped_[item] >> search::minute_of(record.running->due) & 1)
        w.problem_ = "an instant runs that was reported as skipped";
    for (std::size_t other = 0; other < members_max; ++other) {
        if (other == i || !w.members_[other].is_in || !w.members_[other].items[item]) continue;
        auto const& theirs = w.members_[other].items[item]->value;
        if (theirs.asked == item_driver::kind::call && theirs.stopped_by != stop_reason::session_lost &&
            d.stopped_by != stop_reason::session_lost)
            w.problem_ = "two bodies of an item run, and neither has been told to stop";
    }
}

static_assert(testing::searchable_world<job_world>);

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SEARCH_JOB_WORLD_HPP
