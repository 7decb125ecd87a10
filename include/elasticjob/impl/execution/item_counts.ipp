// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_ITEM_COUNTS_IPP
#define ELASTICJOB_IMPL_EXECUTION_ITEM_COUNTS_IPP

#include <elasticjob/execution/item_counts.hpp>

namespace elasticjob {

ELASTICJOB_DECL item_counts& item_counts::operator+=(item_counts const& more) noexcept {
    succeeded += more.succeeded;
    failed += more.failed;
    return *this;
}

ELASTICJOB_DECL std::string item_counts::to_text(wall_time since, wall_time until) const {
    using detail::milliseconds_text;
    return "elasticjob counts 1\nsince " + milliseconds_text(since) + "\nuntil " + milliseconds_text(until) +
           "\nsucceeded " + std::to_string(succeeded) + "\nfailed " + std::to_string(failed) + "\n";
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_ITEM_COUNTS_IPP
