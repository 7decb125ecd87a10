// SPDX-License-Identifier: Apache-2.0
// Writes any text into a line of a log. The result is one line of valid UTF-8 without control characters. A reader of
// JSON gets the text back, and printable text stays as it is.
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/events/line_events.hpp>

#include "properties.hpp"

#include <rapidjson/encodedstream.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <string>

namespace {

using namespace elasticjob;

void check_line(std::string_view line) {
    while (!line.empty()) {
        auto const length = detail::utf8_length(line);
        fuzz::require(length > 0, "a line is UTF-8");
        fuzz::require(!detail::is_unfit_for_line(line.substr(0, length)), "nothing in a line is unfit for it");
        line.remove_prefix(length);
    }
}

/// The value of a string of JSON.
std::string read_json(std::string const& json) {
    struct handler : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, handler> {
        std::string text{"(none)"};
        bool Default() { return false; }
        bool String(char const* s, rapidjson::SizeType length, bool) {
            text.assign(s, length);
            return true;
        }
    } reading;
    rapidjson::MemoryStream bytes{json.data(), json.size()};
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> characters{bytes};
    bool const is_read =
        !rapidjson::Reader{}.Parse<rapidjson::kParseValidateEncodingFlag>(characters, reading).IsError();
    fuzz::require(is_read, "it is a string of JSON");
    return reading.text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const text = fuzz::text_of(data, size);
    std::string line;
    fuzz::require(detail::append_line_text(line, text), "without a limit, all of it is written");
    check_line(line);
    bool const is_printable = std::all_of(text.begin(), text.end(), [](char c) { return ' ' <= c && c < 0x7f; });
    if (is_printable) fuzz::require(line == text, "a text that is printable stays as it is");
    auto const shortened = detail::cut_short(text);
    check_line(shortened);
    fuzz::require(shortened.size() < 220, "what is cut short is short");
    fuzz::require(detail::in_quotes(text) == "'" + shortened + "'", "quotes stand around the same");

    std::string expected;
    detail::for_each_character(text, [&](std::string_view character) { expected.append(character); });
    line.clear();
    detail::json_line::text(line, text);
    check_line(line);
    fuzz::require(read_json(line) == expected, "JSON gives the text back");
    line.clear();
    detail::logfmt::text(line, text);
    check_line(line);
    bool const is_quoted = line.starts_with('"');
    fuzz::require(is_quoted || line.find_first_of(" =\"") == line.npos, "a word of logfmt has quotes, or needs none");
    return 0;
}
