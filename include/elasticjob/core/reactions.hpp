// SPDX-License-Identifier: Apache-2.0
/// \file \brief Parts of an object that each react to changes, without a coroutine for each part.
#ifndef ELASTICJOB_CORE_REACTIONS_HPP
#define ELASTICJOB_CORE_REACTIONS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace elasticjob {

/// What a part does next: it waits for a change, or until a time if that comes first; or it acts, and the action
/// returns such a time.
class next_step {
public:
    next_step(mono_time until = mono_time::max()) noexcept : until_{until} {}            // NOLINT: either is a step
    next_step(task<mono_time> action) noexcept : until_{}, action_{std::move(action)} {} // NOLINT

private:
    template <loop Loop, class Owner, class Part, Part Last>
    friend class reactions;

    mono_time until_;
    std::optional<task<mono_time>> action_;
};

/// Calls `owner.step(part)`, which returns a `next_step`, for each part: at the beginning, after each change, and when
/// the part's time has come. A step starts from the present state, so a part may miss changes. While a part acts, it is
/// not called, and the others go on; afterwards it is called if there has been a change since its last step began. The
/// parts see a change in the order of the enumeration `Part`, which ends with `Last`. Only an action has a coroutine,
/// so a part that waits costs 32 bytes. Threads: the loop's. Neither a step nor an action may destroy the object or
/// call `stop`.
template <loop Loop, class Owner, class Part, Part Last>
class reactions : work, timer {
public:
    /// Both must outlive this object.
    reactions(event_count<Loop>& news, Owner& owner) noexcept
        : work{&act_on},
          timer{&ring},
          news_{news},
          owner_{owner} {}
    ~reactions() { stop(); }

    /// Calls each part once. Call it at most once.
    void begin() { react(); }

    /// Ends all actions; no part is called any more.
    void stop() noexcept {
        work::unlink();
        news_.loop().disarm(*this);
        for (auto& p : parts_) p.acting.cancel();
    }

private:
    static constexpr std::size_t count = static_cast<std::size_t>(Last) + 1;

    struct state {
        std::uint64_t seen = 0; ///< the edition of the news at its last step
        mono_time until{};
        task_scope acting{};

        bool is_acting() const noexcept { return !acting.empty(); }
        bool is_due(std::uint64_t edition, mono_time now) const noexcept {
            return !is_acting() && (edition > seen || now >= until);
        }
    };

    static void act_on(work& w, work_action action) {
        if (action == work_action::run) static_cast<reactions&>(w).react();
    }
    static void ring(timer& t) { static_cast<reactions&>(t).post(); }

    void post() {
        work::unlink();
        news_.loop().post(*this);
    }

    /// Calls each part that is due, and then waits.
    void react() {
        news_.loop().disarm(*this);
        for (std::size_t i = 0; i < count; ++i)
            if (parts_[i].is_due(news_.edition(), news_.loop().now())) call(static_cast<Part>(i), parts_[i]);
        if (work::is_linked()) return; // an action has ended at once
        auto until = mono_time::max();
        bool is_due = false;
        for (auto const& p : parts_) {
            if (p.is_acting()) continue;
            is_due |= news_.edition() > p.seen;
            until = std::min(until, p.until);
        }
        if (is_due) return post();
        news_.post_next(*this);
        if (until != mono_time::max()) news_.loop().arm(*this, until);
    }

    void call(Part which, state& p) {
        p.seen = news_.edition();
        auto next = owner_.step(which);
        p.until = next.until_;
        if (next.action_) p.acting.spawn(act(p, *std::move(next.action_)));
    }

    task<void> act(state& p, task<mono_time> action) {
        p.until = co_await std::move(action);
        post(); // after this coroutine has ended
    }

    event_count<Loop>& news_;
    Owner& owner_;
    state parts_[count];
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_REACTIONS_HPP
