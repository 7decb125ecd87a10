// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_COMMAND_LINE_IPP
#define ELASTICJOB_IMPL_EXECUTION_COMMAND_LINE_IPP

#include <elasticjob/execution/command_line.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<std::vector<std::string>> split_command_line(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool is_quoted_empty = false; ///< the quotes just closed make a word, even if it is empty
    char quote = 0;
    for (char const c : text) {
        if (quote) {
            if (c == quote)
                quote = 0, is_quoted_empty = true;
            else
                word += c;
            continue;
        }
        if (c == '"' || c == '\'') {
            quote = c;
        } else if (c != ' ') {
            word += c;
        } else if (is_quoted_empty || !word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
        is_quoted_empty = false;
    }
    if (quote) return error{errc::invalid_config, "Unbalanced quotes in " + std::string{text}, "scriptCommandLine"};
    if (is_quoted_empty || !word.empty()) words.push_back(std::move(word));
    return words;
}

ELASTICJOB_DECL result<std::string> quoted_literally(std::string_view argument) {
    auto bare = trim(argument);
    auto const is_quote = [](char c) { return c == '"' || c == '\''; };
    while (!bare.empty() && is_quote(bare.front())) bare.remove_prefix(1);
    while (!bare.empty() && is_quote(bare.back())) bare.remove_suffix(1);
    auto const has = [&](char c) { return bare.find(c) != bare.npos; };
    if (has('"') && has('\''))
        return error{errc::invalid_config,
                     "Can't handle single and double quotes in same argument: " + std::string{bare},
                     "scriptCommandLine"};
    std::string const around = has('"') ? "'" : has('\'') || has(' ') ? "\"" : "";
    return around + std::string{bare} + around;
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL result<command_line> parse_command_line(std::string_view text, argument_quoting quoting) {
    auto const refuse = [](char const* why) { return error{errc::invalid_config, why, "scriptCommandLine"}; };
    if (detail::trim(text).empty()) return refuse("Command line can not be empty");
    ELASTICJOB_TRY(auto words, detail::split_command_line(text));
    if (detail::trim(words.front()).empty()) return refuse("Executable can not be empty");
    command_line parsed{.program = std::move(words.front()), .arguments = {}};
    std::replace(parsed.program.begin(), parsed.program.end(), '\\', '/');
    words.erase(words.begin());
    if (quoting == argument_quoting::literal)
        for (auto& word : words) {
            ELASTICJOB_TRY(word, detail::quoted_literally(word));
        }
    parsed.arguments = std::move(words);
    return parsed;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_COMMAND_LINE_IPP
