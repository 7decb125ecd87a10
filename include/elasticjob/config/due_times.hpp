// SPDX-License-Identifier: Apache-2.0
/// \file \brief The instants at which a job is due: its schedules, in its time zone.
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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace elasticjob {

namespace detail {

/// The last slow searches of a timetable; most searches are fast. A copy is empty. Searches that begin anywhere between
/// the begin of a known one and its result have the same result, so many items need only one search.
class long_searches {
public:
    enum class kind : std::uint8_t { of_schedules, of_delays };
    struct search {
        kind of;
        wall_time from;
        timetable::finding found;
    };

    long_searches() = default;
    long_searches(long_searches const&) noexcept {}
    long_searches(long_searches&&) = default;
    long_searches& operator=(long_searches const&) noexcept {
        known_.clear();
        return *this;
    }
    long_searches& operator=(long_searches&&) = default;

    /// The result that a search from `t` would have, too, or null. A search adds `shift` to its begin.
    timetable::finding const* find(kind k, wall_time t, std::chrono::milliseconds shift) const;

    /// Forgets the oldest search if there are too many.
    void note(kind k, wall_time from, timetable::finding const& found);

    /// Oldest first.
    std::vector<search>& known() noexcept { return known_; }

private:
    static constexpr std::uint64_t looks_min = 1'000;
    static constexpr std::size_t kept_max = 8;

    std::vector<search> known_;
};

} // namespace detail

/// Loads the zone of that name as a scheduler with the zone `standard` does. Errors: invalid_config.
result<std::shared_ptr<zone_ref const>> load_zone(zone_ref standard, std::string_view name);

/// The instants of a configuration, in the zone that the configuration names (`load_zone`), or otherwise in a standard
/// zone. A value. Threads: one at a time, because it remembers its last slow searches.
class due_times {
    using searches = detail::long_searches;

public:
    /// Is never due.
    due_times() = default;

    /// `standard` must outlive this object. Errors: invalid_config if the configured zone cannot be loaded;
    /// cron_never_fires if exclusions, begin and end leave no due instant, or if the search for one gave up.
    static result<due_times> of(valid_config const& config, zone_ref standard);

    /// Sets the instant at which `once_now` is due. Without this call it is never due.
    void set_now(std::optional<wall_time> t) { now_ = has_now_ ? t : std::nullopt; }

    /// Whether the job follows another job. Such a job has no other schedule.
    bool follows() const noexcept { return follows_; }
    /// Sets the rounds for which the job is due. Has no effect if the job follows no other.
    void set_rounds(std::vector<followed_round> all);
    /// Whether they have been set since the schedule has been in force.
    bool knows_rounds() const noexcept { return knows_rounds_; }
    /// The last known instant at which the job is due for a round of the followed job; 1970 if there is none.
    wall_time last_round() const { return rounds_.empty() ? wall_time{} : rounds_.back().due; }
    /// The round for which the job is due at that instant, if any.
    std::optional<wall_time> round_at(wall_time due) const;

    /// The first instant after `after` at which all items are due: see `timetable::next`. Begin, end and exclusions do
    /// not affect `once_now`. If `looks` is given, adds the number of the search's steps to it. Nothing is also the
    /// answer of a search that gave up: see `find_problem`.
    std::optional<wall_time> next(wall_time after, std::uint64_t* looks = nullptr) const;

    /// The instant at which an item is due by fixed delays alone if its last run ended at `ended`. As above.
    std::optional<wall_time> next_after_end(wall_time ended) const;

    /// The error cron_never_fires if a search of one of the functions above gave up, so that a due instant is unknown.
    std::optional<error> find_problem() const;

    /// Goes on with searches that gave up, for as long as each has taken. Returns true if one of them has ended: then
    /// the functions above have another answer.
    bool go_on() const;

    /// The delay between the due instant and the start of an item.
    std::chrono::milliseconds delay_of(item_index item) const;

    /// Whether all items are due at the same instants, so that there are rounds.
    bool has_rounds() const { return table_->delays.empty(); }
    /// Whether the items start at different times.
    bool is_per_item() const { return jitter_.count() != 0 || !has_rounds(); }

private:
    due_times(valid_config const& config, zone_ref standard);

    /// The known result of a search from that time, or that of a new one, whose steps are added to `looks`.
    std::optional<wall_time> find(searches::kind k, wall_time from, std::uint64_t* looks) const;
    timetable::finding search(searches::kind k, wall_time from) const;
    /// The time from the begin of a search to the first instant that it may find.
    std::chrono::milliseconds shift_of(searches::kind k) const;

    std::vector<followed_round>::const_iterator first_round_after(wall_time t) const;

    /// Precondition: this object was not default-constructed.
    zone_ref const& zone() const { return named_ ? *named_ : *standard_; }

    std::shared_ptr<timetable const> table_ = std::make_shared<timetable const>();
    std::optional<zone_ref> standard_{};
    std::shared_ptr<zone_ref const> named_{};
    std::optional<wall_time> now_{};
    bool has_now_ = false;
    bool follows_ = false;
    bool knows_rounds_ = false;
    std::vector<followed_round> rounds_{};
    std::chrono::milliseconds jitter_{0};
    std::uint64_t seed_ = 0;
    mutable searches known_{};
};

/// The next `count` instants after `after` at which a job with this configuration is due; fewer if there are no more.
/// Ignores `once_now` and jitter. Also ignores fixed delays and `after_job`, because they depend on the durations of
/// runs. Errors: those of `validate` and of `due_times::of`; cron_never_fires if the search for one of them gave up.
result<std::vector<wall_time>> preview(job_config config, wall_time after, std::size_t count, zone_ref zone);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/due_times.ipp>
#endif
#endif // ELASTICJOB_CONFIG_DUE_TIMES_HPP
