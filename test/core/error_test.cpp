// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/error.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace elasticjob;

static_assert(name_of(errc::no_node) == "no_node");
static_assert(name_of(static_cast<errc>(255)) == "unknown");
static_assert(is_conflict(errc::node_exists) && is_conflict(errc::version_conflict) && is_conflict(errc::not_empty) &&
              is_conflict(errc::no_node));
static_assert(!is_conflict(errc::too_large) && !is_conflict(errc::unknown_outcome));
static_assert(is_connection(errc::not_sent) && is_connection(errc::unknown_outcome) &&
              is_connection(errc::unreachable));
static_assert(!is_connection(errc::session_lost) && !is_connection(errc::timed_out) && !is_connection(errc::no_node));

TEST_CASE("core.error: every code has its own name") {
    std::set<std::string> names;
    for (int code = 0; code <= static_cast<int>(errc::job_threw); ++code)
        names.emplace(name_of(static_cast<errc>(code)));
    CHECK(names.size() == static_cast<std::size_t>(errc::job_threw) + 1);
    CHECK(!names.contains("unknown"));
}

TEST_CASE("core.error: prints as one line with its non-empty parts") {
    CHECK(to_string(error{errc::closed}) == "closed");
    CHECK(to_string(error{errc::invalid_cron, "minutes must be 0 to 59"}) == "invalid_cron: minutes must be 0 to 59");
    CHECK(to_string(error{errc::invalid_cron, "minutes must be 0 to 59", "column 3"}) ==
          "invalid_cron: minutes must be 0 to 59 (column 3)");
    CHECK(to_string(error{errc::no_node, "", "/a"}) == "no_node (/a)");
}

TEST_CASE("core.error: compares with a code alone, or with all of another") {
    error const e{errc::no_node, "no such node", "/a"};
    CHECK(e == errc::no_node);
    CHECK(e != errc::closed);
    CHECK(e == error{errc::no_node, "no such node", "/a"});
    CHECK(!(e == error{errc::no_node, "no such node", "/b"}));
}
