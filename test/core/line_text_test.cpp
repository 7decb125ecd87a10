// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/line_text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace elasticjob::detail;
using namespace std::literals;

static_assert(utf8_length("") == 0);
static_assert(utf8_length("a") == 1);
static_assert(utf8_length("\xc3\xa9") == 2);
static_assert(utf8_length("\xe5\x8c\x97\xe4\xba\xac") == 3);
static_assert(utf8_length("\xed\x9f\xbf") == 3);
static_assert(utf8_length("\xf0\x9f\x98\x80") == 4);
static_assert(utf8_length("\xf4\x8f\xbf\xbf") == 4);
static_assert(utf8_length("\x80") == 0, "a byte that only continues");
static_assert(utf8_length("\xc0\x80") == 0, "an overlong NUL");
static_assert(utf8_length("\xe0\x9f\xbf") == 0, "overlong");
static_assert(utf8_length("\xf0\x8f\xbf\xbf") == 0, "overlong");
static_assert(utf8_length("\xed\xa0\x80") == 0, "a surrogate");
static_assert(utf8_length("\xf4\x90\x80\x80") == 0, "beyond the last character");
static_assert(utf8_length("\xc3") == 0 && utf8_length("\xe5\x8c") == 0 && utf8_length("\xf0\x9f\x98") == 0, "cut off");
static_assert(utf8_length("\xe5\x8cx") == 0 && utf8_length("\xf0\x9f\x98x") == 0, "not continued");

TEST_CASE("core.line_text: a quoted text fits on one line of a log") {
    CHECK(in_quotes("0=\xe5\x8c\x97") == "'0=\xe5\x8c\x97'");
    CHECK(in_quotes("a\nb\xff\x7f"s) == "'a\\x0ab\\xff\\x7f'");
    CHECK(in_quotes("\0"sv) == "'\\x00'");
    CHECK(in_quotes("\xc2\x85\xe2\x80\xae"sv) == "'\\u0085\\u202e'");
    CHECK(cut_short("a b\n") == "a b\\x0a");
    auto const line = in_quotes(std::string(100'000, 'x'));
    CHECK(line.size() < 300);
    CHECK(line.ends_with("x...'"));
}
