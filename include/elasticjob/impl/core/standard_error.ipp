// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_STANDARD_ERROR_IPP
#define ELASTICJOB_IMPL_CORE_STANDARD_ERROR_IPP

#include <elasticjob/core/line_stream.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/core/standard_error.hpp>

#include <string>

namespace elasticjob::detail {

ELASTICJOB_DECL void tell_standard_error(std::string_view text) {
    std::string line;
    append_line_text(line, text);
    standard_error.tell(line, std::chrono::milliseconds{0});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CORE_STANDARD_ERROR_IPP
