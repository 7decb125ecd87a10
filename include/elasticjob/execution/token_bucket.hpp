// SPDX-License-Identifier: Apache-2.0
/// \file \brief `token_bucket`: limits a rate, with a burst.
#ifndef ELASTICJOB_EXECUTION_TOKEN_BUCKET_HPP
#define ELASTICJOB_EXECUTION_TOKEN_BUCKET_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>

#include <cstdint>

namespace elasticjob::detail {

/// Initially full. Threads: one at a time.
class token_bucket {
public:
    /// Precondition: both are more than 0.
    token_bucket(std::int64_t size, std::chrono::nanoseconds every, mono_time now) noexcept;

    /// Takes a token. False if there was none.
    bool take(mono_time now) noexcept;

    /// When there will be a token again, if the last attempt was refused.
    mono_time next() const noexcept { return counted_at_ + every_; }

private:
    std::int64_t size_;
    std::chrono::nanoseconds every_;
    std::int64_t tokens_;
    mono_time counted_at_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/token_bucket.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_TOKEN_BUCKET_HPP
