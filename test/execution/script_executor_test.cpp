// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/script_executor.hpp>

#include <support/script_world.hpp>
#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

using lines = std::vector<std::string>;

std::size_t count_descriptors() {
    auto const all = std::filesystem::directory_iterator{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

bool has_children() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool contains(std::string const& text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("execution.script_executor: no process that another thread forks meanwhile holds up a start") {
    int held[2]{};
    REQUIRE(::pipe(held) == 0);
    std::vector<pid_t> strangers;
    {
        std::jthread const forking{[&](std::stop_token const& stop) {
            for (int n = 0; n < 50 && !stop.stop_requested(); ++n) {
                pid_t const id = ::fork(); // with copies of all descriptors
                if (id == 0) {
                    ::close(held[1]);
                    pollfd until_closed{held[0], POLLIN, 0};
                    ::poll(&until_closed, 1, 60'000);
                    ::_exit(0);
                }
                if (id > 0) strangers.push_back(id);
            }
        }};
        for (int n = 0; n < 10; ++n) {
            hand_made_run run{"true"};
            auto const outcome = run.with({.time_limit = 5s});
            CHECK_MESSAGE(outcome, to_string(outcome.error()));
        }
    }
    for (auto const id : strangers) CHECK(::waitpid(id, nullptr, WNOHANG) == 0); // no run has waited for its end
    ::close(held[1]);
    for (auto const id : strangers) CHECK(::waitpid(id, nullptr, 0) == id);
    ::close(held[0]);
}

TEST_CASE("execution.script_executor: arguments, environment, directory, and nothing on stdin") {
    script_directory d;
    auto const show = d.file("show", "#!/bin/sh\n"
                                     "for a; do echo \"<$a>\"; done\n"
                                     "cat && echo end\n"
                                     "pwd\n"
                                     "echo \"$MINE $ELASTICJOB_SHARDING_ITEM $ELASTICJOB_SHARDING_PARAMETER\" >&2\n"
                                     "test \"$3\" = \"$ELASTICJOB_SHARDING_CONTEXT\"\n");
    hand_made_run run{show + " 'b c' d"};
    auto const outcome = run.with({.working_directory = d.path(), .environment = {{"MINE", "yes"}}});
    CHECK_MESSAGE(outcome, to_string(outcome.error()));
    auto const json = std::string{R"({"jobName":"report","taskId":"fake_task_id","shardingTotalCount":4,)"} +
                      R"("jobParameter":"","shardingItem":3,"shardingParameter":"D"})";
    CHECK(run.out == lines{"<b c>", "<d>", "<" + json + ">", "end", d.path()});
    CHECK(run.err == lines{"yes 3 D"});

    hand_made_run as_java{show + " 'b c' ''"};
    CHECK(as_java.with({.quoting = argument_quoting::literal}));
    REQUIRE(as_java.out.size() > 2);
    CHECK(as_java.out[0] == R"(<"b c">)");
    CHECK(as_java.out[1] == "<>");
    CHECK(as_java.out[2] == "<" + json + ">");
}

TEST_CASE("execution.script_executor: a directory and variables that no program can be given are refused by name") {
    using namespace std::string_literals;
    auto const where = [](script_options o) {
        auto const outcome = hand_made_run{"true"}.with(std::move(o));
        CHECK(outcome.error() == errc::invalid_argument);
        return outcome.error().where;
    };
    CHECK(where({.working_directory = "/\0tmp"s}) == "working_directory");
    for (auto const& name : {""s, "A=B"s, "A\0"s})
        CHECK(where({.environment = {{name, "1"}}}) == "environment: " + name);
    CHECK(where({.environment = {{"FINE", "a=b"}, {"A", "1\0"s}}}) == "environment: A");
}

TEST_CASE("execution.script_executor: exit code 0 is success; any other, and any signal, is an error that says which") {
    CHECK(hand_made_run{"true"}.with());
    auto const code = hand_made_run{"sh -c 'echo one >&2; echo two >&2; exit 3'"}.with();
    CHECK(code.error() == errc::job_failed);
    CHECK(code.error().what == "'sh' left with exit code 3; it said: one | two");
    CHECK(code.error().where == "sh -c 'echo one >&2; echo two >&2; exit 3'");
    auto const killed = hand_made_run{"sh -c 'kill -SEGV $$'"}.with();
    CHECK(killed.error() == errc::job_failed);
    CHECK(contains(killed.error().what, "'sh' was ended by signal 11 (SIGSEGV)"));
}

TEST_CASE("execution.script_executor: parameters that are too large for the kernel are named with their sizes") {
    hand_made_run run{"true"};
    run.ctx.job_parameter = std::string(200'000, 'p');
    auto const outcome = run.with();
    REQUIRE(!outcome);
    CHECK(outcome.error() == errc::too_large);
    CHECK(contains(outcome.error().what, "its arguments and environment have "));
    CHECK(contains(outcome.error().what, "at most 131072 bytes for one"));
    CHECK(outcome.error().what.size() < 500);
}

TEST_CASE("execution.script_executor: a program that cannot be started is named, with the reason") {
    auto const why = [](std::string const& command_line, script_options options = {}) {
        auto const outcome = hand_made_run{command_line}.with(std::move(options));
        REQUIRE(!outcome);
        CHECK(outcome.error() == errc::job_failed);
        return outcome.error().what;
    };
    script_directory d;
    auto const locked = d.file("locked", "#!/bin/sh\n", 0600), bare = d.file("bare", "echo hello\n"),
               strange = d.file("strange", "#!/no/such/interpreter\n");
    CHECK(contains(why("no_such_program_anywhere a"),
                   "cannot run 'no_such_program_anywhere': no such program on the PATH"));
    CHECK(why("/no/such/file") == "cannot run '/no/such/file': No such file or directory");
    CHECK(why(locked) == "cannot run '" + locked + "': Permission denied");
    CHECK(why(d.path()) == "cannot run '" + d.path() + "': Permission denied");
    CHECK(contains(why(bare), "'" + bare + "': it is no program of this machine, and does not begin with #!"));
    CHECK(contains(why(strange), "'" + strange + "': the interpreter that its first line names is missing"));
    CHECK(contains(why("./strange", {.working_directory = d.path()}),
                   "'" + d.path() + "/./strange': the interpreter that its first line names is missing"));
    CHECK(why("bin/none", {.working_directory = d.path()}) ==
          "cannot run '" + d.path() + "/bin/none': No such file or directory");
    CHECK(why("true", {.working_directory = "/no/such"}) ==
          "cannot change to the working directory '/no/such': No such file or directory");

    hand_made_run empty{""};
    auto const outcome = empty.with();
    CHECK(outcome.error() == errc::invalid_config);
    CHECK(outcome.error().what == "Cannot find script command line for job 'report', job is not executed.");
    empty.ctx.config = nullptr;
    CHECK(empty.with().error() == errc::invalid_config);
    CHECK(hand_made_run{"a 'b"}.with().error().what == "Unbalanced quotes in a 'b");
    CHECK(!has_children());
}

TEST_CASE("execution.script_executor: a script that is asked to stop is told to end, and may") {
    hand_made_run run{"sh -c 'trap \"echo bye; exit 7\" TERM; echo ready; while :; do sleep 1000 & wait; done'"};
    auto const outcome = run.with({.grace = 1h}, [&](script_line const& line) {
        if (line.text == "ready") run.order.give(stop_reason::ordered);
    });
    CHECK(outcome.error() == errc::job_failed);
    CHECK(outcome.error().what == "'sh' left with exit code 7, after it had been asked to stop (ordered)");
    CHECK(run.out == lines{"ready", "bye"});

    hand_made_run content{"sh -c 'trap \"exit 0\" TERM; echo ready; while :; do sleep 1000 & wait; done'"};
    CHECK(content.with({.grace = 1h}, [&](script_line const&) { content.order.give(stop_reason::draining); }));

    hand_made_run late{"sh -c 'echo started'"};
    late.order.give(stop_reason::draining);
    CHECK(late.with().error().what == "not started: the run has been asked to stop (draining)");
    CHECK(late.out.empty());
}

TEST_CASE("execution.script_executor: asked to stop from another thread while nothing is written") {
    script_directory d;
    auto const begun = d.fifo("begun");
    hand_made_run run{"sh -c 'echo > " + begun + "; exec sleep 1000'"};
    std::jthread const operator_{[&] {
        detail::descriptor const said{::open(begun.c_str(), O_RDONLY | O_CLOEXEC)};
        char line = 0;
        while (::read(said.get(), &line, 1) > 0) continue; // a pipe that is closed earlier ends the script by SIGPIPE
        run.order.give(stop_reason::reassigned);
    }};
    auto const outcome = run.with({.grace = 1h});
    CHECK(outcome.error().what ==
          "'sh' was ended by signal 15 (SIGTERM), after it had been asked to stop (reassigned)");
}

TEST_CASE("execution.script_executor: a script that does not end within the grace is killed, with children and "
          "children's children") {
    script_directory d;
    life_sign const life{d};
    auto const stubborn = d.file("stubborn", "#!/bin/sh\n"
                                             "trap '' TERM\n"
                                             "exec 9>" +
                                                 life.path() +
                                                 "\n"
                                                 "(sh -c 'sleep 1000; echo no' & sleep 1000; echo no) &\n"
                                                 "echo ready\n"
                                                 "sleep 1000; sleep 1000; echo no\n");
    hand_made_run run{stubborn};
    auto const outcome = run.with({.grace = 100ms}, [&](script_line const& line) {
        if (line.text != "ready") return;
        CHECK(life.somebody_lives());
        run.order.give(stop_reason::ordered);
    });
    CHECK(life.all_are_gone());
    CHECK(contains(outcome.error().what, "signal 9 (SIGKILL), after it had been asked to stop (ordered)"));
    CHECK(run.out == lines{"ready"});
}

TEST_CASE("execution.script_executor: a limit of time, its own or the job's") {
    auto const outcome = hand_made_run{"sh -c 'exec sleep 1000'"}.with({.time_limit = 50ms, .grace = 1h});
    CHECK(outcome.error() == errc::timed_out);
    CHECK(outcome.error().what ==
          "'sh' was ended by signal 15 (SIGTERM), after it had been asked to stop (time_limit)");

    // It says 0, but it was not ready.
    hand_made_run run{"sh -c 'trap \"exit 0\" TERM; echo ready; while :; do sleep 1000 & wait; done'"};
    auto const by_the_job =
        run.with({.grace = 1h}, [&](script_line const&) { run.order.give(stop_reason::time_limit); });
    CHECK(by_the_job.error() == errc::timed_out);

    // One that is stopped hears it, too.
    CHECK(hand_made_run{"sh -c 'kill -STOP $$'"}.with({.time_limit = 50ms, .grace = 1h}).error() == errc::timed_out);

    // One that writes all the time does not keep us from looking at the clock.
    hand_made_run busy{"yes"};
    CHECK(busy.with({.time_limit = 50ms, .grace = 1h, .output_max = 100}).error() == errc::timed_out);
    CHECK(busy.dropped > 100);

    CHECK(hand_made_run{"true"}.with(
        {.time_limit = std::chrono::milliseconds::max(), .grace = std::chrono::milliseconds::max()}));
}

TEST_CASE("execution.script_executor: the time is limited although nobody reads the output that is forwarded") {
    hand_made_run run{"yes"};
    script forwarding{{.time_limit = 50ms, .grace = 1h}};
    std::string forwarded;
    auto const outcome = [&] {
        unread_stream pipe{STDOUT_FILENO};
        auto ended = ScriptExecutor{}(forwarding, run.ctx);
        (void)pipe.read_all();
        ForwardOutput{}(script_line{run.ctx, script_stream::out, "more", 7});
        forwarded = pipe.read_all();
        return ended;
    }();
    CHECK(outcome.error() == errc::timed_out);
    CHECK(forwarded.starts_with("elasticjob: lines missing here, because nobody read in time: "));
    CHECK(forwarded.ends_with("\nreport[3]: more [7 bytes dropped]\n"));
}

TEST_CASE("execution.script_executor: no child outlives the program, and the run waits for none") {
    script_directory d;
    life_sign const life{d};
    hand_made_run run{"sh -c 'exec 9>" + life.path() + "; (trap \"\" TERM; sleep 1000; sleep 1000) & echo left'"};
    CHECK(run.with());
    CHECK(life.all_are_gone());
    CHECK(run.out == lines{"left"});
}

TEST_CASE("execution.script_executor: a child that has closed the tie does not outlive the program either") {
    script_directory d;
    life_sign const life{d};
    auto const closes = d.file("closes", "#!/bin/bash\n"
                                         "exec 9>" +
                                             life.path() +
                                             "\n"
                                             "(exec 200<&-; trap '' TERM; exec sleep 1000) &\n"
                                             "echo left\n");
    hand_made_run run{closes};
    CHECK(run.with());
    CHECK(life.all_are_gone());
}

TEST_CASE("execution.script_executor: children are told to end, not their parent alone") {
    script_directory d;
    auto const family =
        d.file("family", "#!/bin/sh\n"
                         "trap 'wait; echo parent; exit 7' TERM\n"
                         "(trap 'echo child; exit 0' TERM; echo ready; while :; do sleep 1000 & wait; done) &\n"
                         "wait\n");
    hand_made_run run{family};
    auto const outcome = run.with({.grace = 10s}, [&](script_line const& line) {
        if (line.text == "ready") run.order.give(stop_reason::ordered);
    });
    CHECK(run.out == lines{"ready", "child", "parent"});
    CHECK(contains(outcome.error().what, "exit code 7"));
}

TEST_CASE("execution.script_executor: an exception of the handler ends the run") {
    script_directory d;
    life_sign const life{d};
    hand_made_run run{"sh -c 'exec 9>" + life.path() + "; echo line; sleep 1000; sleep 1000'"};
    auto const outcome = run.with({}, [](script_line const&) { throw std::runtime_error{"disk full"}; });
    CHECK(outcome.error() == errc::job_threw);
    CHECK(outcome.error().what == "disk full");
    CHECK(life.all_are_gone());
    CHECK(!has_children());
}

TEST_CASE("execution.script_executor: output is bounded, and read to its end all the same") {
    hand_made_run wide{"sh -c 'head -c 100000 /dev/zero | tr \"\\0\" x; echo; echo next'"};
    CHECK(wide.with({.line_max = 10}));
    CHECK(wide.out == lines{"xxxxxxxxxx", "next"});
    CHECK(wide.dropped == 100'000 - 10);

    hand_made_run much{"sh -c 'yes abcdefg | head -n 100000; echo why >&2; exit 1'"};
    auto const outcome = much.with({.output_max = 20});
    CHECK(much.out == lines{"abcdefg", "abcdefg", "abcd", ""});
    CHECK(much.dropped == 8 * 100'000 - 8 - 8 - 4 - 1 + 4);
    CHECK(much.err == lines{""});
    CHECK(contains(outcome.error().what, "it said: why")); // said, though the handler was not told
}

TEST_CASE(
    "execution.script_executor: the program has the descriptors that it should have, and signals as they were made") {
    int const open = ::open("/dev/null", O_RDONLY); // as others leave theirs: not closed by exec
    hand_made_run run{"sh -c 'ls /proc/$$/fd; true'"};
    CHECK(run.with());
    CHECK(run.out == lines{"0", "1", "2", "200"});
    ::close(open);

    auto* const before = std::signal(SIGPIPE, SIG_IGN);
    sigset_t term, mask;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, &mask);
    CHECK(contains(hand_made_run{"sh -c 'kill -PIPE $$'"}.with().error().what, "(SIGPIPE)"));
    CHECK(contains(hand_made_run{"sh -c 'kill -TERM $$'"}.with().error().what, "(SIGTERM)"));
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, &mask, &now);
    CHECK(sigismember(&now, SIGTERM) == 1);
    CHECK(sigismember(&now, SIGINT) == 0);
    std::signal(SIGPIPE, before);
}

TEST_CASE("execution.script_executor: the program holds the life line, and no other process does after it") {
    auto line = detail::make_pipe();
    REQUIRE(line);
    auto const is_held = [&] {
        pollfd end{.fd = line->read.get(), .events = POLLIN, .revents = 0};
        return ::poll(&end, 1, 0) == 0;
    };
    detail::life_line = line->write.get();
    hand_made_run run{"sh -c 'ls /proc/$$/fd; true'"};
    CHECK(run.with());
    detail::life_line = -1;
    CHECK(run.out == lines{"0", "1", "2", "200", "201"});
    CHECK(is_held()); // by this process
    line->write.close();
    CHECK(!is_held());
}

TEST_CASE("execution.script_executor: many runs, several at once, leave no zombie and no descriptor behind") {
    auto const before = count_descriptors();
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([] {
                for (int n = 0; n < 25; ++n) {
                    CHECK(hand_made_run{"true"}.with());
                    CHECK(!hand_made_run{"/no/such/file"}.with());
                    CHECK(!hand_made_run{"false"}.with());
                }
            });
    }
    CHECK(count_descriptors() == before);
    CHECK(!has_children());
}

TEST_CASE("execution.script_executor: if other code takes our exit codes away, the run gets an error, and no other "
          "process is killed") {
    auto* const before = std::signal(SIGCHLD, SIG_IGN);
    script_directory d;
    life_sign const life{d};
    auto const outcome = hand_made_run{"sh -c 'exec 9>" + life.path() + "; sleep 1000 & echo'"}.with();
    std::signal(SIGCHLD, before);
    INFO(outcome.error().what);
    CHECK(contains(outcome.error().what, "has ended, but somebody else in this process has taken its exit code"));
    CHECK(life.all_are_gone()); // by the tie
}

TEST_CASE("execution.script_executor: the death of the scheduler is the death of its scripts") {
    script_directory d;
    life_sign const life{d};
    auto const stubborn = d.file("stubborn", "#!/bin/sh\n"
                                             "trap '' TERM HUP\n"
                                             "exec 9>" +
                                                 life.path() +
                                                 "\n"
                                                 "(sleep 1000; sleep 1000) &\n"
                                                 "echo ready\n"
                                                 "sleep 1000; sleep 1000\n");
    auto const childless = d.file("childless", "#!/bin/bash\n" // the other shells know of nine descriptors only
                                               "exec 200<&- 9>" +
                                                   life.path() +
                                                   "\n"
                                                   "echo ready\n"
                                                   "exec sleep 1000\n");
    for (auto const& line : {stubborn, childless}) {
        CAPTURE(line);
        auto ready = detail::make_pipe();
        REQUIRE(ready);
        pid_t const scheduler = ::fork();
        if (scheduler == 0) {
            (void)hand_made_run{line}.with({}, [&](script_line const&) { (void)!::write(ready->write.get(), "r", 1); });
            ::_exit(0);
        }
        REQUIRE(scheduler > 0);
        ready->write.close();
        char c = 0;
        CHECK(::read(ready->read.get(), &c, 1) == 1);
        CHECK(life.somebody_lives());
        ::kill(scheduler, SIGKILL);
        CHECK(life.all_are_gone());
        ::waitpid(scheduler, nullptr, 0);
    }
}

TEST_CASE("execution.script_executor: a child that comes to life after its scheduler has died does not begin") {
    for (bool const is_alive : {true, false}) {
        auto tie = detail::make_pipe(), report = detail::make_pipe(), go = detail::make_pipe();
        REQUIRE(tie);
        REQUIRE(go);
        REQUIRE(report);
        char name[] = "true";
        char* const arguments[] = {name, nullptr};
        pid_t const child = ::fork();
        if (child == 0) {
            char c = 0;
            go->write.close();
            (void)!::read(go->read.get(), &c, 1); // until the parent has finished with the tie
            detail::become_program({.program = "/bin/true",
                                    .argv = arguments,
                                    .envp = environ,
                                    .directory = nullptr,
                                    .in = 0,
                                    .out = 1,
                                    .err = 2,
                                    .tie = tie->read.get(),
                                    .other_end = tie->write.get(),
                                    .line = -1,
                                    .report = report->write.get()});
        }
        REQUIRE(child > 0);
        if (!is_alive) tie->write.close();
        go->write.close();
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == (is_alive ? 0 : 127));
    }
}
