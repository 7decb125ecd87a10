// SPDX-License-Identifier: Apache-2.0
/// \file \brief Converts events to status trace events of whole firings, as in ElasticJob-Lite 2.1.5.
#ifndef ELASTICJOB_EVENTS_FIRING_TRACER_HPP
#define ELASTICJOB_EVENTS_FIRING_TRACER_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/trace.hpp>

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::trace {

/// Converts events as `tracer` does, except that the items of an instance that begin together, a firing, share their
/// status trace events. There is still one execution event for each run.
///
/// | event                                | status trace                                       |
/// |--------------------------------------|----------------------------------------------------|
/// | the first `item_started` of a firing | TASK_STAGING, TASK_RUNNING                         |
/// | the end of its last run              | TASK_FINISHED, or TASK_ERROR with `{0=why, 3=why}` |
/// | any other event                      | as `tracer`                                        |
///
/// A run ends with `item_finished`. If the worker pool has refused the run, it ends with `item_skipped`, and has
/// failed.
///
/// The status trace events of a firing contain all its items, such as `[0, 1]`; its task id names them. An attempt of a
/// single item is a firing of its own.
///
/// Keeps firings of two or more items that have not ended. If an end is missing because its event was lost, the firing
/// is dropped without a TASK_FINISHED or TASK_ERROR, as after a crash. That happens when one of its items begins again
/// in a firing of the same items, or when all firings together take more than `bytes_max` and it is the oldest.
/// Movable. Threads: one.
class firing_tracer {
public:
    static constexpr std::size_t bytes_max_default = 8u << 20;

    explicit firing_tracer(tracer t = tracer{}, std::size_t bytes_max = bytes_max_default)
        : trace_{std::move(t)},
          bytes_max_{bytes_max} {}
    firing_tracer(firing_tracer&&) = default;
    firing_tracer& operator=(firing_tracer&&) = delete;

    /// `t(event, f)` calls `f(execution_event)` and `f(status_trace_event)`. Pass each event once, in order.
    template <class E, class F>
    void operator()(E const& e, F&& f) {
        trace_(e, f);
    }
    template <class F>
    void operator()(events::item_started const& e, F&& f) {
        auto const items = begin(e.run.task_id, e.item);
        trace_(e, started<F>{items, f});
    }
    template <class F>
    void operator()(events::item_finished const& e, F&& f) {
        trace_(e, ended<F>{*this, e.item, f});
    }
    template <class F>
    void operator()(events::item_skipped const& e, F&& f) {
        if (e.run.number == 0)
            trace_(e, f);
        else
            trace_(e, ended<F>{*this, e.item, f});
    }

    /// The number of firings that have not ended.
    std::size_t open_count() const noexcept { return open_.size(); }

private:
    /// A firing with runs that have not ended.
    struct firing {
        enum class state : unsigned char { not_begun, running, over };

        state* find(item_index i);
        std::size_t bytes() const;

        std::string task;
        std::vector<item_index> items; ///< sorted
        std::vector<state> states;     ///< of the items
        std::size_t left;              ///< the number of items that have not ended
        std::map<item_index, std::string> failures{};
        std::size_t failure_bytes = 0;
    };
    using place = std::list<firing>::iterator;

    /// Passes on the row of a run that begins, and the rows of its state if it is the first run of its firing.
    template <class F>
    struct started {
        std::optional<std::string> const& items;
        F& f;
        void operator()(execution_event x) const { f(std::move(x)); }
        void operator()(status_trace_event s) const {
            if (!items) return;
            s.sharding_items = *items;
            f(std::move(s));
        }
    };

    /// Passes on the row of a run that has ended, and the row of its firing's state if it was the last run.
    template <class F>
    struct ended {
        firing_tracer& self;
        item_index item;
        F& f;
        std::optional<std::string> failure{};
        void operator()(execution_event x) {
            if (!x.is_success) failure = x.failure_cause;
            f(std::move(x));
        }
        void operator()(status_trace_event s) {
            if (self.end(item, std::move(failure), s)) f(std::move(s));
        }
    };

    /// The list of the firing's items, if this run is its first.
    std::optional<std::string> begin(std::string_view task, item_index item);

    /// Returns whether the run was the last of its firing. If so, sets the state in `row` to that of the firing.
    bool end(item_index item, std::optional<std::string> failure, status_trace_event& row);

    void note_failure(firing& one, item_index item, std::string why);
    void forget(place at);
    void forget_oldest();

    tracer trace_;
    std::size_t bytes_max_;
    std::list<firing> open_;                  ///< in the order of their begins
    std::map<std::string_view, place> known_; ///< by task id
    std::size_t bytes_ = 0;
};

} // namespace elasticjob::trace

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/firing_tracer.ipp>
#endif
#endif // ELASTICJOB_EVENTS_FIRING_TRACER_HPP
