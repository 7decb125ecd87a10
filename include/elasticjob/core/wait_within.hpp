// SPDX-License-Identifier: Apache-2.0
/// \file \brief Blocks a thread until a task has ended, for a limited time.
#ifndef ELASTICJOB_CORE_WAIT_WITHIN_HPP
#define ELASTICJOB_CORE_WAIT_WITHIN_HPP

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/core/within.hpp>

#include <utility>

namespace elasticjob::detail {

/// Runs the task on the loop, until `end_of_wait` at the latest. Errors: those of the task; timed_out, see `within`;
/// wrong_thread on the loop. Threads: any but the loop's.
template <loop Loop, class T>
result<T> wait_within(Loop& l, std::chrono::milliseconds timeout, task<result<T>> t) {
    return block_on(l, within(l, end_of_wait(l.now(), timeout), std::move(t)));
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_WAIT_WITHIN_HPP
