// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_LOOPBACK_IPP
#define ELASTICJOB_IMPL_CONSOLE_LOOPBACK_IPP

#include <elasticjob/console/loopback.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL bool is_loopback(std::string_view address) {
    if (address.starts_with("::ffff:")) address.remove_prefix(7);
    bool const is_v4 = !address.empty() && address.find_first_not_of("0123456789.") == address.npos;
    return address == "::1" || (is_v4 && address.starts_with("127."));
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_LOOPBACK_IPP
