// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_HOST_NAME_IPP
#define ELASTICJOB_IMPL_CORE_HOST_NAME_IPP

#include <elasticjob/core/host_name.hpp>

#include <elasticjob/core/algorithm.hpp> // all_of

#include <unistd.h> // gethostname

namespace elasticjob {

ELASTICJOB_DECL bool is_host_name(std::string_view text) noexcept {
    return !text.empty() && text.size() <= 255 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

ELASTICJOB_DECL std::string find_host_name() {
    char name[257] = "";
    if (gethostname(name, sizeof name - 1) != 0) return {};
    return name;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_HOST_NAME_IPP
