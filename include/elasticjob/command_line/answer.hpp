// SPDX-License-Identifier: Apache-2.0
/// \file \brief The answer of a command of the program: rows or a text, messages, and an exit code.
#ifndef ELASTICJOB_COMMAND_LINE_ANSWER_HPP
#define ELASTICJOB_COMMAND_LINE_ANSWER_HPP

#include <elasticjob/command_line/report.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/command_in_job.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::cli {

/// The exit codes of the program. docs/operations.md documents them, because scripts depend on the numbers.
enum class exit_code : int {
    done = 0,
    failed = 1,      ///< for any other reason
    usage = 2,       ///< the arguments or a configuration cannot be used; nothing was written
    not_found = 3,   ///< there is no such job, item, server or instance
    conflict = 4,    ///< refused because of the present state; nothing was written
    unreachable = 5, ///< the registry has not answered, so the effect of a command is unknown: repeat it with its key
    unconfirmed = 6, ///< the command was not confirmed
    run_failed = 7,  ///< the awaited run has failed
    not_in_time = 8, ///< the awaited event has not happened in time
};

inline constexpr std::array exit_codes{exit_code::done,        exit_code::failed,     exit_code::usage,
                                       exit_code::not_found,   exit_code::conflict,   exit_code::unreachable,
                                       exit_code::unconfirmed, exit_code::run_failed, exit_code::not_in_time};

/// The meaning of a code, for the help and the manual.
std::string_view meaning_of(exit_code code) noexcept;

/// The exit code for an error.
exit_code exit_code_of(errc code) noexcept;

/// The next step after such an error; empty if the error itself names it.
std::string_view advice_for(errc code) noexcept;

/// The answer of a command.
struct answer {
    exit_code code = exit_code::done;

    /// The rows for programs. Nothing: `text` is for programs too.
    std::optional<report> rows{};

    /// The text for people. Empty: they get the rows as a table.
    std::string text{};

    /// Lines for the standard error.
    std::string messages{};

    /// The command, or a part of it, has been carried out, although the answer is a failure.
    bool has_begun = false;
};

/// Has the messages `elasticjob: WHAT` and, if `next` is not empty, `next: WHAT TO DO`.
answer refusal(exit_code code, std::string_view what, std::string_view next);

answer failure(error const& e);

/// The result of a command.
answer answer_for(result<command_result> const& done);

/// The results of a command in several jobs. The exit code is that of the worst failure.
answer answer_for(result<std::vector<command_in_job>> const& all);

/// The format in which the answer is printed.
enum class output_format { table, json, json_lines };

/// The text for the standard output.
std::string to_text(answer const& a, output_format format, table_style const& style);

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/answer.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_ANSWER_HPP
