// SPDX-License-Identifier: Apache-2.0
/// \file \brief Converts events to the execution events and status trace events of ElasticJob-Lite.
#ifndef ELASTICJOB_EVENTS_TRACE_HPP
#define ELASTICJOB_EVENTS_TRACE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/host_name.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/events/text_forms.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::trace {

/// One run of one item. Passed on twice with the same id: when the run begins, and when it has ended.
struct execution_event {
    std::string id;
    std::string hostname;
    std::string ip;
    std::string task_id;
    std::string job_name;
    std::string_view source; ///< NORMAL_TRIGGER, MISFIRE, FAILOVER
    item_index sharding_item = 0;
    wall_time start_time{};
    std::optional<wall_time> complete_time{};
    bool is_success = false;
    std::string failure_cause{};
};

/// A state that a run has reached. These states of 2.1.5 are used: TASK_STAGING, TASK_RUNNING, TASK_FINISHED,
/// TASK_ERROR, TASK_DROPPED (the item was due, but does not run) and TASK_LOST (another instance has taken the item
/// over).
struct status_trace_event {
    std::string id;
    std::string job_name;
    std::string original_task_id;
    std::string task_id;
    std::string slave_id; ///< the ip
    std::string_view source = "LITE_EXECUTOR";
    std::string_view execution_type; ///< READY, FAILOVER
    std::string sharding_items;      ///< `[1]`
    std::string_view state;
    std::string message{};
    wall_time creation_time{};
};

/// The maximum length of a failure's cause and of a message, in UTF-16 code units, as in 2.1.5.
inline constexpr std::size_t text_units_max = 4000;

namespace detail {

constexpr std::string_view source_name(run_source s) noexcept {
    return s == run_source::misfire ? "MISFIRE" : s == run_source::failover ? "FAILOVER" : "NORMAL_TRIGGER";
}

/// A UUID of version 8, computed from the fields that identify the event, so that a repeated event has the same id.
class id_maker {
public:
    id_maker& add(std::string_view text);
    id_maker& add(std::uint64_t number);
    std::string finish() const;

private:
    void add_byte(unsigned char byte);
    std::uint64_t high_ = elasticjob::detail::fnv_1a_begin, low_ = 0;
};

} // namespace detail

/// Converts the events of runs: `t(event, f)` calls `f(execution_event)` and `f(status_trace_event)`, in the order in
/// which 2.1.5 would post them. Makes no call for events without an item.
///
/// | event                    | status trace                          | execution           |
/// |--------------------------|---------------------------------------|---------------------|
/// | `item_started`           | TASK_STAGING, TASK_RUNNING            | begun               |
/// | `item_finished`          | TASK_FINISHED, or TASK_ERROR (reason) | succeeded or failed |
/// | `item_misfired`          | TASK_STAGING, TASK_FINISHED (reason)  |                     |
/// | `item_skipped`           | TASK_DROPPED (reason)                 | failed, if it began |
/// | `item_fenced`            | TASK_LOST                             |                     |
///
/// Ids are computed from the fields that identify the event (UUID version 8). So no state is necessary between the
/// start of a run and its end, and a row that is written twice has the same key. A host without a name has its address
/// as the name.
/// Threads: const calls from any.
class tracer {
public:
    explicit tracer(std::string hostname = find_host_name()) : hostname_{std::move(hostname)} {}

    template <class E, class F>
    void operator()(E const&, F&&) const {}

    template <class F>
    void operator()(events::item_started const& e, F&& f) const {
        f(status(e, e.run, "TASK_STAGING", begin_message(e.from)));
        f(status(e, e.run, "TASK_RUNNING", {}));
        f(execution(e, e.run));
    }
    template <class F>
    void operator()(events::item_finished const& e, F&& f) const {
        auto const why = e.failure ? to_string(*e.failure) : std::string{};
        f(completed(e, why, !e.failure));
        if (e.failure)
            f(status(e, e.run, "TASK_ERROR", "{" + std::to_string(e.item) + "=" + why + "}"));
        else
            f(status(e, e.run, "TASK_FINISHED", {}));
    }
    template <class F>
    void operator()(events::item_misfired const& e, F&& f) const {
        f(status(e, {}, "TASK_STAGING", begin_message(e.from)));
        f(status(e, {}, "TASK_FINISHED",
                 "Previous job '" + std::string{e.from.job} + "' - shardingItems '" + list_of(e.item) +
                     "' is still running, misfired job will start after previous job completed."));
    }
    template <class F>
    void operator()(events::item_skipped const& e, F&& f) const {
        auto why = "Sharding item '" + std::to_string(e.item) + "' of job '" + std::string{e.from.job} +
                   "' was not run: " + std::string{name_of(e.why)} + ", due " +
                   elasticjob::detail::format_instant(e.due);
        if (e.count > 1) why += " and " + std::to_string(e.count - 1) + " times before";
        if (e.run.number != 0) f(completed(e, why, false));
        f(status(e, e.run, "TASK_DROPPED", why));
    }
    template <class F>
    void operator()(events::item_fenced const& e, F&& f) const {
        f(status(e, e.run, "TASK_LOST",
                 "Sharding item '" + std::to_string(e.item) + "' of job '" + std::string{e.from.job} +
                     "' was taken over by another instance; this run does not count"));
    }

private:
    static std::string begin_message(events::origin const& from);
    static std::string list_of(item_index i) { return "[" + std::to_string(i) + "]"; }

    template <class E>
    static detail::id_maker name(E const& e, events::run_name const& run) {
        detail::id_maker id;
        id.add(e.from.job).add(e.from.instance.str()).add(e.item).add(run.number);
        // The id of an event without a run is computed from its time and its subject.
        auto const ticks = [](wall_time t) { return static_cast<std::uint64_t>(t.time_since_epoch().count()); };
        if (run.number == 0) id.add(ticks(e.from.at)).add(ticks(e.due));
        return id;
    }
    template <class E>
    static std::string task_of(E const& e, events::run_name const& run) {
        if (!run.task_id.empty()) return std::string{run.task_id};
        std::string id{e.from.job};
        for (auto const& part : {std::to_string(e.item), std::string{type_of(run)}, e.from.instance.str()})
            id.append(identity_delimiter).append(part);
        return id;
    }
    static std::string_view type_of(events::run_name const& run);

    template <class E>
    execution_event execution(E const& e, events::run_name const& run) const {
        execution_event x;
        x.id = name(e, run).finish();
        x.ip = e.from.instance.server();
        x.hostname = hostname_.empty() ? x.ip : hostname_;
        x.task_id = task_of(e, run);
        x.job_name = e.from.job;
        x.source = detail::source_name(run.source);
        x.sharding_item = e.item;
        x.start_time = run.begun;
        return x;
    }
    template <class E>
    execution_event completed(E const& e, std::string const& why, bool is_success) const {
        auto x = execution(e, e.run);
        x.complete_time = e.from.at;
        x.is_success = is_success;
        x.failure_cause = elasticjob::detail::clean_text(why, text_units_max);
        return x;
    }
    template <class E>
    status_trace_event status(E const& e, events::run_name const& run, std::string_view state,
                              std::string const& message) const {
        status_trace_event s;
        s.id = name(e, run).add(state).finish();
        s.job_name = e.from.job;
        s.task_id = task_of(e, run);
        s.slave_id = e.from.instance.server();
        s.execution_type = type_of(run);
        s.sharding_items = list_of(e.item);
        s.state = state;
        s.message = elasticjob::detail::clean_text(message, text_units_max);
        s.creation_time = e.from.at;
        return s;
    }

    std::string hostname_;
};

} // namespace elasticjob::trace

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/trace.ipp>
#endif
#endif // ELASTICJOB_EVENTS_TRACE_HPP
