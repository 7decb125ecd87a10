// SPDX-License-Identifier: Apache-2.0
/// \file \brief The facts about processes, jobs and items in the log of a soak, as values.
#ifndef ELASTICJOB_TEST_SOAKING_SOAK_FACTS_HPP
#define ELASTICJOB_TEST_SOAKING_SOAK_FACTS_HPP

#include <support/kept_ledger.hpp>

#include <elasticjob/execution/run_record.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

inline constexpr std::int64_t soak_never = std::numeric_limits<std::int64_t>::max();

inline std::int64_t soak_ms(wall_time t) { return t.time_since_epoch() / std::chrono::milliseconds{1}; }

/// A time span; the end `soak_never` means that it is still open.
struct soak_span {
    std::int64_t from, to;
    bool meets(std::int64_t begin, std::int64_t end) const { return from < end && to > begin; }
};

inline bool meets_any(std::vector<soak_span> const& spans, std::int64_t begin, std::int64_t end) {
    return std::ranges::any_of(spans, [&](soak_span const& s) { return s.meets(begin, end); });
}

/// A stretch begins or ends; the same news twice changes nothing.
inline void open_span(std::vector<soak_span>& spans, std::int64_t at) {
    if (spans.empty() || spans.back().to != soak_never) spans.push_back({at, soak_never});
}
inline void close_span(std::vector<soak_span>& spans, std::int64_t at) {
    if (!spans.empty() && spans.back().to == soak_never) spans.back().to = at;
}

/// A worker or a Java-like member, from its start to its end. Times are of the steady clock, in microseconds.
struct soak_process {
    struct membership {
        std::string id, session;
        std::int64_t joined_us;
    };
    std::string ip;
    std::set<std::string> jobs{}; ///< that it is to join
    std::int64_t killed_us = soak_never, terminated_us = soak_never, ended_us = soak_never;
    std::vector<soak_span> frozen{}, cut{};
    std::map<std::string, std::vector<membership>> joined{}; ///< by job, one for each session
    std::set<std::string> left{};                            ///< jobs

    bool is_there() const { return std::min({killed_us, terminated_us, ended_us}) == soak_never; }
    std::int64_t death_us() const { return std::min(killed_us, ended_us); }
    bool had_id(std::string const& job, std::string const& id) const {
        auto const of_job = joined.find(job);
        return of_job != joined.end() &&
               std::ranges::any_of(of_job->second, [&](membership const& m) { return m.id == id; });
    }
    membership const* current(std::string const& job) const {
        auto const of_job = joined.find(job);
        return of_job == joined.end() || left.contains(job) ? nullptr : &of_job->second.back();
    }
    /// Whether anything was done to it in that stretch, or it lost a session by itself.
    bool was_disturbed(std::string const& job, std::int64_t begin, std::int64_t end) const {
        auto const is_within = [&](std::int64_t at) { return at >= begin && at <= end; };
        auto const of_job = joined.find(job);
        bool const has_rejoined =
            of_job != joined.end() && std::any_of(of_job->second.begin() + 1, of_job->second.end(),
                                                  [&](auto const& m) { return is_within(m.joined_us); });
        return has_rejoined || is_within(killed_us) || is_within(terminated_us) || is_within(ended_us) ||
               meets_any(frozen, begin, end) || meets_any(cut, begin, end);
    }
};

/// A call of the body.
struct soak_call {
    std::string who;
    std::int64_t due_ms, token, began_us;
    unsigned attempt;
    std::int64_t ended_us = soak_never; ///< `soak_never`: it runs, or died with its process
    bool is_fenced = false;

    bool has_ended() const { return ended_us != soak_never; }
};

/// An item's record has begun to follow another schedule. What was not handled under the old one is dropped.
struct soak_new_schedule {
    std::int64_t through_ms; ///< what was handled before
    std::int64_t known_ms;   ///< by then the new one was there
};

/// The facts about an item.
struct soak_item {
    std::vector<soak_call> calls{};
    std::optional<run_record> record{}; ///< as it was last
    std::int64_t version = -1, version_seen_us = 0, token = 0;
    kept_ledger ledger{};
    std::vector<soak_new_schedule> new_schedules{};
    std::int64_t last_begun_us = 0, judged_ms = 0;

    /// Whether its record followed another schedule for what is due after a moment within that stretch. A clock that is
    /// behind may take instants from before the change for instants of the new one.
    bool has_new_schedule_within(std::int64_t from_ms, std::int64_t to_ms) const {
        return std::ranges::any_of(
            new_schedules, [&](soak_new_schedule const& n) { return n.through_ms >= from_ms && n.through_ms < to_ms; });
    }
};

/// The facts about a job.
struct soak_job {
    struct schedule {
        std::int64_t from_ms, step_ms;
    };
    unsigned items = 0;
    bool has_failover = false, is_full = false;
    std::int64_t accounted_ms = soak_never;        ///< due instants from here on are accounted for
    std::vector<schedule> schedules{};             ///< the first has no beginning
    std::map<std::int64_t, std::int64_t> orders{}; ///< to run: by when they were given, their revisions
    std::set<std::string> servers_off{};
    bool is_removed = false;
    std::map<unsigned, soak_item> by_item{};
    std::set<std::int64_t> firings{};
    // The leader.
    std::string leader{};
    std::int64_t leaderless_since_us = soak_never;

    std::int64_t step_at(std::int64_t ms) const {
        auto step = schedules.front().step_ms;
        for (auto const& s : schedules)
            if (s.from_ms < ms) step = s.step_ms;
        return step;
    }
    /// Where the first of so many instants up to `due_ms` may be, by any of the schedules.
    std::int64_t reach_of(std::int64_t due_ms, std::uint64_t count) const {
        auto const longest = std::ranges::max(schedules, {}, &schedule::step_ms).step_ms;
        return due_ms - static_cast<std::int64_t>(count - 1) * longest;
    }
    bool has_change_within(std::int64_t from_ms, std::int64_t to_ms) const {
        return std::ranges::any_of(schedules,
                                   [&](schedule const& s) { return s.from_ms > from_ms && s.from_ms <= to_ms; });
    }
    /// Whether a due instant fell between what was handled under a schedule and the beginning of the next one, or under
    /// a schedule that the item's record has not learned of: it was over before, or a clock was ahead of its beginning.
    bool is_dropped(soak_item const& item, std::int64_t due_ms) const {
        auto const is_between = [&](soak_new_schedule const& n) {
            std::int64_t began = 0;
            for (auto const& s : schedules)
                if (s.from_ms <= n.known_ms) began = s.from_ms;
            return due_ms >= std::min(n.through_ms, began) && due_ms <= std::max(n.through_ms, began);
        };
        auto const now = span_of_schedule(due_ms);
        auto const is_learned = [&](soak_new_schedule const& n) {
            return n.known_ms >= now.from && n.known_ms <= now.to;
        };
        return std::ranges::any_of(item.new_schedules, is_between) ||
               (now.from != 0 && std::ranges::none_of(item.new_schedules, is_learned));
    }
    /// The period with the same schedule as at that moment.
    soak_span span_of_schedule(std::int64_t ms) const {
        auto const step_ms = step_at(ms);
        soak_span span{0, soak_never};
        for (auto const& s : schedules) {
            if (s.from_ms < ms && s.step_ms != step_ms) span.from = soak_never;
            if (s.from_ms < ms && s.step_ms == step_ms) span.from = std::min(span.from, s.from_ms);
            if (s.from_ms >= ms && s.step_ms != step_ms) span.to = std::min(span.to, s.from_ms);
        }
        return span;
    }
    void forget_schedules(std::int64_t before_ms) {
        while (schedules.size() > 1 && schedules[1].from_ms < before_ms) schedules.erase(schedules.begin());
    }
    /// All due instants of a stretch, both ends included.
    std::vector<std::int64_t> due(std::int64_t from_ms, std::int64_t to_ms) const {
        std::vector<std::int64_t> found;
        for (auto ms = (from_ms + 999) / 1000 * 1000; ms <= to_ms; ms += 1000)
            if (ms % step_at(ms) == 0) found.push_back(ms);
        return found;
    }
};

/// The nodes of one job at one moment, by path below the job.
struct soak_node {
    std::string session, data; ///< the session is empty for a persistent node
    std::int32_t version = 0;
    std::int64_t asked_us = 0; ///< when it was asked for
};
using soak_tree = std::map<std::string, soak_node>;

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SOAKING_SOAK_FACTS_HPP
