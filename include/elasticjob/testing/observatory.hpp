// SPDX-License-Identifier: Apache-2.0
/// \file \brief The state that invariants examine, the `invariant` concept, and the list of invariants.
#ifndef ELASTICJOB_TESTING_OBSERVATORY_HPP
#define ELASTICJOB_TESTING_OBSERVATORY_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/testing/observation.hpp>
#include <elasticjob/testing/simulated_server.hpp>

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// A body that is running, even if its run no longer counts and its process does not know that yet.
struct live_run {
    std::uint32_t node = 0;
    std::uint64_t process = 0;
    std::string job{};
    item_index item = 0;
    wall_time due{};
    std::int64_t token = 0;
    std::int64_t session = 0; ///< that of its process at the start, or after the process has joined again
};

/// A machine of the cluster, as the simulation knows it.
struct node_view {
    std::string ip{};
    std::uint64_t process = 0; ///< 0: no process runs
    std::int64_t session = 0;  ///< as known to the process
    std::chrono::nanoseconds wall_offset{};
    std::map<std::string, std::string> instances{}; ///< by job: the instance's id, from joining to leaving
};

/// The stages of a simulation: faults happen; they end, and after a while the cluster must be healthy; then the due
/// instants are watched; then all instances leave.
enum class stage : std::uint8_t { faults, settling, settled, watched, left };

constexpr std::string_view name_of(stage s) noexcept {
    constexpr std::array<std::string_view, 5> names{"faults", "settling", "settled", "watched", "left"};
    return names[static_cast<std::size_t>(s)];
}

/// The whole observable state, which the simulation sees without any network.
struct cluster_view {
    simulated_server const& server;
    std::vector<std::string> jobs{};
    std::vector<node_view> nodes{};
    std::vector<live_run> runs{};
    std::vector<observation> log{};
    stage now_at = stage::faults;
    /// The due instants of the job in (after, until], from the two nodes of its configuration in the registry. Omits
    /// fixed delays, and instants for which the last item may still wait because of jitter.
    std::vector<wall_time> (*due)(std::string_view config, std::string_view schedule, wall_time after,
                                  wall_time until) = nullptr;

    wall_time wall_of(node_view const& n) const;
    node const* find(node_path const& path) const { return server.tree().find(path); }
    std::string data(node_path const& path) const;
    /// The instances whose node exists, whose session lives and whose process runs.
    std::map<std::string, node_view const*> live_instances(std::string const& job) const;
    bool is_enabled(std::string const& job, node_view const& n) const;
    static job_layout layout(std::string const& job) { return job_layout{job_name::parse(job).value()}; }
};

/// A condition that must hold. Only the name is required. Each function returns a description of the violation, or an
/// empty text.
///
/// | expression          | meaning                                                                        |
/// |---------------------|--------------------------------------------------------------------------------|
/// | `I::name`           | its name, for people                                                           |
/// | `i.on(o, view)`     | called with each observation                                                   |
/// | `i.changed(e, view)`| called with each change of the tree, after the step; a step may have several   |
/// | `i.reached(s, view)`| called when a stage is reached: settled, watched, left                         |
///
/// Models: invariants.hpp. Threads: the world's.
template <class I>
concept invariant = std::move_constructible<I> && requires {
    { I::name } -> std::convertible_to<std::string_view>;
};

struct violation {
    std::string invariant{};
    std::string what{};
    mono_time at{};
};

std::string to_string(violation const& v);

/// Records observations and calls the invariants. Threads: the world's.
class observatory {
public:
    explicit observatory(simulated_server& s) : view{s} { s.on_change(&note_change, this); }
    observatory(observatory const&) = delete;
    observatory& operator=(observatory const&) = delete;
    ~observatory();

    template <invariant I>
    void add(I i) {
        invariants_.push_back({new I{std::move(i)}, I::name, &tell<I>, &tell_change<I>, &tell_stage<I>,
                               [](void* self) { delete static_cast<I*>(self); }});
    }

    void note(observation o);
    void note_violation(std::string_view name, std::string what) { judge(name, std::move(what)); }

    /// Call it after each step.
    void look_at_changes();
    void reach(stage s);

    cluster_view view;
    std::vector<violation> violations;

private:
    struct slot {
        void* self;
        std::string_view name;
        std::string (*on)(void*, observation const&, cluster_view const&);
        std::string (*changed)(void*, tree_event const&, cluster_view const&);
        std::string (*reached)(void*, stage, cluster_view const&);
        void (*destroy)(void*);
    };

    template <class I>
    static std::string tell(void* self, observation const& o, cluster_view const& v) {
        if constexpr (requires(I & i) { i.on(o, v); }) return static_cast<I*>(self)->on(o, v);
        return {};
    }
    template <class I>
    static std::string tell_change(void* self, tree_event const& e, cluster_view const& v) {
        if constexpr (requires(I & i) { i.changed(e, v); }) return static_cast<I*>(self)->changed(e, v);
        return {};
    }
    template <class I>
    static std::string tell_stage(void* self, stage s, cluster_view const& v) {
        if constexpr (requires(I & i) { i.reached(s, v); }) return static_cast<I*>(self)->reached(s, v);
        return {};
    }
    static void note_change(void* self, tree_event const& e) { static_cast<observatory*>(self)->changes_.push_back(e); }
    void judge(std::string_view name, std::string what);

    std::vector<slot> invariants_;
    std::vector<tree_event> changes_;
};

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/observatory.ipp>
#endif
#endif // ELASTICJOB_TESTING_OBSERVATORY_HPP
