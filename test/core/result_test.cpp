// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/result.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>

using namespace elasticjob;

namespace {

result<int> half(int n) {
    if (n % 2 != 0) return error{errc::invalid_argument, "must be even", std::to_string(n)};
    return n / 2;
}

result<void> demand_even(int n) {
    ELASTICJOB_CHECK(half(n));
    return success();
}

result<std::string> quarter(int n, int& passed) {
    ELASTICJOB_TRY(auto const once, half(n));
    ++passed;
    ELASTICJOB_TRY(auto const twice, half(once));
    ++passed;
    ELASTICJOB_CHECK(demand_even(2 * twice));
    return std::to_string(twice);
}

task<result<int>> half_later(int n) { co_return half(n); }
task<result<void>> check_later(int n) {
    ELASTICJOB_CO_CHECK(co_await half_later(n));
    co_return success();
}
task<result<std::string>> quarter_later(int n) {
    ELASTICJOB_CO_TRY(auto const once, co_await half_later(n));
    ELASTICJOB_CO_CHECK(co_await check_later(once));
    ELASTICJOB_CO_TRY(auto twice, co_await half_later(once));
    co_return std::to_string(twice);
}

} // namespace

TEST_CASE("core.result: holds a value") {
    result<int> const r = half(4);
    REQUIRE(r);
    CHECK(r.has_value());
    CHECK(*r == 2);
    CHECK(r.value() == 2);
    result<std::string> text = std::string{"abc"};
    CHECK(text->size() == 3);
    *text += "d";
    CHECK(std::move(text).value() == "abcd");
}

TEST_CASE("core.result: holds an error") {
    auto const r = half(3);
    REQUIRE(!r);
    CHECK(r.has_error());
    CHECK(r.error() == errc::invalid_argument);
    CHECK(r.error().where == "3");
}

TEST_CASE("core.result: value() of a failure throws the failure's text, error() of a success its own") {
    CHECK_THROWS_WITH_AS((void)half(3).value(), "invalid_argument: must be even (3)", std::runtime_error);
    CHECK_THROWS_AS((void)half(4).error(), std::runtime_error);
    CHECK_THROWS_AS(demand_even(3).value(), std::runtime_error);
    CHECK_NOTHROW(demand_even(4).value());
}

TEST_CASE("core.result: moves move-only values") {
    auto make = []() -> result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
    auto take = [&]() -> result<int> {
        ELASTICJOB_TRY(auto const p, make());
        return *p;
    };
    CHECK(take().value() == 5);
    auto owner = *make();
    CHECK(*owner == 5);
}

TEST_CASE("core.result: TRY and CHECK leave a function with the first error") {
    int passed = 0;
    CHECK(quarter(8, passed).value() == "2");
    CHECK(passed == 2);
    passed = 0;
    CHECK(quarter(6, passed).error() == error{errc::invalid_argument, "must be even", "3"});
    CHECK(passed == 1);
    CHECK(demand_even(1).error() == errc::invalid_argument);
    CHECK(demand_even(2));
}

TEST_CASE("core.result: CO_TRY and CO_CHECK leave a coroutine with the first error") {
    virtual_loop loop;
    CHECK(block_on(loop, quarter_later(8)).value() == "2");
    CHECK(block_on(loop, quarter_later(6)).error() == error{errc::invalid_argument, "must be even", "3"});
    CHECK(block_on(loop, quarter_later(1)).error().where == "1");
    CHECK(block_on(loop, check_later(2)));
}
