// SPDX-License-Identifier: Apache-2.0
// Processes that die under a guardian. Their sessions last for a minute, which no test waits for: a session that ends
// earlier has been ended by the guardian. To check that a guardian does nothing, a test kills another process
// afterwards: that session ends, and the first one still exists.
#include <cluster/guardian_watch.hpp>

#include <elasticjob/registry/session_guardian.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

worker_options guarded(std::vector<job_config> jobs, std::chrono::milliseconds session_timeout = 60s) {
    return {.jobs = std::move(jobs), .session_timeout = session_timeout, .body = 60s, .more = {"--guardian", "1"}};
}

/// One test's workers, each in its own job.
struct guarded_cluster : cluster {
    explicit guarded_cluster(std::string name) : cluster{common_server(), std::move(name)} {}

    member& join(std::string const& name, worker_options o) {
        o.jobs = {never(1, name)};
        auto& m = start(name, std::move(o));
        wait_for("it to join", [&] { return m.has("ready"); });
        return m;
    }
    member& join(std::string const& name, std::chrono::milliseconds session_timeout = 60s) {
        return join(name, guarded({}, session_timeout));
    }

    bool is_registered(member const& m) {
        job_layout const at{*job_name::parse(m.name())};
        auto const n = read(at.instances() / m.id());
        return n && n->stat.owner == m.session();
    }
    void wait_until_gone(member const& m, std::chrono::milliseconds limit = 20s) {
        wait_for(
            "its session to end", [&] { return !is_registered(m); }, limit);
    }

    /// Time enough for a guardian to do what it should not: as much as another one needs.
    void let_guardians_work() {
        auto& other = join("other" + std::to_string(++others_));
        other.kill();
        wait_until_gone(other);
    }

private:
    int others_ = 0;
};

} // namespace

TEST_CASE("cluster: with a guardian, the items of a killed process run elsewhere long before its session times out") {
    cluster all{common_server(), "guardian-killed"};
    INFO(all.transcript());
    auto job = never(2);
    job.failover = true;
    job_layout const at{*job_name::parse(job.name)};
    auto& dead = all.start("dead", guarded({job}));
    all.wait_for("it to lead", [&] { return dead.leads(); });
    auto& heir = all.start("heir", guarded({job}));
    all.wait_until_shared(job, {&dead, &heir});
    REQUIRE(all.ask(all.observer().set(at.orders(), "")));
    all.wait_for("both to run", [&] { return dead.has("runs") && heir.has("runs"); });
    auto const lost = dead.all("runs").front();
    ended_process const guardian{find_guardian(dead.pid())};
    dead.kill();
    all.wait_for("the heir to run it", [&] { return heir.count("runs") == 2; });
    auto const again = heir.all("runs").back();
    CHECK(again.item() == lost.item());
    CHECK(again.due_ms() == lost.due_ms());
    CHECK(again.attempt() == 2);
    CHECK(again.token() > lost.token());
    CHECK(guardian.within(20s));
}

TEST_CASE("cluster: a guardian ends the session of a process that dies by abort, by _exit, and out of memory") {
    guarded_cluster all{"guardian-deaths"};
    INFO(all.transcript());
    for (std::string const how : {"abort", "_exit", "starve"}) {
        CAPTURE(how);
        auto& m = all.join(how);
        ended_process const guardian{find_guardian(m.pid())};
        m.expect_death();
        m.tell(how);
        all.wait_until_gone(m);
        CHECK(m.has_ended());
        CHECK(guardian.within(20s));
    }
}

TEST_CASE("cluster: a guardian does not act if its process is stopped, or if only its first thread has ended") {
    guarded_cluster all{"guardian-living"};
    INFO(all.transcript());
    auto& stopped = all.join("stopped");
    auto& half_dead = all.join("half-dead");
    stopped.freeze();
    half_dead.expect_death(); // waitpid reports it only after the last thread has ended
    half_dead.tell("end-main-thread");
    all.wait_for("its first thread to end", [&] { return is_zombie(half_dead.pid()); });
    all.let_guardians_work();
    CHECK(all.is_registered(stopped));
    CHECK(all.is_registered(half_dead));
    stopped.thaw();
    stopped.set_body(1ms);
    all.wait_for("it to go on", [&] { return stopped.has("takes"); });
    CHECK(all.is_registered(stopped));

    stopped.freeze();
    stopped.kill();
    half_dead.kill();
    all.wait_until_gone(stopped);
    all.wait_until_gone(half_dead);
}

TEST_CASE("cluster: a process does not notice that its guardian has been killed, unless it asks") {
    guarded_cluster all{"guardian-dead"};
    INFO(all.transcript());
    auto const job = never(1);
    job_layout const at{*job_name::parse(job.name)};
    auto& m = all.start("worker", guarded({job}, 10s));
    all.wait_for("it to lead", [&] { return m.leads(); });
    m.tell("guarded?");
    all.wait_for("it to answer", [&] { return m.has("guarded"); });
    CHECK(m.all("guarded").back().words.front() == "yes");

    kill_and_wait(find_guardian(m.pid()));
    m.set_body(1ms);
    m.tell("guarded?");
    all.wait_for("it to answer", [&] { return m.count("guarded") == 2; });
    CHECK(m.all("guarded").back().words.front() == "no");

    // It opens the next session and continues.
    session_thief::end_session(common_server().port(), m.session());
    all.wait_for("the next session", [&] { return m.count("joined") == 2; });
    all.wait_until_shared(job, {&m});
    REQUIRE(all.ask(all.observer().set(at.orders(), "")));
    all.wait_for("a run", [&] { return m.has("ran"); });
    m.terminate();
    all.wait_for("it to leave", [&] { return m.has_ended(); });
    CHECK(m.exit_code() == 0);
}

TEST_CASE("cluster: when guardian and process are killed together, the session lasts until its time-out") {
    guarded_cluster all{"guardian-both"};
    INFO(all.transcript());
    auto& m = all.join("both", 5s);
    auto const guardian = find_guardian(m.pid());
    auto const killed = std::chrono::steady_clock::now();
    kill_and_wait(guardian);
    m.kill();
    all.wait_until_gone(m);
    // Its last message was a ping, at most a third of the time-out ago.
    CHECK(std::chrono::steady_clock::now() - killed > 5s / 2);
}

TEST_CASE("cluster: a guardian ends with a process that ends in order") {
    guarded_cluster all{"guardian-order"};
    INFO(all.transcript());
    auto& m = all.join("orderly");
    ended_process const guardian{find_guardian(m.pid())};
    m.terminate();
    all.wait_for("it to end", [&] { return m.has_ended(); });
    CHECK(m.exit_code() == 0);
    CHECK(guardian.within(20s));
    CHECK(!all.is_registered(m));
}

TEST_CASE("cluster: a guardian has no descriptors of its process, no terminal, and ignores signals") {
    guarded_cluster all{"guardian-process"};
    INFO(all.transcript());
    auto& m = all.join("worker");
    auto const guardian = find_guardian(m.pid());
    CHECK(count_descriptors(guardian) == 6);
    CHECK(::getsid(guardian) != ::getsid(m.pid()));
    for (int const s : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGPIPE, SIGUSR1}) ::kill(guardian, s);
    m.kill();
    all.wait_until_gone(m);
}

TEST_CASE("cluster: a guardian ends all sessions of its process, later ones included") {
    guarded_cluster all{"guardian-many"};
    INFO(all.transcript());
    // Within 20 s it notices that its session is over. The servers would end the sessions after 6.7 s at the earliest.
    auto o = guarded({}, 10s);
    constexpr auto soon = 5s;
    o.more.insert(o.more.end(), {"--idle-sessions", "5"});
    auto& m = all.join("many", std::move(o));
    auto const idle = [&] { return all.children(at("/")).size() - 1; };
    REQUIRE(idle() == 5);
    session_thief::end_session(common_server().port(), m.session());
    all.wait_for("the next session", [&] { return m.count("joined") == 2; });
    m.kill();
    all.wait_for(
        "all nodes to vanish", [&] { return idle() == 0; }, soon);
    all.wait_until_gone(m, soon);
}

TEST_CASE("cluster: a guardian authenticates itself to a server that requires it") {
    auto o = quick();
    o.insists_on_digest = true;
    zk_server server{o};
    cluster all{server, "guardian-digest", "user:password"};
    INFO(all.transcript());
    auto workers = guarded({never(1)});
    workers.more.insert(workers.more.end(), {"--digest", "user:password"});
    auto& m = all.start("worker", std::move(workers));
    all.wait_for("it to join", [&] { return m.has("ready"); });
    job_layout const at{*job_name::parse(never(1).name)};
    REQUIRE(all.children(at.instances()).size() == 1);
    m.kill();
    all.wait_for("its session to end", [&] { return all.children(at.instances()).empty(); });
}

TEST_CASE("cluster: a guardian waits for the programs that work for its process, and for no others") {
    guarded_cluster all{"guardian-programs"};
    INFO(all.transcript());
    auto start_program = [&](member& m, char const* order) {
        m.tell(order);
        all.wait_for("the program to start", [&] { return m.has("starts"); });
        return static_cast<pid_t>(std::stoi(m.all("starts").back().words.front()));
    };
    auto& employer = all.join("employer");
    auto const works = start_program(employer, "start-worker");
    employer.kill();
    all.let_guardians_work();
    CHECK(all.is_registered(employer));
    ::kill(works, SIGKILL);
    all.wait_until_gone(employer);

    auto& starter = all.join("starter");
    auto const lives = start_program(starter, "start-program");
    starter.kill();
    all.wait_until_gone(starter);
    CHECK(::kill(lives, 0) == 0);
    ::kill(lives, SIGKILL);
}

TEST_CASE("cluster: a process that becomes another program is not dead; its guardian gives up after the time-out") {
    guarded_cluster all{"guardian-exec"};
    INFO(all.transcript());
    auto& m = all.join("exec");
    m.tell("exec");
    all.wait_for("the other program", [&] { return command_of(m.pid()) == "sleep"; });
    all.let_guardians_work();
    CHECK(all.is_registered(m));
    m.kill();
    all.wait_until_gone(m);

    auto& brief = all.join("brief", 1s);
    ended_process const guardian{find_guardian(brief.pid())};
    brief.tell("exec");
    all.wait_until_gone(brief); // by the servers
    CHECK(guardian.within(20s));
    CHECK(!brief.has_ended());
}

TEST_CASE("cluster: a guardian tries the other servers if one does not answer") {
    guarded_cluster all{"guardian-servers"};
    INFO(all.transcript());
    // Nothing listens at port 1; libzookeeper shuffles the servers.
    cluster some{"127.0.0.1:1,127.0.0.1:1," + common_server().endpoint() + ",127.0.0.1:1", "guardian-servers"};
    // Guardians begin at the server that the session's id names, and the ids follow each other.
    for (std::string const name : {"one", "two"}) {
        auto& m = some.start(name, guarded({never(1, name)}));
        some.wait_for("it to join", [&] { return m.has("ready"); });
        CHECK(all.is_registered(m));
        m.kill();
        all.wait_until_gone(m);
    }
}

TEST_CASE("cluster: a guardian in a PID namespace, and one whose process is the first of its namespace") {
    guarded_cluster all{"guardian-namespace"};
    INFO(all.transcript());
    if (std::system("unshare --pid --fork true 2>/dev/null") != 0) {
        MESSAGE("SKIPPED: this user may not make a PID namespace");
        return;
    }
    // The entry point of docs/failover.md is the first process of the namespace.
    auto o = guarded({});
    o.under = {"unshare",
               "--pid",
               "--fork",
               "sh",
               "-c",
               "trap 'kill -TERM \"$job\"' TERM INT; exec 3<&0; \"$@\" <&3 & job=$!; "
               "while kill -0 \"$job\" 2>/dev/null; do wait \"$job\"; status=$?; done; sleep 1; exit \"$status\"",
               "-"};
    auto& outside = all.join("second", o);
    auto const second = only_child(only_child(outside.pid())); // unshare, shell, worker
    all.let_guardians_work();
    CHECK(all.is_registered(outside));
    outside.expect_death();
    ::kill(second, SIGKILL);
    all.wait_until_gone(outside);

    // When the first process dies, the kernel kills the guardian too.
    o.under = {"unshare", "--pid", "--fork"};
    o.session_timeout = 5s;
    auto& first = all.join("first", o);
    auto const worker = only_child(first.pid());
    ended_process const guardian{find_guardian(worker)};
    auto const killed = std::chrono::steady_clock::now();
    first.expect_death();
    ::kill(worker, SIGKILL);
    all.wait_until_gone(first);
    CHECK(guardian.within(20s));
    CHECK(std::chrono::steady_clock::now() - killed > 5s / 2);
}

TEST_CASE("cluster: a guardian is refused once there are threads") {
    (void)common_server();
    std::jthread const other{[](std::stop_token s) {
        while (!s.stop_requested()) ::poll(nullptr, 0, 1);
    }};
    auto const refused = SessionGuardian::start();
    REQUIRE(!refused);
    CHECK(refused.error() == errc::wrong_thread);
}
