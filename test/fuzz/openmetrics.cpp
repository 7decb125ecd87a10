// SPDX-License-Identifier: Apache-2.0
// Texts from anywhere as labels and help of an exposition: it keeps its lines, is valid UTF-8, and the label can be
// read from it.
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/events/openmetrics.hpp>

#include "properties.hpp"

#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace elasticjob;
    auto const text = fuzz::text_of(data, size);
    openmetrics_writer writer;
    writer.family("f", "counter", text).sample("_total", {{"job", text}, {"more", "x"}}, 1);
    auto const all = writer.finish();
    fuzz::require(std::count(all.begin(), all.end(), '\n') == 4, "an exposition has no line too many");
    for (std::string_view rest = all; !rest.empty();) {
        auto const length = detail::utf8_length(rest);
        fuzz::require(length > 0, "an exposition is UTF-8");
        rest.remove_prefix(length);
    }
    std::string_view const before = "\nf_total{job=\"", behind = "\",more=\"x\"} 1\n# EOF\n";
    auto const begin = all.find(before);
    fuzz::require(begin != all.npos && all.ends_with(behind), "a sample is where it should be");
    std::string read, expected;
    for (auto i = begin + before.size(); i < all.size() - behind.size(); ++i) {
        fuzz::require(all[i] != '"' && all[i] != '\n', "what ends a label is escaped");
        bool const is_escaped = all[i] == '\\';
        if (is_escaped) ++i;
        read += is_escaped && all[i] == 'n' ? '\n' : all[i];
    }
    detail::for_each_character(text, [&](std::string_view character) { expected.append(character); });
    fuzz::require(read == expected, "a label can be read back");
    return 0;
}
