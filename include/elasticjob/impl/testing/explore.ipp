// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_EXPLORE_IPP
#define ELASTICJOB_IMPL_TESTING_EXPLORE_IPP

#include <elasticjob/testing/explore.hpp>

namespace elasticjob::testing::detail {

ELASTICJOB_DECL std::uint64_t number_from(char const* variable, std::uint64_t otherwise) {
    auto const* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

ELASTICJOB_DECL std::string this_program() {
    char path[4096];
    auto const length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string{"this program"};
}

ELASTICJOB_DECL std::string in_one_line(fault_plan const& plan) {
    std::string text;
    for (auto const& f : plan) text.append(text.empty() ? "" : "; ").append(to_string(f));
    return text;
}

ELASTICJOB_DECL std::string_view last_lines(std::string_view text, std::size_t bytes_most) {
    if (text.size() <= bytes_most) return text;
    text.remove_prefix(text.size() - bytes_most);
    return text.substr(std::min(text.find('\n') + 1, text.size()));
}

} // namespace elasticjob::testing::detail
#endif // ELASTICJOB_IMPL_TESTING_EXPLORE_IPP
