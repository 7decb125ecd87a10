// SPDX-License-Identifier: Apache-2.0
#include <cluster/cluster.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE("cluster: a server that dies and comes back within the session time-out changes nothing") {
    zk_server server{quick()};
    cluster all{server, "restart"};
    INFO(all.transcript());
    constexpr unsigned items = 5;
    auto const job = every(1, items);
    job_layout const at{*job_name::parse(job.name)};
    worker_options const o{.jobs = {job}, .session_timeout = 30s};
    auto& a = all.start("a", o);
    auto& b = all.start("b", o);
    all.wait_until_shared(job, {&a, &b});
    auto const before = all.read(at.assignment());
    REQUIRE(before.has_value());

    all.wait_for_a_break(1s);
    all.wait_until_idle({&a, &b});
    std::map<std::pair<member*, std::string>, std::size_t> said;
    for (auto* m : {&a, &b})
        for (std::string const verb : {"joined", "sharded", "owns"}) said[{m, verb}] = m->count(verb);
    server.kill();
    server.start();
    auto const first = cluster::last_due(1s) + 2s;
    all.wait_for_runs(first, items);
    all.wait_for_runs(first + 1s, items);
    all.wait_until_idle({&a, &b});
    all.check_complete(first, first + 1s, 1s, items);
    all.check_nothing_ran_twice();
    all.check_no_trouble();

    for (auto* m : {&a, &b}) {
        auto const instance = all.read(at.instances() / m->id());
        REQUIRE(instance.has_value());
        CHECK(instance->stat.owner == m->session());
        for (std::string const verb : {"joined", "sharded", "owns"})
            CHECK_MESSAGE((m->count(verb) == said[{m, verb}]), m->name() << " said again: " << verb);
    }
    auto const after = all.read(at.assignment());
    REQUIRE(after.has_value());
    CHECK(after->stat == before->stat);
    CHECK(after->data == before->data);

    // They still see each other's changes.
    b.terminate();
    all.wait_until_shared(job, {&a});
}
