// SPDX-License-Identifier: Apache-2.0
/// \file \brief The default sink: what needs somebody's attention goes to standard error.
#ifndef ELASTICJOB_EVENTS_LOG_EVENTS_HPP
#define ELASTICJOB_EVENTS_LOG_EVENTS_HPP

#include <elasticjob/events/event_sink.hpp>

#include <concepts>
#include <cstdio>
#include <string>

namespace elasticjob {

/// One line for each item that failed or was skipped and for each trouble; of what goes well, nothing.
struct LogEvents {
    template <class E>
    void operator()(E const&) const noexcept {}

    void operator()(events::joined const& e) const {
        if (!e.note.empty()) write(e.from, std::string{e.note});
    }
    template <std::same_as<events::item_finished> Finished> // so that including it costs nothing: docs/decisions/0006
    void operator()(Finished const& e) const {
        if (e.failure) write(e.from, "item " + std::to_string(e.item) + " failed: " + to_string(*e.failure));
    }
    void operator()(events::item_skipped const& e) const {
        write(e.from, "item " + std::to_string(e.item) + " was skipped: " + std::string{name_of(e.why)});
    }
    void operator()(events::item_fenced const& e) const {
        write(e.from, "item " + std::to_string(e.item) + " was taken over by another instance; its run does not count");
    }
    void operator()(events::trouble const& e) const { write(e.from, to_string(e.what)); }

private:
    static void write(events::origin const& from, std::string const& text) {
        std::fprintf(stderr, "elasticjob: %.*s [%s]: %s\n", static_cast<int>(from.job.size()), from.job.data(),
                     from.instance.str().c_str(), text.c_str());
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_LOG_EVENTS_HPP
