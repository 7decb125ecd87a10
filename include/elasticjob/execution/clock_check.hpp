// SPDX-License-Identifier: Apache-2.0
/// \file \brief Measures the difference between this machine's clock and the registry's.
#ifndef ELASTICJOB_EXECUTION_CLOCK_CHECK_HPP
#define ELASTICJOB_EXECUTION_CLOCK_CHECK_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>

#include <string>
#include <utility>

namespace elasticjob {

/// The minimum by which the registry's clock is ahead of this machine's; negative if it is behind. 0 if the registry's
/// time of a write lies between this machine's times before and after it, so that a slow reply is not taken for a
/// difference. One request; three for the first check in the life of a job. Errors: those of the registry.
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
        for (auto const& path : {at.system_time(), at.clock_probe()}) {
            auto const made = co_await r.create(path, {}, create_mode::persistent);
            if (!made && is_lasting(made.error())) co_return made.error();
        }
    }
}

/// A message for the operator of the machine. Precondition: `difference` is not 0.
error wrong_clock(std::chrono::milliseconds difference, std::chrono::seconds allowed, std::string where);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/clock_check.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_CLOCK_CHECK_HPP
