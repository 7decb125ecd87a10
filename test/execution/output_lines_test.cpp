// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/output_lines.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace elasticjob;

namespace {

using emitted = std::vector<std::pair<std::string, std::size_t>>;

/// The bytes in pieces of each size must give the same lines.
emitted cut(std::string_view bytes, std::size_t line_max, std::size_t budget_max) {
    emitted first;
    for (std::size_t piece = 1; piece <= bytes.size() + 1; ++piece) {
        emitted lines;
        auto const emit = [&](std::string_view text, std::size_t dropped) { lines.emplace_back(text, dropped); };
        auto budget = budget_max;
        detail::output_lines one{line_max, budget};
        for (std::size_t at = 0; at < bytes.size(); at += piece) one.feed(bytes.substr(at, piece), emit);
        one.finish(emit);
        if (piece == 1) first = lines;
        CHECK(lines == first);
    }
    return first;
}

} // namespace

TEST_CASE("execution.output_lines: the lines are the same, whatever pieces they come in") {
    CHECK(cut("", 10, 100) == emitted{});
    CHECK(cut("a\n\nbc", 10, 100) == emitted{{"a", 0}, {"", 0}, {"bc", 0}});
    CHECK(cut("a\n\n", 10, 100) == emitted{{"a", 0}, {"", 0}});
    CHECK(cut("\n", 10, 100) == emitted{{"", 0}});
}

TEST_CASE("execution.output_lines: surplus output is counted") {
    CHECK(cut("abcdef\nab\n", 3, 100) == emitted{{"abc", 3}, {"ab", 0}});
    CHECK(cut("abc\nabc\nabc\nab", 3, 6) == emitted{{"abc", 0}, {"ab", 1}, {"", 7}});
    CHECK(cut("abc\nabc", 3, 4) == emitted{{"abc", 0}, {"", 4}});
    CHECK(cut("abc", 0, 4) == emitted{{"", 3}});
    CHECK(cut("abc", 3, 0) == emitted{{"", 4}});
}

TEST_CASE("execution.output_lines: last words are short, printable, and begin with a whole line") {
    detail::last_words words;
    CHECK(words.text().empty());
    words.hear("one\ntw");
    words.hear("o\x1b[0m\xff\xe4\xba\xac\n");
    CHECK(words.text() == "one | two?[0m?\xe4\xba\xac");
    for (int n = 0; n < 10'000; ++n) words.hear("line " + std::to_string(n) + "\n");
    auto const text = words.text();
    CHECK(text.size() < 3'000);
    CHECK(text.starts_with("line 9"));
    CHECK(text.ends_with(" | line 9998 | line 9999"));

    detail::last_words endless;
    endless.hear(std::string(100'000, 'x'));
    CHECK(endless.text() == std::string(1'024, 'x'));
}
