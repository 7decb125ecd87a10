// SPDX-License-Identifier: Apache-2.0
/// \file \brief When a job is due: its schedules in the zone that counts for it.
#ifndef ELASTICJOB_CONFIG_DUE_TIMES_HPP
#define ELASTICJOB_CONFIG_DUE_TIMES_HPP

#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/cron/timetable.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

/// A zone that knows others of its kind by name.
template <class Zone>
concept named_time_zone = time_zone<Zone> && requires(std::string_view name) {
    { Zone::load(name) } -> std::same_as<result<Zone>>;
};

namespace detail {

template <time_zone Zone>
struct zones_by_name : std::type_identity<TzifZone> {};
template <named_time_zone Zone>
struct zones_by_name<Zone> : std::type_identity<Zone> {};

/// What a search from an instant has found. It answers for all instants between, so that many items cost one search.
struct known_search {
    std::optional<wall_time> from{}; ///< nothing: none has been made
    timetable::finding found{};

    /// Whether a search from there would find the same: `shift` is what a search adds to where it begins.
    bool answers(wall_time t, std::chrono::milliseconds shift) const {
        if (!from || t < *from) return false;
        if (found.is_given_up) return t <= found.reached - shift;
        return !found.due || t <= *found.due - shift;
    }
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

    timetable::finding const* find(kind k, wall_time t, std::chrono::milliseconds shift) const {
        if (!known_) return nullptr;
        auto const& one = (*known_)[static_cast<std::size_t>(k)];
        return one.answers(t, shift) ? &one.found : nullptr;
    }

    void note(kind k, wall_time from, timetable::finding const& found) {
        if (!known_ && found.looks < looks_min) return;
        if (!known_) known_ = std::make_unique<std::array<known_search, 2>>();
        (*known_)[static_cast<std::size_t>(k)] = {from, found};
    }

    bool is_given_up() const { return known_ && ((*known_)[0].found.is_given_up || (*known_)[1].found.is_given_up); }

private:
    static constexpr std::uint64_t looks_min = 1'000;
    std::unique_ptr<std::array<known_search, 2>> known_;
};

} // namespace detail

/// The timetable of a configuration, in the zone that the configuration names, or else in `Zone`. Zones are found by name
/// where `Zone` finds its own kind, or else in the system's zone database. A value. Threads: one at a time, as it
/// remembers its last long search.
template <time_zone Zone>
class due_times {
    using named_zone = typename detail::zones_by_name<Zone>::type;
    using searches = detail::long_searches;

public:
    /// Never.
    due_times() = default;

    /// Errors: invalid_config, when there is no such zone; cron_never_fires, when exclusions, begin and end leave nothing
    /// that is ever due.
    static result<due_times> of(valid_config const& config, Zone const& standard) {
        due_times d{config, standard};
        if (auto const& name = config.config().time_zone; !name.empty()) {
            auto zone = named_zone::load(name);
            if (!zone)
                return error{errc::invalid_config,
                             "the time zone cannot be loaded: " + to_string(zone.error()) +
                                 "; install the system's zone database, or name another zone",
                             "time_zone"};
            d.zone_ = *std::move(zone);
        }
        bool const has_now = [&] {
            auto const& all = config.config().schedules;
            return std::any_of(all.begin(), all.end(),
                               [](auto const& s) { return s.is == job_schedule::kind::once_now; });
        }();
        d.has_now_ = has_now;
        d.follows_ = find_followed(config.config().schedules) != nullptr;
        if (!has_now && !d.follows_ && !d.next(wall_time::min()) && !d.next_after_end(wall_time{}))
            return d.find_problem().value_or(
                error{errc::cron_never_fires, "nothing is ever due between `starts` and `ends` that is not excluded",
                      "schedules"});
        return d;
    }

    /// When `once_now` is due; without it, it never is.
    void set_now(std::optional<wall_time> t) { now_ = has_now_ ? t : std::nullopt; }

    /// Whether the job is due for rounds of another one, and by nothing else.
    bool follows() const noexcept { return follows_; }
    /// For which. Without effect if the job follows none.
    void set_rounds(std::vector<followed_round> all) {
        if (follows_) rounds_ = std::move(all);
    }
    /// The last instant that is known at which the job is due for a round of another; 1970 if there is none.
    wall_time last_round() const { return rounds_.empty() ? wall_time{} : rounds_.back().due; }
    /// For which round the job is due then, if for any.
    std::optional<wall_time> round_at(wall_time due) const {
        auto const at = first_round_after(due - std::chrono::milliseconds{1});
        if (at == rounds_.end() || at->due != due) return std::nullopt;
        return at->of;
    }

    /// The first instant after `after` at which all items are due. See `timetable::next`. `once_now` knows neither
    /// begin nor end nor exclusions. Adds the looks that it takes to `looks`, if given.
    std::optional<wall_time> next(wall_time after, std::uint64_t* looks = nullptr) const {
        if (follows_) {
            auto const at = first_round_after(after);
            return at == rounds_.end() ? std::optional<wall_time>{} : std::optional<wall_time>{at->due};
        }
        auto const* known = known_.find(searches::kind::of_schedules, after, std::chrono::milliseconds{1});
        std::optional<wall_time> due;
        if (known) {
            due = known->due;
        } else {
            auto const found = in_zone([&](auto const& zone) { return table_.find_next(after, zone); });
            known_.note(searches::kind::of_schedules, after, found);
            if (looks) *looks += found.looks;
            due = found.due;
        }
        if (now_ && *now_ > after && (!due || *now_ < *due)) due = now_;
        return due;
    }

    /// When an item is due whose last run ended then, by fixed delays alone.
    std::optional<wall_time> next_after_end(wall_time ended) const {
        if (table_.delays.empty()) return std::nullopt;
        auto const delay = *std::min_element(table_.delays.begin(), table_.delays.end());
        if (auto const* known = known_.find(searches::kind::of_delays, ended, delay)) return known->due;
        auto const found = in_zone([&](auto const& zone) { return table_.find_next_after_end(ended, zone); });
        known_.note(searches::kind::of_delays, ended, found);
        return found.due;
    }

    /// Why the last search was given up, so that it is not known when the job is due; nothing if it was not. The error
    /// is cron_never_fires.
    std::optional<error> find_problem() const {
        if (!known_.is_given_up()) return std::nullopt;
        return error{
            errc::cron_never_fires,
            "no due time was found with " + std::to_string(timetable::looks_max) +
                " looks at schedules and exclusions: exclude whole hours or days instead of single seconds, or "
                "schedule fewer times that are excluded",
            "excluded"};
    }

    /// By how much later an item begins than it is due.
    std::chrono::milliseconds delay_of(item_index item) const {
        if (jitter_.count() == 0) return jitter_;
        auto const hash = detail::mix_bits(seed_ + item);
        return std::chrono::milliseconds{hash % (static_cast<std::uint64_t>(jitter_.count()) + 1)};
    }

    /// Whether the items are due at the same instants, so that there are rounds.
    bool has_rounds() const { return table_.delays.empty(); }
    /// Whether items have times of their own to begin at.
    bool is_per_item() const { return jitter_.count() != 0 || !has_rounds(); }

private:
    due_times(valid_config const& config, Zone const& standard)
        : table_{config.when()},
          standard_{&standard},
          jitter_{config.config().jitter},
          seed_{detail::mix_bits(detail::fnv_1a(config.name().str()))} {}

    auto first_round_after(wall_time t) const {
        auto const is_before = [](wall_time left, followed_round const& right) { return left < right.due; };
        return std::upper_bound(rounds_.begin(), rounds_.end(), t, is_before);
    }

    template <class Ask>
    timetable::finding in_zone(Ask ask) const {
        if (zone_) return ask(*zone_);
        if (standard_) return ask(*standard_);
        return {};
    }

    timetable table_{};
    Zone const* standard_ = nullptr;
    std::optional<named_zone> zone_{};
    std::optional<wall_time> now_{};
    bool has_now_ = false;
    bool follows_ = false;
    std::vector<followed_round> rounds_{};
    std::chrono::milliseconds jitter_{0};
    std::uint64_t seed_ = 0;
    mutable searches known_{};
};

/// The next `count` instants after `after` at which a job so configured is due; fewer if there are no more. Without fixed
/// delays and `after_job`, which follow from how long runs take, without `once_now`, and without jitter. Errors: those of `validate` and
/// of `due_times::of`.
template <time_zone Zone>
result<std::vector<wall_time>> preview(job_config config, wall_time after, std::size_t count, Zone const& zone) {
    ELASTICJOB_TRY(auto const valid, validate(std::move(config)));
    ELASTICJOB_TRY(auto const due, due_times<Zone>::of(valid, zone));
    std::vector<wall_time> instants;
    for (auto t = due.next(after); t && instants.size() < count; t = due.next(*t)) instants.push_back(*t);
    return instants;
}

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_DUE_TIMES_HPP
