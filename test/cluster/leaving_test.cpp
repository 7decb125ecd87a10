// SPDX-License-Identifier: Apache-2.0
#include <cluster/cluster.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// `leaver` is asked to leave while its items run.
void check_leaving(std::string const& name_space, void (*ask_to_leave)(member&), bool leader_leaves) {
    cluster all{common_server(), name_space};
    INFO(all.transcript());
    constexpr unsigned items = 6;
    auto const job = every(2, items);
    job_layout const at{*job_name::parse(job.name)};
    worker_options const o{.jobs = {job}, .session_timeout = 10s, .more = {"--look-at-marks", "1"}};
    auto& first = all.start("first", o);
    all.wait_for("the first to lead", [&] { return first.leads(); });
    auto& second = all.start("second", o);
    all.wait_until_shared(job, {&first, &second});
    auto& leaver = leader_leaves ? first : second;
    auto& stayer = leader_leaves ? second : first;

    auto const due = all.wait_for_a_break(2s) + 2s;
    all.slow_down(leaver, 400ms);
    all.wait_for_runs(due, items);
    ask_to_leave(leaver);
    all.wait_for("the end of the process", [&] { return leaver.has_ended(); });
    auto const left_at = std::chrono::steady_clock::now();
    all.wait_for("its last words", [&] { return leaver.has("gone"); });
    CHECK(leaver.exit_code() == 0);
    CHECK(!all.read(at.instances() / leaver.id()));
    all.wait_until_shared(job, {&stayer});
    // No process waited for a session's end, which is far away.
    CHECK(std::chrono::steady_clock::now() - left_at < o.session_timeout / 4);
    CHECK(stayer.leads());
    for (auto const& l : leaver.all("ran")) CHECK_MESSAGE(l.words.at(2) == "done", l.text); // it was not asked to stop
    CHECK(leaver.count("runs") == leaver.count("ran"));
    CHECK(leaver.count("left") == 1);
    all.wait_until_idle({&stayer});
    for (unsigned i = 0; i < items; ++i) CHECK(!all.read(at.item_running(i)));
    CHECK(all.children(at.election_latch()).empty());

    all.wait_for_runs(due + 2s, items);
    all.wait_until_idle({&stayer});
    all.check_complete(due, due + 2s, 2s, items);
    all.check_nothing_ran_twice();
    all.check_all_marked();
    all.check_no_trouble();
}

} // namespace

TEST_CASE("cluster: a process that gets a SIGTERM leaves in order") {
    check_leaving(
        "leaving", [](member& m) { m.terminate(); }, false);
}

TEST_CASE("cluster: a leader whose input ends leaves in order") {
    check_leaving(
        "leader-leaving", [](member& m) { m.close_input(); }, true);
}
