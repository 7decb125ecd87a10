// SPDX-License-Identifier: Apache-2.0
/// \file \brief What is due waits while a Java leader has yet to shard the job.
#ifndef ELASTICJOB_SCHEDULER_FIRING_HOLD_HPP
#define ELASTICJOB_SCHEDULER_FIRING_HOLD_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>

#include <cstdint>
#include <optional>

namespace elasticjob::detail {

/// A Java leader answers a request to shard at its next firing, before it runs anything (JV-1). So what becomes due
/// while the request stands belongs to the owners that this sharding will name, and nobody runs it before. What has
/// become due earlier, retries and failover runs do not wait. A value: facts in, decisions out.
class firing_hold {
public:
    /// Whether the view shows a request that a Java leader has to answer.
    void note_request(bool is_shown, wall_time wall) noexcept {
        if (is_shown && phase_ == phase::open) {
            phase_ = phase::held;
            since_ = wall;
        } else if (is_shown && phase_ == phase::answered) {
            phase_ = phase::held;
        } else if (!is_shown && (phase_ == phase::held || phase_ == phase::given_up)) {
            phase_ = phase_ == phase::held ? phase::answered : phase::open;
            ++answers_;
            waits_since_.reset();
        }
    }

    /// Something that waits has become due or was ordered: from now on the time is limited.
    void note_due(mono_time now) noexcept {
        if (phase_ == phase::held && !waits_since_) waits_since_ = now;
    }

    /// The owners that the sharding has named are known.
    void note_owners() noexcept {
        if (phase_ == phase::answered) phase_ = phase::open;
    }

    /// The leader takes too long: nothing waits any more until this request is gone.
    void give_up() noexcept {
        phase_ = phase::given_up;
        waits_since_.reset();
    }

    /// What becomes due later than this waits.
    std::optional<wall_time> since() const noexcept {
        return phase_ == phase::held || phase_ == phase::answered ? std::optional{since_} : std::nullopt;
    }

    /// Since when something waits for an answer.
    std::optional<mono_time> waits_since() const noexcept { return waits_since_; }

    /// How many requests have been answered, or have gone otherwise. After each the owners have to be found out anew.
    std::uint64_t answers() const noexcept { return answers_; }

private:
    enum class phase : std::uint8_t {
        open,     ///< nothing waits
        held,     ///< the request stands
        answered, ///< it is gone, and the new owners are not known yet
        given_up  ///< it stands, and has stood for too long
    };

    phase phase_ = phase::open;
    wall_time since_{};
    std::optional<mono_time> waits_since_{};
    std::uint64_t answers_ = 0;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_FIRING_HOLD_HPP
