// SPDX-License-Identifier: Apache-2.0
/// \file \brief `small_cluster`: a simulated cluster of one job, directed line by line.
#ifndef ELASTICJOB_TEST_SIMULATION_SMALL_CLUSTER_HPP
#define ELASTICJOB_TEST_SIMULATION_SMALL_CLUSTER_HPP

#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <elasticjob/testing/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::test {

using testing::cluster_view;
using testing::fault;
using testing::fault_kind;
using testing::node_loop;
using testing::observation;
using testing::simulated_registry;
using testing::simulated_run;
using testing::simulation;
using testing::simulation_options;
using namespace std::chrono_literals;

using items = std::vector<item_index>;
using kind = observation::kind;

/// Fires on the hour, so that between two hours nothing is due and whatever runs then was interrupted, or is a mistake.
inline job_config hourly(int count) {
    job_config c;
    c.name = "settle";
    c.cron = "0 0 * * * ?";
    c.reconcile_interval_minutes = 0; // only news leads to repairs
    c.sharding_total_count = count;
    c.failover = true;
    return c;
}

inline job_config every_five_seconds(int count) {
    auto c = hourly(count);
    c.cron = "0/5 * * * * ?";
    return c;
}

/// The owners over time: an assignment for each revision.
struct ownership_history {
    static constexpr std::string_view name = "ownership history";
    std::shared_ptr<std::map<revision, assignment>> all = std::make_shared<std::map<revision, assignment>>();

    std::string changed(tree_event const& e, cluster_view const& v) const {
        if (!e.path.ends_with("/ext/assignment")) return {};
        if (auto const* there = v.find(*node_path::parse(e.path)))
            if (auto a = assignment::parse(there->data)) all->insert_or_assign(there->stat.modified, *std::move(a));
        return {};
    }
    /// Empty: no owner.
    std::string owner_at(revision at, item_index i) const {
        auto after = all->upper_bound(at);
        if (after == all->begin()) return {};
        auto const& a = (--after)->second;
        return i < a.items() ? a.owner_id(i).str() : std::string{};
    }
};

/// Nodes are numbered from 0 and called 10.0.0.1 and so on. Bodies last as long as `lasts` or `lasts_for` say when they
/// begin, and succeed, unless they are stopped. An order is carried out at once. Its results show after some time has
/// passed.
template <sharding_strategy Strategy>
class basic_small_cluster {
public:
    explicit basic_small_cluster(job_config config, std::uint32_t nodes, items absent = {}, std::uint64_t seed = 1,
                            simulation_options o = {})
        : s{seed, std::move(o)},
          at{job_name::parse(config.name).value()},
          job_{config.name},
          hand_wire_{s.server(), seed + 1},
          hand_loop_{s.world()},
          hand_{hand_loop_, hand_wire_, seed + 2} {
        s.add_job(std::move(config), [this](sharding_context const& c) { return plan(c); });
        s.add_nodes(nodes);
        s.add_invariant(history);
        for (auto const n : absent) s.set_member(n, 0, false);
    }
    ~basic_small_cluster() { by_hand_.cancel(); }

    /// All nodes are members and own their items.
    void start() {
        s.start_all();
        run_for(1s);
    }
    /// And of an hourly job, in a second the next hour begins.
    void start_before_the_hour() {
        start();
        run_until_before_the_hour();
    }
    void run_until_before_the_hour() {
        auto const into = s.world().wall_now().time_since_epoch() % 1h;
        run_for((into < 59min + 59s ? 0h : 1h) + 59min + 59s - into);
    }
    void run_for(std::chrono::nanoseconds span) { s.run_for(span); }

    // The events.

    void inject(fault f) {
        s.inject(f);
        run_for(0s);
    }
    /// And for now does not come back.
    void crash(std::uint32_t n) { inject({.what = fault_kind::crash, .node = n, .span = 240h}); }
    void expire(std::uint32_t n) { inject({.what = fault_kind::expire, .node = n}); }
    void join(std::uint32_t n) { inject({.what = fault_kind::join, .node = n}); }
    /// Time passes until it has left.
    void leave(std::uint32_t n) { inject({.what = fault_kind::leave, .node = n}); }
    void disable(std::uint32_t n) { inject({.what = fault_kind::disable, .node = n}); }
    void enable(std::uint32_t n) { inject({.what = fault_kind::enable, .node = n}); }
    void set_items(std::uint32_t count) { inject({.what = fault_kind::set_items, .count = count}); }
    void trigger(std::uint32_t n) { inject({.what = fault_kind::trigger, .node = n}); }

    // Writes by a person who follows no rules.

    void write(node_path path, std::string data) { by_hand(hand_.set(std::move(path), std::move(data))); }
    void create(node_path path, std::string data = {}, create_mode mode = create_mode::persistent) {
        by_hand(hand_.create(std::move(path), std::move(data), mode));
    }
    void remove(node_path path) { by_hand(hand_.remove(std::move(path))); }

    // The results.

    std::vector<observation> all(kind k, std::optional<item_index> i = {}) const {
        std::vector<observation> found;
        for (auto const& o : s.view().log)
            if (o.what == k && (!i || o.item == *i)) found.push_back(o);
        return found;
    }
    std::vector<observation> starts(item_index i) const { return all(kind::started, i); }
    std::size_t count(kind k) const { return all(k).size(); }
    std::size_t count(run_source source) const {
        auto const runs = all(kind::started);
        return static_cast<std::size_t>(
            std::count_if(runs.begin(), runs.end(), [&](observation const& o) { return o.source == source; }));
    }
    std::size_t running() const { return s.view().runs.size(); }

    node const* find(node_path const& path) const { return s.view().find(path); }
    std::string data(node_path const& path) const { return s.view().data(path); }
    std::string owner(item_index i) const { return owner_in(data(at.item_instance(i))); }
    /// The name of the node in the job; empty if the node is not in the job.
    std::string id(std::uint32_t n) const {
        auto const& ids = s.view().nodes[n].instances;
        auto const found = ids.find(job_);
        return found == ids.end() ? std::string{} : found->second;
    }
    items items_of(std::uint32_t n) const {
        items mine;
        for (item_index i = 0; find(at.item(i)); ++i)
            if (!id(n).empty() && owner(i) == id(n)) mine.push_back(i);
        return mine;
    }
    /// The leader's number; if there is no leader, the number of nodes.
    std::uint32_t leader() const {
        auto const who = data(at.leader_instance());
        std::uint32_t n = 0;
        while (n < s.view().nodes.size() && (who.empty() || id(n) != who)) ++n;
        return n;
    }
    run_record record(item_index i) const { return run_record::parse(data(at.run_record(i))).value(); }
    /// How the item's last run ended: `completed` and so on; empty if none has.
    std::string last_outcome(item_index i) const {
        auto const ledger = record(i).ledger;
        return std::string{ledger.empty() ? std::string_view{} : name_of(ledger.back().outcome)};
    }

    /// The first violation of an invariant of every cluster, or nothing. After a violation nothing happens any more.
    std::string wrong() const { return s.is_over() ? to_string(s.violations().front()) : std::string{}; }

    std::chrono::nanoseconds lasts = 100ms;
    std::map<item_index, std::chrono::nanoseconds> lasts_for;
    bool looks_at_its_stop_token = true;

    simulation<Strategy> s;
    job_layout const at;
    ownership_history const history;

private:
    simulated_run plan(sharding_context const& c) const {
        auto const special = lasts_for.find(c.item);
        simulated_run r;
        r.duration = special == lasts_for.end() ? lasts : special->second;
        r.stops_after = looks_at_its_stop_token ? 50ms : simulated_run::never;
        return r;
    }
    template <class T>
    void by_hand(task<result<T>> what) {
        while (hand_.session().state != session_state::connected && !s.is_over()) run_for(1ms);
        bool done = false;
        std::string why;
        by_hand_.spawn(carry_out(std::move(what), done, why));
        for (auto const patience = s.world().now() + 1s; !done && s.world().now() < patience && !s.is_over();)
            run_for(1ms);
        by_hand_.cancel();
        if (!done) throw std::runtime_error{"what was to be done by hand was not done: " + why + wrong()};
    }
    template <class T>
    static task<void> carry_out(task<result<T>> what, bool& done, std::string& why) {
        auto const outcome = co_await std::move(what);
        done = outcome.has_value();
        if (!done) why = to_string(outcome.error());
    }

    std::string job_;
    testing::wire hand_wire_;
    node_loop hand_loop_;
    simulated_registry hand_;
    task_scope by_hand_;
};

using small_cluster = basic_small_cluster<AverageAllocation>;

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SIMULATION_SMALL_CLUSTER_HPP
