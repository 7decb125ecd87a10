// SPDX-License-Identifier: Apache-2.0
// Processes that are away for longer than their session time-out of 1.5 s, and come back. The jobs fire every 3 s, so
// their items have new owners half way to the next due instant, which they miss.
#include <cluster/cluster.hpp>
#include <integration/zk_proxy.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr unsigned items = 6;

worker_options short_lived(job_config const& job) {
    return {.jobs = {job}, .session_timeout = 1500ms, .more = {"--look-at-marks", "1"}};
}

/// A process that has come back is a new member with a new session, and takes part like any other. Above all, it has
/// not run the items that the others ran while it was away. `due` is the last instant before that.
void check_return(cluster& all, job_config const& job, cluster::wall_clock::time_point due, member& a, member& b,
                  member& returned, std::int64_t former_session) {
    all.wait_for("it to register again", [&] { return returned.count("joined") == 2; });
    CHECK(returned.session() != former_session);
    all.wait_until_shared(job, {&a, &b, &returned});
    CHECK(a.leads() + b.leads() + returned.leads() == 1);
    CHECK(all.children(job_layout{*job_name::parse(job.name)}.instances()).size() == 3);

    auto const next = cluster::next_due(3s);
    all.wait_for_runs(next, items);
    all.wait_until_idle({&a, &b, &returned});
    all.check_complete(due, due + 3s, 3s, items);
    all.check_complete(next, next, 3s, items);
    all.check_nothing_ran_twice();
    all.check_all_marked();
    for (auto const* m : {&a, &b}) CHECK(m->count("joined") == 1);
}

} // namespace

TEST_CASE("cluster: a process that was frozen for longer than its session comes back as a new member") {
    cluster all{common_server(), "frozen"};
    INFO(all.transcript());
    auto const job = every(3, items);
    job_layout const at{*job_name::parse(job.name)};
    auto const o = short_lived(job);
    auto& a = all.start("a", o);
    auto& b = all.start("b", o);
    auto& frozen = all.start("frozen", o);
    all.wait_until_shared(job, {&a, &b, &frozen});

    // It is frozen in the middle of its runs.
    auto const due = all.wait_for_a_break(3s) + 3s;
    all.slow_down(frozen);
    all.wait_for_runs(due, items);
    all.wait_until_idle({&a, &b});
    auto const share = frozen.share();
    auto const session = frozen.session();
    frozen.freeze();
    all.wait_until_shared(job, {&a, &b});
    CHECK(!all.read(at.instances() / frozen.id()));

    // The others run its items, and it sleeps through that due instant.
    all.wait_for_runs(due + 3s, items);
    all.wait_until_idle({&a, &b});
    auto const lines = frozen.lines().size();
    all.wait_for_a_break(3s);
    CHECK(frozen.lines().size() == lines);
    frozen.thaw();
    all.slow_down(frozen, 50ms);
    check_return(all, job, due, a, b, frozen, session);

    // Its runs were asked to stop.
    std::size_t stopped = 0;
    for (auto const& l : frozen.all("ran"))
        if (l.due_ms() == cluster::ms(due) && l.words.at(2) == "stopped") ++stopped;
    CHECK(stopped == share.size());
}

TEST_CASE("cluster: a process that was cut off for longer than its session comes back as a new member") {
    cluster all{common_server(), "cut-off"};
    tcp_proxy wire_of_one{common_server().port()};
    INFO(all.transcript());
    auto const job = every(3, items);
    job_layout const at{*job_name::parse(job.name)};
    auto const o = short_lived(job);
    auto behind_wire = o;
    behind_wire.more.insert(behind_wire.more.end(), {"--servers", wire_of_one.endpoint()});
    auto& a = all.start("a", o);
    auto& b = all.start("b", o);
    auto& cut = all.start("cut", behind_wire);
    all.wait_until_shared(job, {&a, &b, &cut});

    // It is cut off while idle.
    auto const due = all.wait_for_a_break(3s) + 3s;
    all.wait_for_runs(due, items);
    all.wait_until_idle({&a, &b, &cut});
    auto const session = cut.session();
    auto const runs = cut.count("runs");
    wire_of_one.set_requests(wire::lossy);
    wire_of_one.set_replies(wire::lossy);
    all.wait_until_shared(job, {&a, &b});
    all.wait_for_runs(due + 3s, items);
    all.wait_until_idle({&a, &b});
    all.wait_for_a_break(3s);
    CHECK(cut.count("runs") == runs); // it is awake, and knows that it must not
    CHECK(cut.count("joined") == 1);
    wire_of_one.cut_and_repair();
    check_return(all, job, due, a, b, cut, session);
}
