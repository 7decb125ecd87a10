// SPDX-License-Identifier: Apache-2.0
/// \file \brief How far this machine's clock is from the registry's.
#ifndef ELASTICJOB_EXECUTION_CLOCK_CHECK_HPP
#define ELASTICJOB_EXECUTION_CLOCK_CHECK_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>

#include <string>
#include <utility>

namespace elasticjob {

/// By how much the registry's clock is ahead of this machine's, at least: 0 if the registry's time of a write lies
/// between the times before and after it here, so that a slow reply looks like no difference. Negative: it is behind.
/// One request, three the first time in the life of a job. Errors: those of the registry.
template <registry Registry>
task<result<std::chrono::milliseconds>> clock_difference(Registry& r, job_layout at) {
    using std::chrono::milliseconds;
    for (int attempt = 0;; ++attempt) {
        auto const before = r.loop().wall_now();
        auto const written = co_await r.set(at.clock_probe(), {});
        auto const after = r.loop().wall_now();
        if (written) {
            milliseconds const there{written->modified_at_ms};
            auto const earliest = std::chrono::floor<milliseconds>(before.time_since_epoch());
            auto const latest = std::chrono::ceil<milliseconds>(after.time_since_epoch());
            if (there > latest) co_return there - latest;
            co_return there < earliest ? there - earliest : milliseconds{0};
        }
        if (!(written.error() == errc::no_node) || attempt == 3) co_return written.error();
        (void)co_await r.create(at.system_time(), {}, create_mode::persistent);
        (void)co_await r.create(at.clock_probe(), {}, create_mode::persistent);
    }
}

/// What to tell the people whose clock it is. `difference` is not 0.
error wrong_clock(std::chrono::milliseconds difference, std::chrono::seconds allowed, std::string where);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/clock_check.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_CLOCK_CHECK_HPP
