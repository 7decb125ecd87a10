// SPDX-License-Identifier: Apache-2.0
/// \file \brief A sink and a pool with their types erased. The schedulers over them are compiled once, in
/// support/schedulers.cpp, and shared by all tests with sinks and pools of their own.
#ifndef ELASTICJOB_TEST_SUPPORT_ANY_POLICIES_HPP
#define ELASTICJOB_TEST_SUPPORT_ANY_POLICIES_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/events/guarded_sink.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/instances.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

namespace elasticjob::test {

/// A scheduler's wrapper around its sink, which must not count as another sink.
template <class>
inline constexpr bool is_guarded = false;
template <class Sink>
inline constexpr bool is_guarded<detail::guarded_sink<Sink>> = true;

class any_sink {
    using event = std::variant<events::joined const*, events::left const*, events::session_changed const*,
                               events::leadership_changed const*, events::resharded const*, events::share_changed const*,
                               events::item_started const*, events::item_finished const*, events::script_output const*,
                               events::item_progressed const*, events::item_fenced const*, events::item_misfired const*, events::item_skipped const*,
                               events::trouble const*>;

public:
    template <class Sink>
    requires(!std::same_as<Sink, any_sink> && !is_guarded<Sink> && event_sink<Sink>)
        any_sink(Sink s) // so that a test can pass its sink directly
        : tell_{[sink = std::make_shared<Sink>(std::move(s))](event which) {
              std::visit(
                  [&](auto const* e) {
                      if constexpr (std::invocable<Sink&, decltype(*e)>) (*sink)(*e);
                  },
                  which);
          }} {}

    template <class E>
    void operator()(E const& e) const {
        tell_(&e);
    }

private:
    std::function<void(event)> tell_;
};

class any_pool {
public:
    template <worker_pool Pool>
    requires(!std::same_as<Pool, any_pool>)
    any_pool(Pool p) : submit_{[pool = std::move(p)](work& w) mutable { return pool.try_submit(w); }} {}

    bool try_submit(work& w) { return submit_(w); }

private:
    std::function<bool(work&)> submit_;
};

using virtual_registry = basic_memory_registry<virtual_loop>;
using virtual_environment = detail::job_environment<virtual_registry>;

/// In virtual time.
template <executor Executor, sharding_strategy Strategy = AverageAllocation>
using virtual_scheduler = job_scheduler<virtual_registry, Strategy, Executor, any_pool, any_sink, UtcZone>;

/// On threads.
template <executor Executor>
using memory_scheduler = job_scheduler<MemoryRegistry, AverageAllocation, Executor, any_sink>;

} // namespace elasticjob::test

namespace elasticjob {
extern template class basic_memory_server<virtual_loop>;
extern template class basic_memory_registry<virtual_loop>;
template <>
inline constexpr bool detail::is_in_library<test::virtual_environment> = true;
ELASTICJOB_TREE_INSTANCES(extern, test::virtual_registry);
ELASTICJOB_JOB_SET_INSTANCES(extern, test::virtual_environment);
#if defined(ELASTICJOB_SCHEDULER_JOB_CODE_HPP)
ELASTICJOB_REGISTRY_INSTANCES(extern, test::virtual_registry);
ELASTICJOB_JOB_INSTANCES(extern, test::virtual_environment);
#endif
} // namespace elasticjob

#endif // ELASTICJOB_TEST_SUPPORT_ANY_POLICIES_HPP
