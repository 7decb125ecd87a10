// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/command_line.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;

namespace {

using words = std::vector<std::string>;

/// Program and arguments, or one word that is the error's text.
words parse(std::string_view text, argument_quoting quoting = argument_quoting::as_parsed) {
    auto const parsed = parse_command_line(text, quoting);
    if (!parsed) return {parsed.error().what};
    words all{parsed->program};
    all.insert(all.end(), parsed->arguments.begin(), parsed->arguments.end());
    return all;
}

} // namespace

TEST_CASE("execution.command_line: words, quotes and blanks") {
    struct vector {
        std::string_view text;
        words parsed;
        words literal;
    };
    vector const vectors[] = {
        {"a b  c", {"a", "b", "c"}, {"a", "b", "c"}},
        {"  a ", {"a"}, {"a"}},
        {R"(a "b c")", {"a", "b c"}, {"a", R"("b c")"}},
        {R"(a 'it"s')", {"a", R"(it"s)"}, {"a", R"('it"s')"}},
        {R"(a "x'y")", {"a", "x'y"}, {"a", R"("x'y")"}},
        {"a \"x\ty\"", {"a", "x\ty"}, {"a", "x\ty"}},
        {"a x\ty\nz", {"a", "x\ty\nz"}, {"a", "x\ty\nz"}},
        {"a ''", {"a", ""}, {"a", ""}},
        {"a '' b", {"a", "", "b"}, {"a", "", "b"}},
        {"a '''' b", {"a", "", "b"}, {"a", "", "b"}},
        {"a ''b", {"a", "b"}, {"a", "b"}},
        {"a b''", {"a", "b"}, {"a", "b"}},
        {R"(a pre"b c"post)", {"a", "preb cpost"}, {"a", R"("preb cpost")"}},
        {R"(a "' b '")", {"a", "' b '"}, {"a", R"(" b ")"}},
        {R"(a " b ")", {"a", " b "}, {"a", "b"}},
        {R"(a b\ c)", {"a", R"(b\)", "c"}, {"a", R"(b\)", "c"}},
        {"a ${b} $c *", {"a", "${b}", "$c", "*"}, {"a", "${b}", "$c", "*"}},
        {R"("my prog" x)", {"my prog", "x"}, {"my prog", "x"}},
        {R"(C:\bin\a /b\c)", {"C:/bin/a", R"(/b\c)"}, {"C:/bin/a", R"(/b\c)"}},
        {"a \xe4\xba\xac", {"a", "\xe4\xba\xac"}, {"a", "\xe4\xba\xac"}},
    };
    for (auto const& v : vectors) {
        CAPTURE(v.text);
        CHECK(parse(v.text) == v.parsed);
        CHECK(parse(v.text, argument_quoting::literal) == v.literal);
    }
}

TEST_CASE("execution.command_line: an invalid command line is refused with the words of 2.1.5") {
    for (auto const* blank : {"", " ", " \t\n"}) CHECK(parse(blank) == words{"Command line can not be empty"});
    CHECK(parse("'' x") == words{"Executable can not be empty"});
    CHECK(parse("' ' x") == words{"Executable can not be empty"});
    CHECK(parse(R"(a "b)") == words{R"(Unbalanced quotes in a "b)"});
    CHECK(parse("a 'b") == words{"Unbalanced quotes in a 'b"});
    CHECK(parse_command_line("a 'b").error() == errc::invalid_config);

    // Where the quotes do not arrive, nothing speaks against two kinds of them.
    auto const both = R"(a x"'"y'"'z)";
    CHECK(parse(both) == words{"a", R"(x'y"z)"});
    CHECK(parse(both, argument_quoting::literal).front().starts_with("Can't handle single and double quotes in same argument"));
}
