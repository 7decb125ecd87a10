// SPDX-License-Identifier: Apache-2.0
/// \file \brief The fields of an event as names and values, for sinks that write all of them.
#ifndef ELASTICJOB_EVENTS_FIELDS_HPP
#define ELASTICJOB_EVENTS_FIELDS_HPP

#include <elasticjob/events/event.hpp>

#include <string_view>

namespace elasticjob::events {

namespace detail {

template <class F>
void run_fields(run_name const& run, F& f) {
    if (run.number == 0) return;
    f("run", run.number);
    f("task", run.task_id);
    f("source", name_of(run.source));
    f("attempt", run.attempt);
    f("begun", run.begun);
}
template <class F>
void error_fields(error const& e, F& f) {
    f("error", name_of(e.code));
    f("what", std::string_view{e.what});
    f("where", std::string_view{e.where});
}

} // namespace detail

constexpr std::string_view name_of(joined const&) noexcept { return "joined"; }
constexpr std::string_view name_of(left const&) noexcept { return "left"; }
constexpr std::string_view name_of(leadership_changed const&) noexcept { return "leadership_changed"; }
constexpr std::string_view name_of(session_changed const&) noexcept { return "session_changed"; }
constexpr std::string_view name_of(resharded const&) noexcept { return "resharded"; }
constexpr std::string_view name_of(share_changed const&) noexcept { return "share_changed"; }
constexpr std::string_view name_of(item_started const&) noexcept { return "item_started"; }
constexpr std::string_view name_of(item_finished const&) noexcept { return "item_finished"; }
constexpr std::string_view name_of(script_output const&) noexcept { return "script_output"; }
constexpr std::string_view name_of(item_progressed const&) noexcept { return "item_progressed"; }
constexpr std::string_view name_of(item_fenced const&) noexcept { return "item_fenced"; }
constexpr std::string_view name_of(item_misfired const&) noexcept { return "item_misfired"; }
constexpr std::string_view name_of(item_skipped const&) noexcept { return "item_skipped"; }
constexpr std::string_view name_of(trouble const&) noexcept { return "trouble"; }

/// Calls `f(name, value)` for each field in a fixed order: first `at`, `event`, `job`, `instance`, then the fields of
/// the kind. A value is a std::string_view, a number, a bool, a wall_time, a duration or a list of items. Leaves out
/// the fields of a run if the event has no run, and those of an error if it has no error.
template <class E, class F>
void for_each_field(E const& e, F&& f) {
    f("at", e.from.at);
    f("event", name_of(e));
    f("job", e.from.job);
    f("instance", std::string_view{e.from.instance.str()});
    if constexpr (requires { e.note; })
        if (!e.note.empty()) f("note", std::string_view{e.note});
    if constexpr (requires { e.leads; }) f("leads", e.leads);
    if constexpr (requires { e.state; }) f("state", name_of(e.state));
    if constexpr (requires { e.epoch; }) f("epoch", e.epoch);
    if constexpr (requires { e.item; }) f("item", e.item);
    if constexpr (requires { e.items; }) f("items", e.items);
    if constexpr (requires { e.instances; }) f("instances", e.instances);
    if constexpr (requires { e.moved; }) f("moved", e.moved);
    if constexpr (requires { e.left; }) f("left", e.left);
    if constexpr (requires { e.due; }) f("due", e.due);
    if constexpr (requires { e.why; }) f("why", name_of(e.why));
    if constexpr (requires { e.count; }) f("count", e.count);
    if constexpr (requires { e.stream; }) {
        f("stream", name_of(e.stream));
        f("text", e.text);
        f("dropped", e.dropped);
        f("lost", e.lost);
    }
    if constexpr (requires { e.done; }) {
        f("done", e.done);
        f("total", e.total);
    }
    if constexpr (requires { e.took; }) f("took", e.took);
    if constexpr (requires { e.token; }) f("token", e.token);
    if constexpr (requires { e.run; }) detail::run_fields(e.run, f);
    if constexpr (requires { e.failure; }) {
        f("success", !e.failure);
        if (e.failure) detail::error_fields(*e.failure, f);
    }
    if constexpr (requires { e.retry_at; })
        if (e.retry_at) f("retry_at", *e.retry_at);
    if constexpr (requires { e.what; }) detail::error_fields(e.what, f);
}

} // namespace elasticjob::events
#endif // ELASTICJOB_EVENTS_FIELDS_HPP
