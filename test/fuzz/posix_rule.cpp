// SPDX-License-Identifier: Apache-2.0
// Parses TZ rules of POSIX. A text of another form gives the documented error. A rule gives a zone that obeys all laws
// of zones, and that is the same as the zone of a TZif file without changes whose last line is that rule.
#include <elasticjob/cron/tzif_zone.hpp>

#include "properties.hpp"

#include <regex>
#include <string>

namespace {

std::string tzif_file(std::string_view rule, std::chrono::seconds offset) {
    auto const number = [](std::uint32_t n) {
        std::string bytes;
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift & 0xff);
        return bytes;
    };
    auto const none = number(0), one = number(1);
    auto const header = "TZif2" + std::string(15, '\0') + none + none + none + none + one + one;
    auto const type = number(static_cast<std::uint32_t>(offset.count())) + std::string(2, '\0') + std::string(1, '\0');
    return header + type + header + type + '\n' + std::string{rule} + '\n';
}

/// The form of RFC 8536, section 3.3, in other words than the library's.
bool has_the_form(std::string_view text) {
    static std::regex const form = [] {
        std::string const name = "([A-Za-z]{3,}|<[-+A-Za-z0-9]{3,}>)", sixty = "(:0*[1-5]?[0-9]){0,2}";
        auto const offset = "[-+]?0*(1?[0-9]|2[0-4])" + sixty;
        auto const time = "[-+]?0*([0-9]?[0-9]|1[0-5][0-9]|16[0-7])" + sixty;
        std::string const weekday = "M0*([1-9]|1[0-2])\\.0*[1-5]\\.0*[0-6]";
        std::string const day = "0*([0-9]?[0-9]|[12][0-9][0-9]|3[0-5][0-9]|36[0-5])", julian = "J(?!0*(,|/|$))" + day;
        auto const date = ",(" + weekday + "|" + day + "|" + julian + ")(/" + time + ")?";
        return std::regex{name + offset + "(" + name + "(" + offset + ")?" + date + date + ")?"};
    }();
    return std::regex_match(text.begin(), text.end(), form);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace elasticjob;
    auto const text = fuzz::text_of(data, size);
    auto const zone = TzifZone::parse_rule(text);
    // The library of regular expressions is recursive, and slow.
    if (text.size() <= 100)
        fuzz::require(zone.has_value() == has_the_form(text), "what has the form is accepted, and nothing else");
    if (!zone) {
        fuzz::require(zone.error() == errc::invalid_argument, "a text that is refused is an invalid argument");
        return 0;
    }
    fuzz::check(*zone);
    auto const in_a_file = TzifZone::parse(tzif_file(text, zone->at(fuzz::sys_seconds::min()).offset));
    fuzz::require(in_a_file && *in_a_file == *zone, "a rule means the same at the end of a file");
    return 0;
}
