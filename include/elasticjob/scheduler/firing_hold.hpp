// SPDX-License-Identifier: Apache-2.0
/// \file \brief Holds due instants back while a Java leader has yet to shard the job.
#ifndef ELASTICJOB_SCHEDULER_FIRING_HOLD_HPP
#define ELASTICJOB_SCHEDULER_FIRING_HOLD_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/registry/node.hpp> // revision

#include <cstdint>
#include <optional>

namespace elasticjob::detail {

/// A Java leader answers a request to shard at its next firing, before it runs anything (JV-1). So instants that become
/// due while the request stands belong to the owners that this sharding will name, and no instance runs them before.
/// Earlier instants, retries and failover runs do not wait. A value: facts in, decisions out.
class firing_hold {
public:
    /// Reports whether the view shows a request that a Java leader has to answer, and the revision of the last sharding
    /// that it shows; 0 while the owners are being written. A request may come again so soon that its absence is never
    /// seen.
    void note_request(bool is_shown, revision sharding, wall_time wall) noexcept {
        bool const is_unanswered = phase_ == phase::held || phase_ == phase::given_up;
        bool const has_sharded = sharding != 0 && sharding != asked_after_;
        if (is_shown && phase_ == phase::open) {
            phase_ = phase::held;
            since_ = wall;
            asked_after_ = sharding;
        } else if (is_unanswered && (!is_shown || has_sharded)) {
            if (phase_ == phase::given_up) since_ = wall; // the former owners have run the earlier instants
            phase_ = phase::answered;
            ++answers_;
            waits_since_.reset();
        }
    }

    /// A request stands and has not been answered.
    bool is_waiting() const noexcept { return phase_ == phase::held; }

    /// Whether the owners that the last sharding has named must be read, even if the next sharding is already
    /// requested.
    bool is_answered() const noexcept { return phase_ == phase::answered; }

    /// A waiting instant has become due, or a waiting order was given: from now on the wait is limited.
    void note_due(mono_time now) noexcept {
        if (phase_ == phase::held && !waits_since_) waits_since_ = now;
    }

    /// The new owners are known.
    void note_owners() noexcept {
        if (phase_ == phase::answered) phase_ = phase::open;
    }

    /// The leader takes too long: no firing waits until this request is answered or gone.
    void give_up() noexcept {
        phase_ = phase::given_up;
        waits_since_.reset();
    }

    /// Instants after this one wait.
    std::optional<wall_time> since() const noexcept {
        return phase_ == phase::held || phase_ == phase::answered ? std::optional{since_} : std::nullopt;
    }

    /// Since when a firing has been waiting.
    std::optional<mono_time> waits_since() const noexcept { return waits_since_; }

    /// The number of requests that have been answered or have gone otherwise. After each, the owners must be read
    /// again.
    std::uint64_t answers() const noexcept { return answers_; }

private:
    enum class phase : std::uint8_t {
        open,     ///< no firing waits
        held,     ///< the request stands
        answered, ///< the job has been sharded, or the request is gone, and the new owners are not known yet
        given_up  ///< the request stands, and has stood for too long
    };

    phase phase_ = phase::open;
    wall_time since_{};
    revision asked_after_ = 0;
    std::optional<mono_time> waits_since_{};
    std::uint64_t answers_ = 0;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_FIRING_HOLD_HPP
