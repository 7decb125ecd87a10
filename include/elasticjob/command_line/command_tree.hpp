// SPDX-License-Identifier: Apache-2.0
/// \file \brief The parser for the commands of the program, with their help, completion and manual.
#ifndef ELASTICJOB_COMMAND_LINE_COMMAND_TREE_HPP
#define ELASTICJOB_COMMAND_LINE_COMMAND_TREE_HPP

#include <elasticjob/command_line/answer.hpp>
#include <elasticjob/command_line/arguments.hpp>
#include <elasticjob/command_line/command.hpp>
#include <elasticjob/core/decl.hpp>

#include <CLI/App.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::cli {

/// The possible words at the cursor.
struct completion {
    std::string typed{};              ///< the beginning of the word
    std::vector<std::string> words{}; ///< each may be followed by a tabulator and a description

    /// The kind of names that only the registry, or the file of contexts, knows.
    enum class names { none, jobs, servers, contexts } of = names::none;
    arguments given{}; ///< the address, as far as it has been typed
};

/// A parser of the program's arguments. Threads: one at a time.
class command_tree {
public:
    command_tree();
    command_tree(command_tree const&) = delete;
    command_tree& operator=(command_tree const&) = delete;

    /// Preconditions: no command has that path; the text of `shape.path` outlives this object.
    void add(command_shape const& shape);

    /// Reads the arguments, without the name of the program, into `arguments`. Returns the number of the command, in
    /// the order of `add`, or the text to print: the help, or the problem of the arguments.
    struct parsed {
        std::size_t command = 0;
        std::optional<answer> ended{};
    };
    parsed parse(std::vector<std::string> const& words);

    /// The arguments that `parse` has read.
    cli::arguments const& given() const noexcept { return arguments_; }

    /// The candidates for the last of the words. The words before it are complete.
    completion complete(std::vector<std::string> const& words) const;

    /// The manual page in the format of man(1).
    std::string manual_page() const;

private:
    CLI::App* group_of(std::string_view path);
    void take_names(CLI::App& app, takes what);
    void take_selection(CLI::App& app, takes what);
    void take_settings(CLI::App& app, takes what);
    void take_waits(CLI::App& app, takes what);
    void take_console(CLI::App& app, takes what);
    void take_command(CLI::App& app, command_shape const& shape);

    cli::arguments arguments_{};
    CLI::App app_;
    std::vector<CLI::App*> commands_{};
};

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/command_tree.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_COMMAND_TREE_HPP
