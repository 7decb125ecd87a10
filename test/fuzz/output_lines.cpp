// SPDX-License-Identifier: Apache-2.0
// What a program writes, in pieces of any size: every byte is emitted, or counted as dropped; lines and all have
// limits; and the last words fit on one line of a log.
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/output_lines.hpp>

#include "properties.hpp"

#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace elasticjob;
    auto text = fuzz::text_of(data, size);
    if (text.size() < 3) return 0;
    auto const number = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(text[i])}; };
    std::size_t const line_max = number(0) + 1, budget_max = 4 * number(1), piece = number(2) + 1;
    text.remove_prefix(3);

    auto budget = budget_max;
    detail::output_lines lines{line_max, budget};
    detail::last_words words;
    std::size_t emitted = 0, dropped = 0;
    auto const emit = [&](std::string_view line, std::size_t lost) {
        fuzz::require(line.size() <= line_max && line.find('\n') == line.npos, "a line is one, and not too long");
        emitted += line.size();
        dropped += lost;
    };
    for (std::size_t at = 0; at < text.size(); at += piece) {
        lines.feed(text.substr(at, piece), emit);
        words.hear(text.substr(at, piece));
    }
    lines.finish(emit);
    auto const ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    fuzz::require(emitted <= budget_max, "no more is emitted than the budget allows");
    fuzz::require(emitted + dropped >= text.size() - ends && emitted + dropped <= text.size() + 1,
                  "every byte is emitted or counted");
    auto const said = words.text();
    fuzz::require(said.size() <= 4 * 1'024, "last words are short");
    for (std::string_view rest = said; !rest.empty();) {
        auto const length = detail::utf8_length(rest);
        fuzz::require(length > 0 && !detail::is_unfit_for_line(rest.substr(0, length)), "last words fit on a line");
        rest.remove_prefix(length);
    }
    return 0;
}
