// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <elasticjob/registry/measured_registry.hpp>

#include <integration/zk_lab.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The nodes of a job that one instance has joined, without a process behind it.
void put_job(transaction& t, std::string const& name, std::string const& id) {
    job_layout const at{job_name::parse(name).value()};
    t.create(at.root(), {});
    t.create(at.config(), to_json({.name = name, .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 1}));
    for (auto const& path : {at.servers(), at.instances(), at.ext(), at.sharding(), at.item(0)}) t.create(path, {});
    t.create(at.server(id.substr(0, id.find("@-@"))), {});
    t.create(at.instances() / id, {});
    // Both are written by one transaction, as by a leader.
    using ids = std::vector<instance_id>;
    assignment const a{1, "AverageAllocation", ids{*instance_id::parse(id)}, closed_form{1, 1}};
    t.create(at.assignment(), {}).set(at.assignment(), a.to_text());
    t.create(at.item_instance(0), {}).set(at.item_instance(0), id);
}

} // namespace

TEST_CASE("zk_operations: the overview of 3,000 jobs takes six requests for each") {
    zk_server server{quick()};
    auto r = connected(to(server.endpoint()));
    auto const id = std::string{"10.0.0.1@-@7-0123456789abcdef"};
    for (int n = 0; n < 3'000; n += 20) {
        transaction t{r.session().generation};
        for (int i = n; i < n + 20; ++i) put_job(t, "job-" + std::to_string(10'000 + i), id);
        REQUIRE(block_on(r.loop(), r.commit(std::move(t))).value());
    }
    std::size_t requests = 0;
    auto const count = [&](registry_request const&) { ++requests; };
    MeasuredRegistry measured{r, count};
    auto const all = list_jobs(measured, {.jobs_max = 5'000});
    REQUIRE(all);
    CHECK(all->jobs.size() == 3'000);
    CHECK(std::all_of(all->jobs.begin(), all->jobs.end(), [](auto const& j) { return j.health == job_health::ok; }));
    CHECK(requests == 1 + 3'000 * 6);

    auto const servers = list_servers(r);
    REQUIRE(servers);
    REQUIRE(servers->size() == 1);
    CHECK(servers->front().jobs.size() == 3'000);
    CHECK(describe_server(r, "10.0.0.1").value().size() == 3'000);
    auto const instances = list_instances(r, "job-10007");
    REQUIRE(instances);
    REQUIRE(instances->size() == 1);
    CHECK(instances->front().item_count == 1);
    CHECK(instances->front().is_left_over);
    auto const items = list_items(r, "job-10007");
    REQUIRE(items);
    CHECK(items->items.at(0).owner == id);
    CHECK(items->items[0].health == item_health::idle);
}
