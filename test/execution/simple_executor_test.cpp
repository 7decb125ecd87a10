// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/simple_executor.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace elasticjob;

namespace {

template <class Body>
result<void> call(Body body) {
    sharding_context ctx;
    ctx.item = 3;
    return SimpleExecutor{}(body, ctx);
}

struct no_body {
    int operator()(sharding_context const&) const { return 0; }
};

} // namespace

TEST_CASE("execution.simple_executor: a body takes the context or nothing, and returns nothing or a result") {
    int calls = 0;
    CHECK(call([&] { ++calls; }));
    CHECK(call([&](sharding_context const& c) { calls += static_cast<int>(c.item); }));
    CHECK(call([&]() -> result<void> { return success(); }));
    CHECK(calls == 4);
    CHECK(call([](sharding_context const&) -> result<void> { return error{errc::job_failed, "no"}; }).error().what == "no");
    static_assert(!simple_body<no_body>);
    static_assert(!simple_body<int>);
}

TEST_CASE("execution.simple_executor: an exception of a body is an error with its text") {
    auto const known = call([] { throw std::runtime_error{"out of paper"}; });
    CHECK(known.error() == errc::job_threw);
    CHECK(known.error().what == "out of paper");
    CHECK(call([] { throw 42; }).error() == errc::job_threw);
}
