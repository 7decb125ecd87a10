// SPDX-License-Identifier: Apache-2.0
/// \file \brief The default sink: what needs somebody's attention goes to standard error.
#ifndef ELASTICJOB_EVENTS_LOG_EVENTS_HPP
#define ELASTICJOB_EVENTS_LOG_EVENTS_HPP

#include <elasticjob/core/standard_error.hpp>
#include <elasticjob/events/event_sink.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace elasticjob {

/// One line for each item that failed or was skipped and for each trouble; of what goes well, nothing. It waits for nobody: a
/// line that standard error does not take at once, because it is a pipe that is full, is lost, and the next one that is taken
/// says how many were. Who must have them all takes `Queued{LogfmtEvents{to_stream{stderr}}}`. Threads: any.
struct LogEvents {
    template <class E>
    void operator()(E const&) const noexcept {}

    // Templates, so that including them costs nothing: docs/decisions/0006.
    template <std::same_as<events::joined> Joined>
    void operator()(Joined const& e) const {
        if (!e.note.empty()) write(e.from, std::string{e.note});
    }
    template <std::same_as<events::item_finished> Finished>
    void operator()(Finished const& e) const {
        if (e.failure) write(e.from, "item " + std::to_string(e.item) + " failed: " + to_string(*e.failure));
    }
    template <std::same_as<events::item_skipped> Skipped>
    void operator()(Skipped const& e) const {
        write(e.from, "item " + std::to_string(e.item) + " was skipped: " + std::string{name_of(e.why)});
    }
    template <std::same_as<events::item_fenced> Fenced>
    void operator()(Fenced const& e) const {
        write(e.from, "item " + std::to_string(e.item) + " was taken over by another instance; its run does not count");
    }
    template <std::same_as<events::trouble> Trouble>
    void operator()(Trouble const& e) const {
        write(e.from, to_string(e.what));
    }

private:
    template <class Origin>
    static void write(Origin const& from, std::string const& text) {
        std::string line{"elasticjob: "};
        line.append(from.job).append(" [").append(from.instance.str()).append("]: ").append(text);
        detail::tell_standard_error(std::move(line));
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_LOG_EVENTS_HPP
