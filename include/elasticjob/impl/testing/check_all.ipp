// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP
#define ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP

#include <elasticjob/testing/check_all.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL std::string to_string(search_report const& r) {
    auto text = std::to_string(r.states) + " states, " + std::to_string(r.moves) + " moves";
    if (!r.is_complete) text += "; the search ended before it had seen all of them";
    if (r.problem.empty()) return text;
    text += "\n" + r.problem + ", after " + std::to_string(r.trace.size()) + " moves:";
    for (auto const& move : r.trace) text += "\n  " + move;
    return text;
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP
