// SPDX-License-Identifier: Apache-2.0
#include <cluster/cluster.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE("cluster: three processes share a job, and each item runs once for each due instant") {
    cluster all{common_server(), "sharing"};
    INFO(all.transcript());
    auto const job = every(1, 7);
    worker_options const o{.jobs = {job}, .more = {"--look-at-marks", "1"}};
    auto& a = all.start("a", o);
    auto& b = all.start("b", o);
    auto& c = all.start("c", o);
    all.wait_until_shared(job, {&a, &b, &c});
    CHECK(a.leads() + b.leads() + c.leads() == 1);

    auto const first = cluster::next_due(1s);
    auto const last = first + 3s;
    all.wait_for_runs(last, 7);
    all.wait_until_idle({&a, &b, &c});
    all.check_complete(first, last, 1s, 7);
    all.check_nothing_ran_twice();
    all.check_all_marked();

    // In that time, each process ran only its own items.
    for (auto const* m : {&a, &b, &c}) {
        auto const share = m->share();
        for (auto const& l : m->all("runs"))
            if (l.due_ms() >= cluster::ms(first))
                CHECK_MESSAGE(std::ranges::find(share, l.item()) != share.end(), m->name() << ": " << l.text);
        CHECK(m->count("joined") == 1);
    }
    all.check_no_trouble();
}
