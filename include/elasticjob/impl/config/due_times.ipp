// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_DUE_TIMES_IPP
#define ELASTICJOB_IMPL_CONFIG_DUE_TIMES_IPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/hash.hpp>

#include <string>
#include <utility>

namespace elasticjob {

namespace detail {

ELASTICJOB_DECL bool known_search::answers(wall_time t, std::chrono::milliseconds shift) const {
    if (!from || t < *from) return false;
    if (found.is_given_up) return t <= found.reached - shift;
    return !found.due || t <= *found.due - shift;
}

ELASTICJOB_DECL timetable::finding const* long_searches::find(kind k, wall_time t,
                                                              std::chrono::milliseconds shift) const {
    if (!known_) return nullptr;
    auto const& one = (*known_)[static_cast<std::size_t>(k)];
    return one.answers(t, shift) ? &one.found : nullptr;
}

ELASTICJOB_DECL void long_searches::note(kind k, wall_time from, timetable::finding const& found) {
    if (!known_ && found.looks < looks_min) return;
    if (!known_) known_ = std::make_unique<std::array<known_search, 2>>();
    (*known_)[static_cast<std::size_t>(k)] = {from, found};
}

ELASTICJOB_DECL bool long_searches::is_given_up() const {
    return known_ && ((*known_)[0].found.is_given_up || (*known_)[1].found.is_given_up);
}

} // namespace detail

ELASTICJOB_DECL result<std::shared_ptr<zone_ref const>> load_zone(zone_ref standard, std::string_view name) {
    auto zone = standard.load(name);
    if (zone) return zone;
    return error{errc::invalid_config,
                 "the time zone cannot be loaded: " + to_string(zone.error()) +
                     "; install the system's zone database, or name another zone",
                 "time_zone"};
}

ELASTICJOB_DECL due_times::due_times(valid_config const& config, zone_ref standard)
    : table_{config.shared_timetable()},
      standard_{standard},
      jitter_{config.config().jitter},
      seed_{detail::mix_bits(detail::fnv_1a(config.name().str()))} {}

ELASTICJOB_DECL result<due_times> due_times::of(valid_config const& config, zone_ref standard) {
    due_times d{config, standard};
    if (auto const& name = config.config().time_zone; !name.empty()) {
        ELASTICJOB_TRY(d.named_, load_zone(standard, name));
    }
    auto const& all = config.config().schedules;
    d.has_now_ =
        std::any_of(all.begin(), all.end(), [](job_schedule const& s) { return s.is == job_schedule::kind::once_now; });
    d.follows_ = find_followed(all) != nullptr;
    if (!d.has_now_ && !d.follows_ && !d.next(wall_time::min()) && !d.next_after_end(wall_time{}))
        return d.find_problem().value_or(error{errc::cron_never_fires,
                                               "nothing is ever due between `starts` and `ends` that is not excluded",
                                               "schedules"});
    return d;
}

ELASTICJOB_DECL void due_times::set_rounds(std::vector<followed_round> all) {
    if (!follows_) return;
    rounds_ = std::move(all);
    knows_rounds_ = true;
}

ELASTICJOB_DECL std::optional<wall_time> due_times::round_at(wall_time due) const {
    auto const at = first_round_after(due - std::chrono::milliseconds{1});
    if (at == rounds_.end() || at->due != due) return std::nullopt;
    return at->of;
}

ELASTICJOB_DECL std::optional<wall_time> due_times::next(wall_time after, std::uint64_t* looks) const {
    if (follows_) {
        auto const at = first_round_after(after);
        return at == rounds_.end() ? std::optional<wall_time>{} : std::optional<wall_time>{at->due};
    }
    if (!standard_) return std::nullopt;
    auto const* known = known_.find(searches::kind::of_schedules, after, std::chrono::milliseconds{1});
    std::optional<wall_time> due;
    if (known) {
        due = known->due;
    } else {
        auto const found = table_->find_next(after, zone());
        known_.note(searches::kind::of_schedules, after, found);
        if (looks) *looks += found.looks;
        due = found.due;
    }
    if (now_ && *now_ > after && (!due || *now_ < *due)) due = now_;
    return due;
}

ELASTICJOB_DECL std::optional<wall_time> due_times::next_after_end(wall_time ended) const {
    if (table_->delays.empty()) return std::nullopt;
    auto const delay = *std::min_element(table_->delays.begin(), table_->delays.end());
    if (auto const* known = known_.find(searches::kind::of_delays, ended, delay)) return known->due;
    auto const found = table_->find_next_after_end(ended, zone());
    known_.note(searches::kind::of_delays, ended, found);
    return found.due;
}

ELASTICJOB_DECL std::optional<error> due_times::find_problem() const {
    if (!known_.is_given_up()) return std::nullopt;
    return error{errc::cron_never_fires,
                 "no due time was found with " + std::to_string(timetable::looks_max) +
                     " looks at schedules and exclusions: exclude whole hours or days instead of single seconds, or "
                     "schedule fewer times that are excluded",
                 "excluded"};
}

ELASTICJOB_DECL std::chrono::milliseconds due_times::delay_of(item_index item) const {
    if (jitter_.count() == 0) return jitter_;
    auto const hash = detail::mix_bits(seed_ + item);
    return std::chrono::milliseconds{hash % (static_cast<std::uint64_t>(jitter_.count()) + 1)};
}

ELASTICJOB_DECL std::vector<followed_round>::const_iterator due_times::first_round_after(wall_time t) const {
    auto const is_before = [](wall_time left, followed_round const& right) { return left < right.due; };
    return std::upper_bound(rounds_.begin(), rounds_.end(), t, is_before);
}

ELASTICJOB_DECL result<std::vector<wall_time>> preview(job_config config, wall_time after, std::size_t count,
                                                       zone_ref zone) {
    ELASTICJOB_TRY(auto const valid, validate(std::move(config)));
    ELASTICJOB_TRY(auto const due, due_times::of(valid, zone));
    std::vector<wall_time> instants;
    for (auto t = due.next(after); t && instants.size() < count; t = due.next(*t)) instants.push_back(*t);
    return instants;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_DUE_TIMES_IPP
