// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP
#define ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP

#include <elasticjob/core/hash.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <cstring>

namespace elasticjob::testing {

namespace detail {

ELASTICJOB_DECL fingerprint fingerprint::of(std::string_view key) {
    fingerprint f{elasticjob::detail::fnv_1a(key), key.size()};
    while (!key.empty()) {
        std::uint64_t piece = 0;
        auto const n = key.size() < sizeof piece ? key.size() : sizeof piece;
        std::memcpy(&piece, key.data(), n);
        f.second = elasticjob::detail::mix_bits(f.second ^ piece) + 1;
        key.remove_prefix(n);
    }
    return f;
}

} // namespace detail

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
