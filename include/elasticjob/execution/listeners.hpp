// SPDX-License-Identifier: Apache-2.0
/// \file \brief Hooks around the runs of single items, around batches, and around rounds.
#ifndef ELASTICJOB_EXECUTION_LISTENERS_HPP
#define ELASTICJOB_EXECUTION_LISTENERS_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace elasticjob {

/// All items of a job, for one due instant.
struct job_round {
    std::string job;
    wall_time due{};
    std::uint32_t items = 0;
};

/// The runs that an instance begins together and that share a task id: usually its items for one due instant.
struct run_batch {
    std::string job;
    std::string task_id;
    std::vector<item_index> items; ///< ascending
};

namespace detail {
template <class L>
concept hears_before = requires(L& l, sharding_context const& c) {
    l.before(c);
};
template <class L>
concept hears_after = requires(L& l, sharding_context const& c, result<void> const& r) {
    l.after(c, r);
};
template <class L>
concept hears_before_batch = requires(L& l, run_batch const& b) {
    l.before_batch(b);
};
template <class L>
concept hears_after_batch = requires(L& l, run_batch const& b) {
    l.after_batch(b);
};
template <class L>
concept hears_before_round = requires(L& l, job_round const& r) {
    l.before_round(r);
};
template <class L>
concept hears_after_round = requires(L& l, job_round const& r) {
    l.after_round(r);
};
template <class L>
concept may_start_together = requires(L const& l) {
    { l.starts_together } -> std::convertible_to<bool>;
};
} // namespace detail

/// A listener has one or more of these hooks, which return nothing or a `result<void>`:
///
/// | expression          | is called                                                                                |
/// |---------------------|------------------------------------------------------------------------------------------|
/// | `l.before(ctx)`     | before the body, for each run of an item, on its instance                                |
/// | `l.after(ctx, out)` | after the body, with the outcome; not if the body was not called                         |
/// | `l.before_batch(b)` | before the first of the runs that an instance begins together, once, on that instance        |
/// | `l.after_batch(b)`  | after the last of them, unless none has begun                                            |
/// | `l.before_round(r)` | before the first item of a round, once in the whole cluster                              |
/// | `l.after_round(r)`  | when all items of the round have been handled, once in the whole cluster                 |
///
/// An exception or an error of a hook is reported as trouble, and the job continues. If the pool is full, a hook waits
/// for it for up to ten seconds; if it then still cannot be called, this is reported too. The runs of a batch wait for
/// the hook before it, up to `scheduler_options::round_start_timeout`. Threads: the pool's, several at once.
template <class L>
concept job_listener = std::move_constructible<L> &&
    (detail::hears_before<L> || detail::hears_after<L> || detail::hears_before_batch<L> ||
     detail::hears_after_batch<L> || detail::hears_before_round<L> || detail::hears_after_round<L>);

/// A listener that has the items of a round start together: each waits until all items of the job have been granted
/// their starts, on their instances, or have nothing to run for that due instant. No item waits longer than
/// `scheduler_options::round_start_timeout`; then `round_missed` is reported, and those that are ready begin. All
/// members of the job must have this listener. Use it as `Listeners<StartTogether>`, or beside others: a `before_round`
/// hook is called when all items are ready, before they run.
struct StartTogether {
    static constexpr bool starts_together = true;
    void before_round(job_round const&) const noexcept {}
};

/// A policy of the scheduler. Hooks whose names begin with `before` are called in this order, the others in the
/// opposite order.
///
/// A round hook is called once in the cluster. If it may not have been called, because its instance has died or it took
/// longer than `scheduler_options::round_start_timeout` or `round_end_timeout`, this is reported as trouble
/// (`round_missed`). No item waits longer than that. Rounds are due instants of the schedule; manual triggers have
/// none.
template <job_listener... Ls>
class Listeners {
public:
    static constexpr bool hear_before = (detail::hears_before<Ls> || ...);
    static constexpr bool hear_after = (detail::hears_after<Ls> || ...);
    static constexpr bool hear_batches = ((detail::hears_before_batch<Ls> || detail::hears_after_batch<Ls>) || ...);
    static constexpr bool hear_rounds = ((detail::hears_before_round<Ls> || detail::hears_after_round<Ls>) || ...);

    Listeners() = default;
    explicit Listeners(Ls... all) requires(sizeof...(Ls) > 0) : all_{std::move(all)...} {}

    /// Whether one of them has the items of a round start together: see `StartTogether`.
    bool start_together() const {
        return std::apply([](auto const&... ls) { return (starts_together(ls) || ...); }, all_);
    }

    // Returns the errors of all listeners, joined by `add_outcome`. All of them are called, even if others fail.

    result<void> before(sharding_context const& c) {
        return forwards([&](auto& l) -> result<void> {
            if constexpr (requires { l.before(c); })
                return detail::guarded_call([&]() -> decltype(auto) { return l.before(c); });
            else
                return success();
        });
    }
    result<void> after(sharding_context const& c, result<void> const& outcome) {
        return backwards([&](auto& l) -> result<void> {
            if constexpr (requires { l.after(c, outcome); })
                return detail::guarded_call([&]() -> decltype(auto) { return l.after(c, outcome); });
            else
                return success();
        });
    }
    result<void> before_batch(run_batch const& b) {
        return forwards([&](auto& l) -> result<void> {
            if constexpr (requires { l.before_batch(b); })
                return detail::guarded_call([&]() -> decltype(auto) { return l.before_batch(b); });
            else
                return success();
        });
    }
    result<void> after_batch(run_batch const& b) {
        return backwards([&](auto& l) -> result<void> {
            if constexpr (requires { l.after_batch(b); })
                return detail::guarded_call([&]() -> decltype(auto) { return l.after_batch(b); });
            else
                return success();
        });
    }
    result<void> before_round(job_round const& r) {
        return forwards([&](auto& l) -> result<void> {
            if constexpr (requires { l.before_round(r); })
                return detail::guarded_call([&]() -> decltype(auto) { return l.before_round(r); });
            else
                return success();
        });
    }
    result<void> after_round(job_round const& r) {
        return backwards([&](auto& l) -> result<void> {
            if constexpr (requires { l.after_round(r); })
                return detail::guarded_call([&]() -> decltype(auto) { return l.after_round(r); });
            else
                return success();
        });
    }

private:
    template <class L>
    static bool starts_together(L const& l) {
        if constexpr (detail::may_start_together<L>) return l.starts_together;
        return false;
    }

    template <class F>
    result<void> forwards(F f) {
        result<void> all = success();
        std::apply([&](auto&... ls) { (detail::add_outcome(all, f(ls)), ...); }, all_);
        return all;
    }
    template <class F>
    result<void> backwards(F f) {
        result<void> all = success();
        // An assignment evaluates its right side first, so a fold of them runs from the last to the first.
        int order = 0;
        std::apply([&](auto&... ls) { (void)((detail::add_outcome(all, f(ls)), order) = ... = 0); }, all_);
        return all;
    }

    std::tuple<Ls...> all_;
};

namespace detail {
template <class P>
inline constexpr bool is_listeners = false;
template <class... Ls>
inline constexpr bool is_listeners<Listeners<Ls...>> = true;
} // namespace detail

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_LISTENERS_HPP
