// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_ERROR_IPP
#define ELASTICJOB_IMPL_CORE_ERROR_IPP

#include <elasticjob/core/error.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string to_string(error const& e) {
    std::string line{name_of(e.code)};
    if (!e.what.empty()) line.append(": ").append(e.what);
    if (!e.where.empty()) line.append(" (").append(e.where).append(")");
    return line;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_ERROR_IPP
