// SPDX-License-Identifier: Apache-2.0
/// \file \brief Calls a user's hook, and waits for room if the pool is full.
#ifndef ELASTICJOB_SCHEDULER_CALL_HOOK_HPP
#define ELASTICJOB_SCHEDULER_CALL_HOOK_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/event_count.hpp> // sleep_until
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/run_on.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/core/worker_pool.hpp>
#include <elasticjob/execution/calling_threads.hpp>

namespace elasticjob::detail {

/// How long a hook waits for room in the pool.
inline constexpr std::chrono::seconds hook_timeout{10};

/// Calls `f` on a thread of the pool, which is one of the `callers` meanwhile. If the pool is full, waits until `until`
/// at the latest. Errors: overloaded if the pool was still full then; closed if the pool closes; those of `f`. `f` must
/// outlive the task.
template <worker_pool Pool, loop Loop, class F>
task<result<void>> call_hook(Pool& pool, Loop& l, calling_threads& callers, mono_time until, F const& f) {
    bool was_called = false;
    auto const once = [&] {
        was_called = true;
        calling_threads::mark const here_now{&callers};
        return f();
    };
    for (;;) {
        auto heard = co_await run_on(pool, l, once);
        if (was_called || l.now() >= until || !(heard.error() == errc::overloaded)) co_return heard;
        co_await sleep_until(l, l.now() + std::chrono::milliseconds{200});
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_CALL_HOOK_HPP
