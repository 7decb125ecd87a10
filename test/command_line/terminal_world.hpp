// SPDX-License-Identifier: Apache-2.0
/// \file \brief The program over a cluster in virtual time. Its streams are files in memory, and its environment is the
/// test's. Only terminal_world.cpp knows the program's type, because it takes long to compile.
#ifndef ELASTICJOB_TEST_COMMAND_LINE_TERMINAL_WORLD_HPP
#define ELASTICJOB_TEST_COMMAND_LINE_TERMINAL_WORLD_HPP

#include <elasticjob/command_line/answer.hpp>

#include <support/cluster.hpp>

#include <map>
#include <string>
#include <vector>

namespace elasticjob::test {

/// The program's output and its exit code.
struct printed {
    cli::exit_code code{};
    std::string out{};
    std::string err{};
};

/// One job with two items that one member runs, and an operator called ann.
class terminal_world {
public:
    terminal_world();
    ~terminal_world();
    terminal_world(terminal_world const&) = delete;
    terminal_world& operator=(terminal_world const&) = delete;

    printed run(std::vector<std::string> words);
    std::string out(std::vector<std::string> words) { return run(std::move(words)).out; }

    /// The text with `ID` for the variable part of an instance id, and two spaces between columns.
    static std::string steady(std::string text);

    /// `jobs list`, and so on.
    static std::vector<std::string> verbs();

    cluster c;
    member& m = c.add();
    bool is_reachable = true;
    bool has_console = false;          ///< the program of the next call
    std::string down{};                ///< servers that do not answer
    std::vector<std::string> served{}; ///< the last console's registries: `name=name space`
    std::map<std::string, std::string> variables{{"USER", "ann"}};
    std::string asked_servers{}; ///< of the last connection
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_COMMAND_LINE_TERMINAL_WORLD_HPP
