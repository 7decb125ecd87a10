// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which failures of repeated requests to report.
#ifndef ELASTICJOB_EXECUTION_LASTING_FAILURE_HPP
#define ELASTICJOB_EXECUTION_LASTING_FAILURE_HPP

#include <elasticjob/core/error.hpp>

#include <optional>
#include <utility>

namespace elasticjob::detail {

/// A request is repeated until it succeeds. Failures that do not pass by themselves are reported, each kind once in a
/// row.
class lasting_failure {
public:
    /// Whether to report this failure.
    bool is_news(error const& e) { return is_lasting(e) && std::exchange(told_, e.code) != e.code; }

    /// The request has succeeded.
    void end() noexcept { told_.reset(); }

private:
    std::optional<errc> told_{};
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_LASTING_FAILURE_HPP
