// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_KEPT_EVENT_IPP
#define ELASTICJOB_IMPL_EVENTS_KEPT_EVENT_IPP

#include <elasticjob/events/kept_event.hpp>

namespace elasticjob::events {

ELASTICJOB_DECL void kept_event::keep(joined const& e) {
    begin(kind::joined, e.from);
    text_ = e.note;
}

ELASTICJOB_DECL void kept_event::keep(leadership_changed const& e) {
    begin(kind::leadership_changed, e.from);
    leads_ = e.leads;
}

ELASTICJOB_DECL void kept_event::keep(session_changed const& e) {
    begin(kind::session_changed, e.from);
    session_ = e.state;
}

ELASTICJOB_DECL void kept_event::keep(resharded const& e) {
    begin(kind::resharded, e.from);
    count_ = e.epoch;
    numbers_[0] = e.items;
    numbers_[1] = e.instances;
    numbers_[2] = e.moved;
    numbers_[3] = e.left;
}

ELASTICJOB_DECL void kept_event::keep(share_changed const& e) {
    begin(kind::share_changed, e.from);
    items_ = e.items;
}

ELASTICJOB_DECL void kept_event::keep(item_started const& e) {
    begin(kind::item_started, e.from, e.item, e.due, e.run);
    token_ = e.token;
    numbers_[0] = e.attempt;
    source_ = e.source;
}

ELASTICJOB_DECL void kept_event::keep(item_finished const& e) {
    begin(kind::item_finished, e.from, e.item, e.due, e.run);
    token_ = e.token;
    took_ = e.took;
    failure_ = e.failure;
    retry_at_ = e.retry_at;
}

ELASTICJOB_DECL void kept_event::keep(script_output const& e) {
    begin(kind::script_output, e.from, e.item, e.due, e.run);
    stream_ = e.stream;
    line_ = e.text;
    dropped_ = e.dropped;
    count_ = e.lost;
}

ELASTICJOB_DECL void kept_event::keep(item_progressed const& e) {
    begin(kind::item_progressed, e.from, e.item, e.due, e.run);
    count_ = e.done;
    total_ = e.total;
}

ELASTICJOB_DECL void kept_event::keep(item_fenced const& e) {
    begin(kind::item_fenced, e.from, e.item, e.due, e.run);
    token_ = e.token;
}

ELASTICJOB_DECL void kept_event::keep(item_skipped const& e) {
    begin(kind::item_skipped, e.from, e.item, e.due, e.run);
    why_ = e.why;
    count_ = e.count;
}

ELASTICJOB_DECL void kept_event::keep(trouble const& e) {
    begin(kind::trouble, e.from);
    failure_ = e.what;
}

ELASTICJOB_DECL void kept_event::begin(kind k, origin const& from) {
    kind_ = k;
    job_ = from.job;
    instance_ = from.instance;
    at_ = from.at;
}

ELASTICJOB_DECL void kept_event::begin(kind k, origin const& from, item_index item, wall_time due,
                                       run_name const& run) {
    begin(k, from);
    item_ = item;
    due_ = due;
    run_ = run;
    text_ = run.task_id;
}

ELASTICJOB_DECL run_name kept_event::run_of() const {
    auto run = run_;
    run.task_id = text_; // replaces the copied view, which refers to another object
    return run;
}

} // namespace elasticjob::events
#endif // ELASTICJOB_IMPL_EVENTS_KEPT_EVENT_IPP
