// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_LOG_EVENTS_IPP
#define ELASTICJOB_IMPL_EVENTS_LOG_EVENTS_IPP

#include <elasticjob/events/log_events.hpp>

namespace elasticjob {

ELASTICJOB_DECL void LogEvents::operator()(events::joined const& e) const {
    if (!e.note.empty()) write(e.from, std::string{e.note});
}

ELASTICJOB_DECL void LogEvents::operator()(events::item_finished const& e) const {
    if (e.failure) write(e.from, "item " + std::to_string(e.item) + " failed: " + to_string(*e.failure));
}

ELASTICJOB_DECL void LogEvents::operator()(events::item_skipped const& e) const {
    write(e.from, "item " + std::to_string(e.item) + " was skipped: " + std::string{name_of(e.why)});
}

ELASTICJOB_DECL void LogEvents::operator()(events::item_fenced const& e) const {
    write(e.from, "item " + std::to_string(e.item) + " was taken over by another instance; its run does not count");
}

ELASTICJOB_DECL void LogEvents::operator()(events::trouble const& e) const { write(e.from, to_string(e.what)); }

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EVENTS_LOG_EVENTS_IPP
