// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_LINE_EVENTS_IPP
#define ELASTICJOB_IMPL_EVENTS_LINE_EVENTS_IPP

#include <elasticjob/events/line_events.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void miss_line() {
#if defined(__cpp_exceptions)
    throw std::system_error{errno, std::generic_category(), "a line of events could not be written"};
#endif
}

ELASTICJOB_DECL bool write_out(int descriptor, std::string_view& text) {
    while (!text.empty()) {
        auto const written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL void to_stream::operator()(std::string_view line) const {
    if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0) detail::miss_line();
}

ELASTICJOB_DECL void to_descriptor::operator()(std::string_view line) {
    std::string_view end = is_within_line ? "\n" : "";
    if (!detail::write_out(descriptor, end)) return detail::miss_line();
    auto const size = line.size();
    bool const is_written = detail::write_out(descriptor, line);
    is_within_line = !is_written && line.size() != size;
    if (!is_written) detail::miss_line();
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL void logfmt::name(std::string& line, std::string_view name) {
    if (!line.empty()) line += ' ';
    line.append(name) += '=';
}

ELASTICJOB_DECL void logfmt::text(std::string& line, std::string_view text) {
    auto const is_plain = [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\'; };
    bool plain = !text.empty();
    for (char const c : text) plain = plain && is_plain(c);
    if (plain) return void(line.append(text));
    line += '"';
    append_escaped(line, text);
    line += '"';
}

ELASTICJOB_DECL void json_line::name(std::string& line, std::string_view name) {
    if (line.size() > 1) line += ',';
    text(line, name);
    line += ':';
}

ELASTICJOB_DECL void json_line::text(std::string& line, std::string_view text) {
    line += '"';
    append_escaped(line, text);
    line += '"';
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EVENTS_LINE_EVENTS_IPP
