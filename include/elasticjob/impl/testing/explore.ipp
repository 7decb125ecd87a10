// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_EXPLORE_IPP
#define ELASTICJOB_IMPL_TESTING_EXPLORE_IPP

#include <elasticjob/testing/explore.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace elasticjob::testing::detail {

ELASTICJOB_DECL std::uint64_t number_from(char const* variable, std::uint64_t otherwise) {
    auto const* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

ELASTICJOB_DECL std::string shell_command(std::string_view words) {
    constexpr std::string_view plain{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%"};
    std::string command;
    while (!words.empty()) {
        auto const word = words.substr(0, words.find('\0'));
        words.remove_prefix(std::min(word.size() + 1, words.size()));
        if (!command.empty()) command += ' ';
        if (!word.empty() && word.find_first_not_of(plain) == word.npos) {
            command += word;
            continue;
        }
        command += '\'';
        for (auto const c : word)
            if (c == '\'')
                command += "'\\''";
            else
                command += c;
        command += '\'';
    }
    return command;
}

ELASTICJOB_DECL std::string this_command() {
    std::ifstream file{"/proc/self/cmdline"};
    std::string const words{std::istreambuf_iterator<char>{file}, {}};
    return words.empty() ? "this program" : shell_command(words);
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
