// SPDX-License-Identifier: Apache-2.0
/// \file \brief The default sink: what needs somebody's attention goes to standard error.
#ifndef ELASTICJOB_EVENTS_LOG_EVENTS_HPP
#define ELASTICJOB_EVENTS_LOG_EVENTS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/standard_error.hpp>
#include <elasticjob/events/event_sink.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace elasticjob {

/// One line for each item that failed or was skipped and for each trouble; of what goes well, nothing. Whatever a body
/// has thrown or a node says, it is one line: what would end it or steer a terminal is escaped. It waits for nobody: a
/// line that standard error does not take at once, because it is a pipe that is full, is lost, and the next one that is taken
/// says how many were. Who must have them all takes `Queued{LogfmtEvents{to_stream{stderr}}}`. Threads: any.
struct LogEvents {
    template <class E>
    void operator()(E const&) const noexcept {}

    void operator()(events::joined const& e) const;
    void operator()(events::item_finished const& e) const;
    void operator()(events::item_skipped const& e) const;
    void operator()(events::item_fenced const& e) const;
    void operator()(events::trouble const& e) const;

private:
    template <class Origin>
    static void write(Origin const& from, std::string const& text) {
        std::string line{"elasticjob: "};
        line.append(from.job).append(" [").append(from.instance.str()).append("]: ").append(text);
        detail::tell_standard_error(line);
    }
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/log_events.ipp>
#endif
#endif // ELASTICJOB_EVENTS_LOG_EVENTS_HPP
