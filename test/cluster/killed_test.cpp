// SPDX-License-Identifier: Apache-2.0
// Killed processes. They lose their sessions 1.5 s after their last message, and the jobs fire every 3 s, so a dead
// process's items have new owners half way to the next due instant.
#include <cluster/cluster.hpp>
#include <support/sanitized.hpp>

#include <cstdlib>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr unsigned items = 6;

/// The steps after a session's end take a few requests; the rest is slack for a busy machine.
#ifdef ELASTICJOB_TEST_SANITIZED
constexpr auto fraction = 5s;
#else
constexpr auto fraction = 1s;
#endif

worker_options short_lived(job_config const& job, std::string server_ip = "10.0.0.1") {
    return {.jobs = {job},
            .session_timeout = 1500ms,
            .more = {"--look-at-marks", "1", "--server-ip", std::move(server_ip)}};
}

/// The dead process's node and marks are removed with its session, not before.
void check_still_there(cluster& all, job_layout const& at, member const& dead, std::vector<unsigned> const& running) {
    auto const instance = all.read(at.instances() / dead.id());
    REQUIRE(instance.has_value());
    CHECK(instance->stat.owner == dead.session());
    for (auto const i : running) {
        auto const mark = all.read(at.item_running(i));
        REQUIRE(mark.has_value());
        CHECK(mark->stat.owner == dead.session());
    }
}

} // namespace

TEST_CASE("cluster: a leader is killed while idle, and the others go on without it") {
    cluster all{common_server(), "killed-idle"};
    INFO(all.transcript());
    auto const job = every(3, items);
    job_layout const at{*job_name::parse(job.name)};
    auto const o = short_lived(job);
    auto& a = all.start("a", o);
    all.wait_for("a to lead", [&] { return a.leads(); });
    auto& b = all.start("b", o);
    auto& c = all.start("c", o);
    all.wait_until_shared(job, {&a, &b, &c});

    auto const due = all.wait_for_a_break(3s);
    all.wait_until_idle({&a, &b, &c});
    a.kill();
    check_still_there(all, at, a, {});
    all.wait_until_shared(job, {&b, &c});
    CHECK(b.leads() + c.leads() == 1);
    CHECK(!all.read(at.instances() / a.id()));
    auto const leader = all.read(at.leader_instance());
    REQUIRE(leader.has_value());
    CHECK(leader->data == (b.leads() ? b : c).id());

    all.wait_for_runs(due + 3s, items);
    all.wait_until_idle({&b, &c});
    all.check_complete(due + 3s, due + 3s, 3s, items);
    all.check_nothing_ran_twice();
    all.check_all_marked();
    all.check_no_trouble();
}

TEST_CASE("cluster: a process is killed while its items run, and the others run them at their next due instant") {
    cluster all{common_server(), "killed-running"};
    INFO(all.transcript());
    auto const job = every(3, items);
    job_layout const at{*job_name::parse(job.name)};
    auto& a = all.start("a", short_lived(job));
    all.wait_for("a to lead", [&] { return a.leads(); });
    auto& b = all.start("b", short_lived(job));
    auto& dead = all.start("dead", short_lived(job));
    all.wait_until_shared(job, {&a, &b, &dead});

    auto const due = all.wait_for_a_break(3s) + 3s;
    all.slow_down(dead);
    all.wait_for_runs(due, items);
    all.wait_until_idle({&a, &b});
    auto const orphans = dead.share();
    REQUIRE(orphans.size() == 2);
    dead.kill();
    check_still_there(all, at, dead, orphans);
    all.wait_until_shared(job, {&a, &b});
    CHECK(a.leads()); // no other process had to take over
    CHECK(a.count("leads-not") == 0);

    all.wait_for_runs(due + 3s, items);
    all.wait_until_idle({&a, &b});
    all.check_complete(due, due + 3s, 3s, items);
    all.check_nothing_ran_twice(); // without failover, the dead process's runs are not made up for
    all.check_all_marked();
    all.check_no_trouble();
}

TEST_CASE("cluster: the new owner of items that a dead process was running waits until its marks are gone") {
    cluster all{common_server(), "killed-disabled"};
    INFO(all.transcript());
    auto const job = every(2, items);
    job_layout const at{*job_name::parse(job.name)};
    auto o = short_lived(job);
    auto o_dead = short_lived(job, "10.0.0.9");
    o.session_timeout = 4s;
    o_dead.session_timeout = 4s;
    auto& a = all.start("a", o);
    all.wait_for("a to lead",
                 [&] { return a.leads(); }); // a dead leader's items would be reassigned only when its session ends
    auto& b = all.start("b", o);
    auto& dead = all.start("dead", o_dead);
    all.wait_until_shared(job, {&a, &b, &dead});

    // An operator disables its server, so that its items are given away at once, and then it dies while they run.
    auto const due = all.wait_for_a_break(2s) + 2s;
    all.slow_down(dead);
    all.wait_for_runs(due, items);
    auto const orphans = dead.share();
    REQUIRE(orphans.size() == 2);
    auto const disabled = all.ask(all.observer().set(at.server("10.0.0.9"), std::string{server_disabled}));
    REQUIRE(disabled.has_value());
    dead.kill();
    all.wait_until_shared(job, {&a, &b});
    check_still_there(all, at, dead, orphans);

    // At the next due instants they have another owner, and are still marked as running.
    auto const runs_of_orphans = [&] {
        std::map<unsigned, std::int64_t> began_at_us;
        for (auto const* m : {&a, &b})
            for (auto const& l : m->all("runs"))
                if (l.due_ms() > cluster::ms(due) && std::ranges::find(orphans, l.item()) != orphans.end())
                    began_at_us.emplace(l.item(), l.at_us);
        return began_at_us;
    };
    std::map<unsigned, std::int64_t> marked_until_us;
    all.wait_for("the marks to go", [&] {
        std::size_t gone = 0;
        for (auto const i : orphans) {
            auto const now = std::chrono::steady_clock::now().time_since_epoch(); // before the read
            auto const mark = all.read(at.item_running(i));
            if (mark && mark->stat.owner == dead.session())
                marked_until_us[i] = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
            else
                ++gone;
        }
        return gone == orphans.size();
    });
    CHECK(cluster::wall_clock::now() > due + 2s); // so they have been due in the meantime
    all.wait_for("the orphans to run", [&] { return runs_of_orphans().size() == orphans.size(); });
    for (auto const& [item, began_at_us] : runs_of_orphans())
        CHECK_MESSAGE(began_at_us > marked_until_us.at(item),
                      "item " << item << " began while the dead one's mark stood");
    all.wait_until_idle({&a, &b});
    all.check_nothing_ran_twice();
    all.check_all_marked();
}

TEST_CASE(
    "cluster: what a killed process was running is run again by the others, once, as soon as its session is over") {
    // Not a test of speed, because machines differ: it prints the time. ELASTICJOB_REPEAT=n measures it n times.
    auto const* repeat = std::getenv("ELASTICJOB_REPEAT");
    auto const repetitions = repeat ? std::max(1, std::atoi(repeat)) : 1;
    for (int n = 0; n < repetitions; ++n) {
        cluster all{common_server(), "failover-" + std::to_string(n)};
        INFO(all.transcript());
        auto job = never(items);
        job.failover = true;
        job_layout const at{*job_name::parse(job.name)};
        auto& a = all.start("a", short_lived(job));
        auto& b = all.start("b", short_lived(job));
        auto& dead = all.start("dead", short_lived(job));
        all.wait_until_shared(job, {&a, &b, &dead});
        all.slow_down(dead);
        REQUIRE(all.ask(all.observer().set(at.instances() / dead.id(), std::string{trigger_order})));
        all.wait_for("its runs to begin", [&] { return dead.count("runs") == 2; });
        auto const orphans = dead.all("runs");
        auto const killed_at = std::chrono::steady_clock::now();
        dead.kill();

        auto const made_up_for = [&] {
            std::vector<line> found;
            for (auto const* m : {&a, &b})
                for (auto const& l : m->all("runs"))
                    for (auto const& o : orphans)
                        if (l.item() == o.item() && l.due_ms() == o.due_ms()) found.push_back(l);
            return found;
        };
        all.wait_for("them to be run again", [&] { return made_up_for().size() >= orphans.size(); });
        all.wait_until_idle({&a, &b});
        auto const runs = made_up_for();
        CHECK(runs.size() == orphans.size());
        for (auto const& l : runs) {
            auto const span = std::chrono::microseconds{l.at_us} - killed_at.time_since_epoch();
            MESSAGE("from SIGKILL to the run elsewhere: "
                    << std::chrono::duration_cast<std::chrono::milliseconds>(span).count() << " ms, session time-out "
                    << 1500 << " ms");
            CHECK(span <= short_lived(job).session_timeout + std::chrono::milliseconds{quick().tick_ms} + fraction);
        }
        for (auto const* m : {&a, &b}) CHECK(m->count("fenced") == 0);
        all.check_all_marked();
    }
}

TEST_CASE("cluster: a process is killed while its runs wait for a retry, and the others retry them once") {
    cluster all{common_server(), "killed-retry"};
    INFO(all.transcript());
    auto const job = never(items);
    job_layout const at{*job_name::parse(job.name)};
    auto o = short_lived(job);
    o.more.insert(o.more.end(), {"--retry-ms", "4000"});
    auto& a = all.start("a", o);
    auto& b = all.start("b", o);
    auto& dead = all.start("dead", o);
    all.wait_until_shared(job, {&a, &b, &dead});
    REQUIRE(all.ask(all.observer().set(at.instances() / dead.id(), std::string{trigger_order})));
    all.wait_for("its runs to fail", [&] { return dead.count("failed") == 2; });
    auto const failed = dead.all("failed");
    all.wait_for("that to be on record", [&] { // or they were interrupted, and not failed
        return std::none_of(failed.begin(), failed.end(),
                            [&](line const& l) { return all.read(at.item_running(l.item())).has_value(); });
    });
    dead.kill();
    auto const tried_again = [&] {
        std::vector<line> found;
        for (auto const* m : {&a, &b})
            for (auto const& l : m->all("runs"))
                for (auto const& f : failed)
                    if (l.item() == f.item() && l.due_ms() == f.due_ms()) found.push_back(l);
        return found;
    };
    all.wait_for("them to be tried again", [&] { return tried_again().size() >= failed.size(); });
    all.wait_until_idle({&a, &b});
    auto const runs = tried_again();
    CHECK(runs.size() == failed.size());
    for (auto const& l : runs) CHECK(l.attempt() == 2);
    CHECK(a.count("failed") + b.count("failed") == 0);
    all.check_all_marked();
}
