// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/audit_query.hpp>

#include <elasticjob/operations/switches.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// `job verb, job verb`
std::string told(audit_page const& page) {
    std::string all;
    for (auto const& row : page.rows) all += (all.empty() ? "" : ", ") + row.job + " " + row.entry.verb;
    return all;
}

} // namespace

TEST_CASE("operations.audit_query: the commands of all jobs, the newest first, page by page") {
    cluster c;
    auto& m = c.add();
    for (auto const* job : {"load", "settle"}) REQUIRE(m.schedule(make_job(job, never, 1)));
    c.run_for(1s);
    REQUIRE(switch_job(c.by_hand, "settle", switched::off, {"ann"}));
    c.run_for(1s);
    REQUIRE(switch_job(c.by_hand, "load", switched::off, {"bob"}));
    c.run_for(1s);
    REQUIRE(switch_job(c.by_hand, "settle", switched::on, {"ann"}));
    CHECK_FALSE(switch_item(c.by_hand, "settle", 9, switched::on, {"ann"}));

    auto const all = [&](audit_query q) { return told(list_commands(c.by_hand, std::move(q)).value()); };
    CHECK(all({}) == "settle enable, settle enable, load disable, settle disable");
    CHECK(all({.job_contains = "oa"}) == "load disable");
    CHECK(all({.operator_contains = "bo"}) == "load disable");
    CHECK(all({.verb = "disable"}) == "load disable, settle disable");
    CHECK(all({.outcome = command_outcome::refused}) == "settle enable");
    std::string paged;
    for (audit_query q{.rows_max = 1};;) {
        auto const page = list_commands(c.by_hand, q).value();
        paged += told(page) + ";";
        if (page.next.empty()) break;
        q.after = page.next;
    }
    CHECK(paged == "settle enable;settle enable;load disable;settle disable;");
    for (auto const* cursor : {"x", "1/2", "1/x/settle"})
        CHECK(list_commands(c.by_hand, audit_query{.after = cursor}).error() == errc::invalid_argument);
    c.set("/load/ext/audit", "nonsense");
    auto const page = list_commands(c.by_hand, audit_query{}).value();
    CHECK(told(page) == "settle enable, settle enable, settle disable");
    CHECK(page.faults.size() == 1);
}
