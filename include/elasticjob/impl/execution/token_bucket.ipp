// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_TOKEN_BUCKET_IPP
#define ELASTICJOB_IMPL_EXECUTION_TOKEN_BUCKET_IPP

#include <elasticjob/execution/token_bucket.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL token_bucket::token_bucket(std::int64_t size, std::chrono::nanoseconds every, mono_time now) noexcept
    : size_{size},
      every_{every},
      tokens_{size},
      counted_at_{now} {}

ELASTICJOB_DECL bool token_bucket::take(mono_time now) noexcept {
    auto const fresh = (now - counted_at_) / every_;
    tokens_ = std::min(size_, tokens_ + std::min<std::int64_t>(fresh, size_));
    counted_at_ = tokens_ == size_ ? now : counted_at_ + fresh * every_;
    if (tokens_ == 0) return false;
    --tokens_;
    return true;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_TOKEN_BUCKET_IPP
