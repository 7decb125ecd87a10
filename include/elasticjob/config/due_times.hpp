// SPDX-License-Identifier: Apache-2.0
/// \file \brief When a job is due: its schedules in the zone that counts for it.
#ifndef ELASTICJOB_CONFIG_DUE_TIMES_HPP
#define ELASTICJOB_CONFIG_DUE_TIMES_HPP

#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/timetable.hpp>
#include <elasticjob/cron/zone_ref.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace elasticjob {

namespace detail {

/// What a search from an instant has found. It answers for all instants between, so that many items cost one search.
struct known_search {
    std::optional<wall_time> from{}; ///< nothing: none has been made
    timetable::finding found{};

    /// Whether a search from there would find the same: `shift` is what a search adds to where it begins.
    bool answers(wall_time t, std::chrono::milliseconds shift) const;
};

/// The last searches that took long, of a timetable: hardly any does. A copy begins without.
class long_searches {
public:
    long_searches() = default;
    long_searches(long_searches const&) noexcept {}
    long_searches(long_searches&&) = default;
    long_searches& operator=(long_searches const&) noexcept {
        known_.reset();
        return *this;
    }
    long_searches& operator=(long_searches&&) = default;

    enum class kind : std::uint8_t { of_schedules, of_delays };

    timetable::finding const* find(kind k, wall_time t, std::chrono::milliseconds shift) const;
    void note(kind k, wall_time from, timetable::finding const& found);
    bool is_given_up() const;

private:
    static constexpr std::uint64_t looks_min = 1'000;
    std::unique_ptr<std::array<known_search, 2>> known_;
};

} // namespace detail

/// The zone that a configuration names, as a scheduler in the zone `standard` finds it. Errors: invalid_config.
result<std::shared_ptr<zone_ref const>> load_zone(zone_ref standard, std::string_view name);

/// The timetable of a configuration, in the zone that the configuration names (`load_zone`), or else in a standard zone. A
/// value. Threads: one at a time, as it remembers its last long search.
class due_times {
    using searches = detail::long_searches;

public:
    /// Never.
    due_times() = default;

    /// `standard` must outlive this. Errors: invalid_config, when there is no zone of the configured name;
    /// cron_never_fires, when exclusions, begin and end leave nothing that is ever due.
    static result<due_times> of(valid_config const& config, zone_ref standard);

    /// When `once_now` is due; without it, it never is.
    void set_now(std::optional<wall_time> t) { now_ = has_now_ ? t : std::nullopt; }

    /// Whether the job is due for rounds of another one, and by nothing else.
    bool follows() const noexcept { return follows_; }
    /// For which. Without effect if the job follows none.
    void set_rounds(std::vector<followed_round> all);
    /// The last instant that is known at which the job is due for a round of another; 1970 if there is none.
    wall_time last_round() const { return rounds_.empty() ? wall_time{} : rounds_.back().due; }
    /// For which round the job is due then, if for any.
    std::optional<wall_time> round_at(wall_time due) const;

    /// The first instant after `after` at which all items are due. See `timetable::next`. `once_now` knows neither
    /// begin nor end nor exclusions. Adds the looks that it takes to `looks`, if given.
    std::optional<wall_time> next(wall_time after, std::uint64_t* looks = nullptr) const;

    /// When an item is due whose last run ended then, by fixed delays alone.
    std::optional<wall_time> next_after_end(wall_time ended) const;

    /// Why the last search was given up, so that it is not known when the job is due; nothing if it was not. The error
    /// is cron_never_fires.
    std::optional<error> find_problem() const;

    /// By how much later an item begins than it is due.
    std::chrono::milliseconds delay_of(item_index item) const;

    /// Whether the items are due at the same instants, so that there are rounds.
    bool has_rounds() const { return table_.delays.empty(); }
    /// Whether items have times of their own to begin at.
    bool is_per_item() const { return jitter_.count() != 0 || !has_rounds(); }

private:
    due_times(valid_config const& config, zone_ref standard);

    std::vector<followed_round>::const_iterator first_round_after(wall_time t) const;

    /// Precondition: there is something to search for, so this is not a default one.
    zone_ref const& zone() const { return named_ ? *named_ : *standard_; }

    timetable table_{};
    std::optional<zone_ref> standard_{};
    std::shared_ptr<zone_ref const> named_{};
    std::optional<wall_time> now_{};
    bool has_now_ = false;
    bool follows_ = false;
    std::vector<followed_round> rounds_{};
    std::chrono::milliseconds jitter_{0};
    std::uint64_t seed_ = 0;
    mutable searches known_{};
};

/// The next `count` instants after `after` at which a job so configured is due; fewer if there are no more. Without fixed
/// delays and `after_job`, which follow from how long runs take, without `once_now`, and without jitter. Errors: those of
/// `validate` and of `due_times::of`.
result<std::vector<wall_time>> preview(job_config config, wall_time after, std::size_t count, zone_ref zone);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/due_times.ipp>
#endif
#endif // ELASTICJOB_CONFIG_DUE_TIMES_HPP
