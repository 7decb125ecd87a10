// SPDX-License-Identifier: Apache-2.0
/// \file \brief The recorded answers of the 2.1.5 console, from java_answers.txt.
#ifndef ELASTICJOB_TEST_CONSOLE_JAVA_ANSWERS_HPP
#define ELASTICJOB_TEST_CONSOLE_JAVA_ANSWERS_HPP

#include <console/console_world.hpp>

#include <rapidjson/document.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::test {

/// The data of nodes, by their paths.
using node_texts = std::map<std::string, std::string>;

/// A request, the answer, and its effect on the nodes.
struct java_answer {
    std::string method{}, target{}, body{};
    int status = 0;
    std::string type{}, text{};
    node_texts written{}; ///< created or changed
    std::vector<std::string> removed{};

    std::string line() const { return method + " " + target + (body.empty() ? "" : " ") + body; }
};

/// The state before a number of requests.
struct java_state {
    node_texts nodes{};
    std::vector<std::vector<std::string>> executions{}, states{}; ///< rows of the two tables; `\N` is NULL
    std::vector<java_answer> answers{};
};

/// All states, by their names.
std::map<std::string, java_state> const& java_answers();

/// The first difference of two JSON texts, as a path and the two values; empty if there is none. The order of members
/// does not count. Nor does that of `instances` and `jobNames`, which 2.1.5 keeps as sets, and of the `rows` of a
/// history.
std::string difference(std::string const& theirs, std::string const& ours);
std::string difference(rapidjson::Value const& theirs, rapidjson::Value const& ours, std::string const& where = "");

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CONSOLE_JAVA_ANSWERS_HPP
