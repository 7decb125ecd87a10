// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_DUE_TIMES_IPP
#define ELASTICJOB_IMPL_CONFIG_DUE_TIMES_IPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/hash.hpp>

#include <string>
#include <utility>

namespace elasticjob {

namespace detail {

ELASTICJOB_DECL timetable::finding const* long_searches::find(kind k, wall_time t,
                                                              std::chrono::milliseconds shift) const {
    for (auto const& s : known_) {
        if (s.of != k || t < s.from) continue;
        auto const& f = s.found;
        if (f.is_given_up ? t <= f.reached - shift : !f.due || t <= *f.due - shift) return &f;
    }
    return nullptr;
}

ELASTICJOB_DECL void long_searches::note(kind k, wall_time from, timetable::finding const& found) {
    if (found.looks < looks_min) return;
    if (known_.size() == kept_max) known_.erase(known_.begin());
    known_.push_back({k, from, found});
}

/// Goes on with a search that gives up, within limits.
template <class Search>
std::optional<wall_time> find_patiently(due_times const& d, Search search) {
    constexpr int repeated_max = 20;
    auto due = search();
    for (int n = 0; !due && d.find_problem() && n < repeated_max; ++n)
        if (d.go_on()) due = search();
    return due;
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
    if (d.has_now_ || d.follows_) return d;
    auto const first = [&d] {
        auto const due = d.next(wall_time::min());
        return due ? due : d.next_after_end(wall_time{});
    };
    if (!detail::find_patiently(d, first))
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
    auto due = find(searches::kind::of_schedules, after, looks);
    if (now_ && *now_ > after && (!due || *now_ < *due)) due = now_;
    return due;
}

ELASTICJOB_DECL std::optional<wall_time> due_times::next_after_end(wall_time ended) const {
    if (table_->delays.empty()) return std::nullopt;
    return find(searches::kind::of_delays, ended, nullptr);
}

ELASTICJOB_DECL std::optional<wall_time> due_times::find(searches::kind k, wall_time from, std::uint64_t* looks) const {
    if (auto const* known = known_.find(k, from, shift_of(k))) return known->due;
    auto const found = search(k, from);
    known_.note(k, from, found);
    if (looks) *looks += found.looks;
    return found.due;
}

ELASTICJOB_DECL timetable::finding due_times::search(searches::kind k, wall_time from) const {
    return k == searches::kind::of_delays ? table_->find_next_after_end(from, zone()) : table_->find_next(from, zone());
}

ELASTICJOB_DECL std::chrono::milliseconds due_times::shift_of(searches::kind k) const {
    if (k == searches::kind::of_schedules) return std::chrono::milliseconds{1};
    return *std::min_element(table_->delays.begin(), table_->delays.end());
}

ELASTICJOB_DECL bool due_times::go_on() const {
    bool has_ended = false;
    for (auto& s : known_.known()) {
        if (!s.found.is_given_up) continue;
        s.found = search(s.of, s.found.reached - shift_of(s.of));
        has_ended |= !s.found.is_given_up;
    }
    return has_ended;
}

ELASTICJOB_DECL std::optional<error> due_times::find_problem() const {
    auto const& all = known_.known();
    auto const unfinished = std::find_if(all.begin(), all.end(), [](auto const& s) { return s.found.is_given_up; });
    if (unfinished == all.end()) return std::nullopt;
    return error{
        errc::cron_never_fires,
        "no due time has been found up to " + detail::format_instant(unfinished->found.reached) +
            ", after too many looks at schedules and exclusions: exclude whole hours or days instead of single "
            "seconds, schedule fewer times that are excluded, or let the schedules begin later (`starts`)",
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
    for (auto t = after; instants.size() < count; t = instants.back()) {
        auto const next = detail::find_patiently(due, [&] { return due.next(t); });
        if (next) {
            instants.push_back(*next);
            continue;
        }
        if (auto problem = due.find_problem()) return *std::move(problem);
        break;
    }
    return instants;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_DUE_TIMES_IPP
