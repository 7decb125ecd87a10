// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/error_handlers.hpp>

#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>

using namespace elasticjob;
using test::written_by;

namespace {

failed_run some_run(errc code = errc::job_failed) {
    failed_run run;
    run.job = "settle";
    run.item = 3;
    run.instance = instance_id::parse("10.0.0.1@-@7").value();
    run.failure = {code, "out of paper", "tray 2"};
    return run;
}

/// Says its letter, then answers.
struct speaker {
    std::string& said;
    char letter;
    error_verdict verdict = error_verdict::go_on;
    error_verdict operator()(failed_run const&) {
        said += letter;
        return verdict;
    }
};

using enum error_verdict;

// A type that does not fit is no handler.
struct gives_number {
    int operator()(failed_run const&) const { return 1; }
};
static_assert(!error_handler<gives_number> && !error_handler<int>);
static_assert(detail::is_error_handlers<ErrorHandlers<>> && !detail::is_error_handlers<LogErrors>);
static_assert(!ErrorHandlers<>::are_there && ErrorHandlers<StopJob>::are_there);

} // namespace

TEST_CASE("execution.error_handlers: handlers are asked in order, until one ends the sequence") {
    std::string said;
    ErrorHandlers all{speaker{said, 'a'}, speaker{said, 'b', ends_here}, speaker{said, 'c', stop_job}};
    auto const answer = all(some_run());
    CHECK(said == "ab");
    CHECK_FALSE(answer.stops_job);
    CHECK(answer.trouble);
}

TEST_CASE("execution.error_handlers: a handler that stops the job and the other handlers all receive the failure") {
    std::string said;
    ErrorHandlers all{StopJob{}, speaker{said, 'a'}, speaker{said, 'b', ends_here}};
    CHECK(all(some_run()).stops_job);
    CHECK(said == "ab");
    ErrorHandlers last{speaker{said, 'c'}, StopJob{}};
    CHECK(last(some_run()).stops_job);
}

TEST_CASE("execution.error_handlers: each handler that fails is reported, and the others are asked all the same") {
    std::string said;
    ErrorHandlers all{
        [](failed_run const&) { throw std::runtime_error{"no line"}; },
        [&](failed_run const&) -> result<void> {
            return error{errc::unreachable, "nobody there"};
        },
        [&](failed_run const& run) -> result<error_verdict> {
            said += run.failure.where;
            return stop_job;
        },
        speaker{said, 'z'},
    };
    auto const answer = all(some_run());
    REQUIRE_FALSE(answer.trouble);
    CHECK(answer.trouble.error() == errc::job_threw);
    CHECK(answer.trouble.error().what == "no line; then unreachable: nobody there");
    CHECK(answer.stops_job);
    CHECK(said == "tray 2z");

    ErrorHandlers second{[](failed_run const&) {},
                         [](failed_run const&) -> result<error_verdict> {
                             return error{errc::timed_out, "too slow"};
                         }};
    auto const trouble = second(some_run()).trouble;
    REQUIRE_FALSE(trouble);
    CHECK(trouble.error() == errc::timed_out);
}

TEST_CASE("execution.error_handlers: a run may be kept") {
    std::optional<failed_run> kept;
    ErrorHandlers all{[&](failed_run const& run) { kept = run; }};
    {
        auto const run = some_run();
        CHECK(all(run).trouble);
    }
    REQUIRE(kept);
    CHECK(kept->job == "settle");
    CHECK(kept->failure == error{errc::job_failed, "out of paper", "tray 2"});
}

TEST_CASE("execution.error_handlers: IgnoreErrors hides the errors that it picks from the handlers behind it") {
    std::string said;
    ErrorHandlers all{speaker{said, 'a'}, IgnoreErrors{}, speaker{said, 'b'}};
    (void)all(some_run());
    CHECK(said == "a");
    said.clear();
    ErrorHandlers some{IgnoreErrors{[](failed_run const& run) { return run.failure == errc::timed_out; }},
                       speaker{said, 'c', stop_job}};
    CHECK_FALSE(some(some_run(errc::timed_out)).stops_job);
    CHECK(said.empty());
    CHECK(some(some_run(errc::job_failed)).stops_job);
    CHECK(said == "c");
}

TEST_CASE("execution.error_handlers: LogErrors writes what LogEvents would") {
    CHECK(written_by([] { LogErrors{}(some_run(errc::job_threw)); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: item 3 failed: job_threw: out of paper (tray 2)\n");
}
