// SPDX-License-Identifier: Apache-2.0
/// \file \brief The default sink, which writes problems to standard error.
#ifndef ELASTICJOB_EVENTS_LOG_EVENTS_HPP
#define ELASTICJOB_EVENTS_LOG_EVENTS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/standard_error.hpp>
#include <elasticjob/events/event_sink.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace elasticjob {

/// Writes one line for each item that failed or was skipped, for each fenced run, for each trouble, and for a joined
/// instance whose configuration differs from the stored one. Writes nothing about successes. Escapes characters that
/// would end a line or control a terminal, so each message is one line. This sink never waits. If standard error does
/// not accept a line at once, because it is a full pipe, the line is lost, and the next accepted line states how many
/// were lost. If no line may be lost, use `Queued{LogfmtEvents{to_stream{stderr}}}`. Threads: any.
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
