// SPDX-License-Identifier: Apache-2.0
/// \file \brief Sinks that write one line with all fields for each event.
#ifndef ELASTICJOB_EVENTS_LINE_EVENTS_HPP
#define ELASTICJOB_EVENTS_LINE_EVENTS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/events/fields.hpp>
#include <elasticjob/events/text_forms.hpp>

#include <cerrno>
#include <chrono>
#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h> // write
#include <utility>
#include <vector>

namespace elasticjob {

/// The destination of lines. Called with each line, including its `\n`. It may throw, but a sink must not: see Sinks
/// and Queued.
template <class O>
concept line_output = std::move_constructible<O> && std::invocable<O&, std::string_view>;

namespace detail {

/// Throws std::system_error with `errno`. If exceptions are turned off, the line is lost without a report.
void miss_line();

/// Removes the written bytes from `text`. Returns false with `errno` if not all of them could be written.
bool write_out(int descriptor, std::string_view& text);

} // namespace detail

/// Writes to a stream of the C library, which must stay open, and flushes it. Throws std::system_error.
struct to_stream {
    std::FILE* file;
    void operator()(std::string_view line) const;
};

/// Writes to a file descriptor, which must stay open: one write for each line. If only a part of a line can be written,
/// that part gets a line end before the next line. Throws std::system_error. If nobody reads from a pipe any more,
/// SIGPIPE ends the process, unless the program ignores it.
struct to_descriptor {
    int descriptor;
    bool is_within_line = false; ///< the last line was written in part
    void operator()(std::string_view line);
};

namespace detail {

/// A line such as `at=2026-01-01T00:00:00.025Z event=item_started job=settle item=1 note="with \"blanks\""`.
struct logfmt {
    static void begin(std::string&) {}
    static void name(std::string& line, std::string_view name);
    static void text(std::string& line, std::string_view text);
    static void list(std::string& line, std::string_view items) { text(line, items); }
    static void end(std::string&) {}
};

/// A line such as `{"at":"2026-01-01T00:00:00.025Z","event":"item_started","job":"settle","item":1,"items":[0,2]}`.
struct json_line {
    static void begin(std::string& line) { line += '{'; }
    static void name(std::string& line, std::string_view name);
    static void text(std::string& line, std::string_view text);
    static void list(std::string& line, std::string_view items) { line.append("[").append(items).append("]"); }
    static void end(std::string& line) { line += '}'; }
};

} // namespace detail

/// Writes one line for each event. Instants are RFC 3339 in UTC, durations are seconds with a fraction. Each event is
/// one line of valid UTF-8, for any content of names and errors. Formats: LogfmtEvents, JsonLinesEvents. Threads: one
/// at a time.
template <class Format, line_output Output>
class line_events {
public:
    explicit line_events(Output out) : out_(std::move(out)) {}

    template <class E>
    void operator()(E const& e) {
        line_.clear();
        Format::begin(line_);
        events::for_each_field(e, [&](std::string_view name, auto const& value) {
            Format::name(line_, name);
            write(value);
        });
        Format::end(line_);
        line_ += '\n';
        out_(line_);
    }

private:
    void write(std::string_view text) { Format::text(line_, text); }
    void write(std::integral auto number) { detail::append_number(line_, number); }
    void write(bool yes) { line_ += yes ? "true" : "false"; }
    void write(wall_time t) {
        text_.clear();
        detail::append_instant(text_, t);
        Format::text(line_, text_);
    }
    void write(std::chrono::nanoseconds span) { detail::append_seconds(line_, span); }
    void write(std::vector<item_index> const& items) {
        text_.clear();
        for (auto const i : items) detail::append_number(text_.empty() ? text_ : text_ += ',', i);
        Format::list(line_, text_);
    }

    Output out_;
    std::string line_, text_; ///< reused, so a line allocates memory only if it is the longest so far
};

/// `LogfmtEvents{to_stream{stderr}}`: names and values in logfmt.
template <line_output Output>
class LogfmtEvents : public line_events<detail::logfmt, Output> {
public:
    explicit LogfmtEvents(Output out) : line_events<detail::logfmt, Output>{std::move(out)} {}
};

/// `JsonLinesEvents{to_descriptor{fd}}`: a JSON object in each line.
template <line_output Output>
class JsonLinesEvents : public line_events<detail::json_line, Output> {
public:
    explicit JsonLinesEvents(Output out) : line_events<detail::json_line, Output>{std::move(out)} {}
};

static_assert(event_sink<LogfmtEvents<to_stream>> && event_sink<JsonLinesEvents<to_descriptor>>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/line_events.ipp>
#endif
#endif // ELASTICJOB_EVENTS_LINE_EVENTS_HPP
