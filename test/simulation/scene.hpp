// SPDX-License-Identifier: Apache-2.0
/// \file \brief One job in a simulated cluster, and the queries of a scenario.
#ifndef ELASTICJOB_TEST_SIMULATION_SCENE_HPP
#define ELASTICJOB_TEST_SIMULATION_SCENE_HPP

#include <simulation/lateness.hpp>
#include <support/never.hpp>

#include <elasticjob/testing/simulation.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

using testing::cluster_view;
using testing::fault;
using testing::observation;
using testing::simulated_run;
using testing::simulation;
using testing::simulation_options;
using namespace std::chrono_literals;

using kind = observation::kind;

/// Of one type, because half a scheduler is compiled for each.
using body_type = std::function<simulated_run(sharding_context const&)>;

inline constexpr auto session_timeout = memory_server_options{}.session_timeout;
/// A server notices up to a tenth later that a session is over; then come an election and a sharding.
inline constexpr auto takeover_bound = session_timeout + session_timeout / 10 + 2s;

inline job_config make_job(std::string cron, int count) {
    job_config c;
    c.name = "settle";
    c.cron = std::move(cron);
    c.sharding_total_count = count;
    c.failover = true;
    return c;
}

inline body_type lasting(std::chrono::nanoseconds span) {
    return [span](sharding_context const&) { return simulated_run{.duration = span}; };
}

/// A job called settle, and nodes that are all its members. It begins at midnight.
struct scene {
    scene(job_config const& job, body_type body, std::uint32_t nodes, simulation_options const& o = {},
          std::uint64_t seed = 1)
        : s{seed, o},
          at{cluster_view::layout(job.name)} {
        s.add_job(job, std::move(body));
        s.add_nodes(nodes);
    }

    void begin(std::chrono::nanoseconds span = 1s) {
        s.start_all();
        s.run_for(span);
    }
    void inject(fault f) {
        s.inject(f);
        s.run_for(0s);
    }
    cluster_view const& view() const { return s.view(); }

    /// All that happened of one kind, to one item if one is given, from the n-th line of the log on.
    std::vector<observation> all(kind k, std::optional<item_index> item = {}, std::size_t from = 0) const {
        std::vector<observation> found;
        for (auto n = from; n < view().log.size(); ++n)
            if (auto const& o = view().log[n]; o.what == k && (!item || o.item == *item)) found.push_back(o);
        return found;
    }
    std::size_t count(kind k, std::optional<item_index> item = {}, std::size_t from = 0) const {
        return all(k, item, from).size();
    }
    std::size_t so_far() const { return view().log.size(); }

    /// How late that was, by the clock of the world.
    std::chrono::nanoseconds lateness(observation const& o) const { return test::lateness(view(), o); }
    /// That long after midnight.
    wall_time in(std::chrono::nanoseconds span) const {
        return simulation_options{}.start + std::chrono::duration_cast<wall_time::duration>(span);
    }
    run_record record(item_index i) const { return run_record::parse(view().data(at.run_record(i))).value(); }
    std::size_t entries(item_index i, wall_time due, run_outcome outcome) const {
        std::size_t n = 0;
        for (auto const& e : record(i).ledger) n += e.run.due == due && e.outcome == outcome;
        return n;
    }
    std::string id(std::uint32_t node) const {
        auto const& ids = view().nodes[node].instances;
        return ids.empty() ? "(none)" : ids.begin()->second;
    }
    std::uint32_t node_of(std::string const& instance) const {
        std::uint32_t n = 0;
        while (n < view().nodes.size() && id(n) != instance) ++n;
        return n;
    }
    std::uint32_t owner_of(item_index i) const { return node_of(view().data(at.item_instance(i))); }
    std::uint32_t leader() const { return node_of(view().data(at.leader_instance())); }
    bool has_live_owners(item_index count) const {
        auto const alive = view().live_instances("settle");
        for (item_index i = 0; i < count; ++i)
            if (!alive.contains(view().data(at.item_instance(i)))) return false;
        return true;
    }
    /// Empty unless an invariant has been broken; then the report with all events that led to it.
    std::string wrong() const {
        return s.violations().empty() ? std::string{} : to_string(s.violations().front()) + "\n" + s.transcript();
    }

    simulation<> s;
    job_layout at;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SIMULATION_SCENE_HPP
