// SPDX-License-Identifier: Apache-2.0
/// \file \brief The leader's work in a job that follows another: to write down which rounds of that one are over.
#ifndef ELASTICJOB_EXECUTION_ROUND_FOLLOWER_HPP
#define ELASTICJOB_EXECUTION_ROUND_FOLLOWER_HPP

#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/execution/round_ends.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/mirror.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// Lives while an instance leads under one schedule. Watches the run records of the job that is followed, and writes
/// each round that is over and counts to `ext/after`, in one transaction that checks that this instance still leads,
/// that nobody else has written there, and that both jobs are configured as they were when this was decided. So whoever
/// leads, and whenever a leader dies, each round is written once at most; and the next leader finds what has not been
/// written in the records, as far as they go back.
/// A job begins with the rounds that end after its schedule was written. A round is due when the leader sees its end;
/// if it was over before the leader looked, when it ended.
/// Costs: a watch for each item of the job that is followed, and a reading of its record whenever that changes; a
/// transaction for each round that counts. `Tell`, called with an error, hears of what keeps rounds from being seen.
/// Threads: the loop's.
template <registry Registry, class Tell>
class round_follower {
    using Loop = typename Registry::loop_type;
    using milliseconds = std::chrono::milliseconds;

public:
    /// What the leader goes by.
    struct basis {
        session_generation generation;
        job_layout at;                          ///< of the job that is led
        std::optional<job_schedule> followed{}; ///< nothing: it follows no other
        std::optional<node_version> schedule_version{}; ///< of its `ext/schedule`; nothing: there is none
        wall_time since{};                      ///< when that was written, by the registry's clock
    };

    /// Precondition: what is followed has been checked, as that of a valid configuration.
    round_follower(Registry& r, basis b, Tell tell);

private:
    /// What is watched of the job that is followed.
    struct followed_job : change_listener {
        followed_job(round_follower& o, job_layout at);

        static void take_record(change_listener& self, node_change const& change);

        bool is_loaded() const;
        error const* failure() const;

        /// Reads what there is to read of its configuration, if that is another than it was.
        void learn();
        bool has_java_members() const;

        job_layout where;
        std::map<item_index, item_rounds> items;                     ///< as their records tell
        std::pair<revision, revision> read_at{-1, -1};               ///< configuration and schedule
        bool is_there = false;
        bool is_monitored = false;
        bool has_rounds = true;
        std::size_t count = 0; ///< of its items
        mirror<Registry> config, schedule, instances, records;
    };

    /// What is to be written, and what it was decided on.
    struct decision {
        followed_rounds after{};
        std::optional<node_version> config_version{}; ///< of the job that is followed; nothing: it is not there
        wall_time through{};                  ///< of its rounds, all up to here have been looked at
        bool is_news = false;
    };

    task<void> follow();

    /// Gives after which time to try again, if that is needed.
    task<std::optional<milliseconds>> step();

    /// Whether it could be read.
    task<bool> read_written();

    /// Tells, once, why the rounds of the other job cannot be seen. True if there is no use in looking.
    bool tell_hindrance();

    /// Which rounds are over that have not been looked at, and count.
    decision decide();

    /// What is far ahead was written by a clock that was wrong.
    static wall_time believable(wall_time t, wall_time wall) { return t > wall + clock_slack ? wall : t; }
    static void mend(followed_rounds& all, wall_time wall);

    /// Nothing if it is written, or after which time to try again.
    task<std::optional<milliseconds>> write(decision const& d);

    static constexpr milliseconds retry_pause{200};
    static constexpr milliseconds trouble_pause{5'000};
    static constexpr std::chrono::hours clock_slack{1};

    Registry& registry_;
    basis basis_;
    Tell tell_;
    event_count<Loop> news_;
    std::unique_ptr<followed_job> followed_;
    bool is_read_ = false; ///< whether what follows is what the registry has
    followed_rounds written_{};
    std::optional<node_version> version_{}; ///< nothing: there is no node
    wall_time looked_through_{};    ///< the rounds due up to here
    bool has_looked_ = false;       ///< once: what ends from now on, ends now
    std::string told_;              ///< what hinders
    task_scope tasks_;              ///< last: its task uses all of the above
};

template <registry Registry, class Tell>
round_follower<Registry, Tell>::round_follower(Registry& r, basis b, Tell tell)
    : registry_{r},
      basis_{std::move(b)},
      tell_{std::move(tell)},
      news_{r.loop()} {
    if (basis_.followed) {
        auto const name = job_name::parse(basis_.followed->job);
        assert(name.has_value());
        followed_ = std::make_unique<followed_job>(*this, job_layout{*name});
    }
    tasks_.spawn(follow());
}

template <registry Registry, class Tell>
round_follower<Registry, Tell>::followed_job::followed_job(round_follower& o, job_layout at)
    : change_listener{&take_record},
      where{std::move(at)},
      config{o.registry_, where.config(), mirror_scope::root_only(), o.news_},
      schedule{o.registry_, where.schedule(), mirror_scope::root_only(), o.news_},
      instances{o.registry_, where.instances(), mirror_scope::child_names(), o.news_},
      records{o.registry_, where.run_records(), mirror_scope::children(), o.news_, this} {}

template <registry Registry, class Tell>
void round_follower<Registry, Tell>::followed_job::take_record(change_listener& self, node_change const& change) {
    auto& items = static_cast<followed_job&>(self).items;
    auto const i = detail::parse_number<item_index>(change.path);
    if (!i) return;
    auto const record = elasticjob::run_record::parse(change.value.data);
    if (change.what == node_change::kind::removed || !record)
        items.erase(*i); // one that cannot be read is begun anew by its owner
    else
        items.insert_or_assign(*i, item_rounds{*record});
}

template <registry Registry, class Tell>
bool round_follower<Registry, Tell>::followed_job::is_loaded() const {
    return config.is_loaded() && schedule.is_loaded() && instances.is_loaded() && records.is_loaded();
}

template <registry Registry, class Tell>
error const* round_follower<Registry, Tell>::followed_job::failure() const {
    for (auto const* m : {&config, &schedule, &instances, &records})
        if (m->failure()) return m->failure();
    return nullptr;
}

template <registry Registry, class Tell>
void round_follower<Registry, Tell>::followed_job::learn() {
    auto const of = [](node const* n) { return n ? n->stat.modified : 0; };
    std::pair const now{of(config.root()), of(schedule.root())};
    if (std::exchange(read_at, now) == now) return;
    auto const read = from_json(config.root() ? config.root()->data : std::string{});
    is_there = config.root() && read && *read;
    count = is_there ? static_cast<std::size_t>((*read)->sharding_total_count) : 0;
    is_monitored = is_there && (*read)->monitor_execution;
    auto const whole = with_schedule_text(job_config{}, schedule.root() ? schedule.root()->data : std::string{});
    auto const is_delay = [](job_schedule const& s) { return s.is == job_schedule::kind::fixed_delay; };
    has_rounds = !whole || std::none_of(whole->schedules.begin(), whole->schedules.end(), is_delay);
}

template <registry Registry, class Tell>
bool round_follower<Registry, Tell>::followed_job::has_java_members() const {
    auto const& names = instances.nodes();
    return std::any_of(names.begin(), names.end(), [](auto const& one) {
        auto const id = instance_id::parse(one.first);
        return id && id->is_java();
    });
}

template <registry Registry, class Tell>
task<void> round_follower<Registry, Tell>::follow() {
    for (;;) {
        auto const seen = news_.edition();
        auto const pause = co_await step();
        auto const until = pause ? registry_.loop().now() + *pause : mono_time::max();
        co_await news_.newer_than(seen, until);
    }
}

template <registry Registry, class Tell>
auto round_follower<Registry, Tell>::step() -> task<std::optional<milliseconds>> {
    if (!is_read_) {
        bool const is_read = co_await read_written();
        if (!is_read) co_return retry_pause;
    }
    decision next;
    if (basis_.followed) {
        if (tell_hindrance()) co_return std::nullopt;
        next = decide();
    } else {
        next.after = written_;
        next.after.follow(nullptr);
        next.is_news = !written_.is_of(nullptr);
    }
    if (next.is_news) {
        auto const pause = co_await write(next);
        if (pause) co_return pause;
    }
    looked_through_ = std::max(looked_through_, next.through);
    has_looked_ = true;
    co_return std::nullopt;
}

template <registry Registry, class Tell>
task<bool> round_follower<Registry, Tell>::read_written() {
    auto const there = co_await registry_.get(basis_.at.after());
    if (!there && !(there.error() == errc::no_node)) co_return false;
    written_ = {};
    version_.reset();
    if (there) {
        version_ = there->stat.version;
        auto read = followed_rounds::parse(there->data);
        if (read)
            written_ = *std::move(read);
        else
            tell_(error{errc::malformed_data, "is begun anew: " + to_string(read.error()), basis_.at.after().str()});
    }
    is_read_ = true;
    co_return true;
}

template <registry Registry, class Tell>
bool round_follower<Registry, Tell>::tell_hindrance() {
    std::string what;
    bool is_hindered = true;
    if (!followed_->is_loaded()) {
        auto const* failure = followed_->failure();
        if (!failure) return true; // being read, as when a record is new: what was reported may still hold
        what = "cannot be read: " + to_string(*failure);
    } else {
        followed_->learn();
        if (followed_->is_there && !followed_->is_monitored)
            what = "does not monitor its execution, so nobody knows how its rounds end: switch that on";
        else if (!followed_->has_rounds)
            what = "has no rounds, because with a fixed delay each of its items is due at times of its own: give "
                   "it another schedule";
        is_hindered = !what.empty();
        if (!is_hindered && followed_->has_java_members())
            what = "has members of 2.1.5, which keep no records: a round in which they have items is never seen to "
                   "end";
    }
    if (what != told_ && !what.empty())
        tell_(error{errc::invalid_config, "the job " + basis_.followed->job + ", which this one follows, " + what,
                    followed_->where.root().str()});
    told_ = std::move(what);
    return is_hindered;
}

template <registry Registry, class Tell>
auto round_follower<Registry, Tell>::decide() -> decision {
    auto const& what = *basis_.followed;
    wall_time const wall = std::chrono::floor<milliseconds>(registry_.loop().wall_now());
    decision d;
    auto const end = followed_->items.lower_bound(static_cast<item_index>(followed_->count));
    auto settled = wall_time::max();
    std::size_t known = 0;
    for (auto at = followed_->items.begin(); at != end; ++at, ++known)
        settled = std::min(settled, at->second.settled());
    if (known == 0) settled = {};
    bool const begins = !written_.is_of(&what);
    bool const is_whole = known == followed_->count;
    auto const looked_through = begins ? wall_time{} : believable(std::max(written_.seen, looked_through_), wall);
    if (is_whole) d.through = settled;
    if (!begins && (!is_whole || settled <= looked_through)) return d;

    d.after = written_;
    d.is_news = begins;
    if (followed_->is_there) d.config_version = followed_->config.root()->stat.version;
    if (begins) {
        d.after.follow(&what);
        d.after.seen = settled;
    }
    if (!is_whole) return d;
    std::vector<item_rounds> items;
    for (auto at = followed_->items.begin(); at != end; ++at) items.push_back(at->second);
    std::uint64_t forgotten = 0;
    for (auto const& round : ended_rounds(items, looked_through)) {
        if (begins && round.ended <= basis_.since) continue;
        bool const counts = counts_as(round.fate, what.after);
        forgotten += round.fate == round_fate::forgotten && !counts;
        if (!counts) continue;
        mend(d.after, wall);
        d.after.add(round.due, has_looked_ ? wall : std::min(round.ended, wall));
        d.is_news = true;
    }
    if (forgotten != 0)
        tell_(error{errc::round_missed,
                    std::to_string(forgotten) + " rounds were over before anybody looked, and the records of the job " +
                        what.job + " do not tell any more how they ended: nothing is run for them",
                    followed_->where.run_records().str()});
    return d;
}

template <registry Registry, class Tell>
void round_follower<Registry, Tell>::mend(followed_rounds& all, wall_time wall) {
    all.last = believable(all.last, wall);
    std::erase_if(all.rounds, [&](auto const& r) { return r.due > all.last; });
}

template <registry Registry, class Tell>
auto round_follower<Registry, Tell>::write(decision const& d) -> task<std::optional<milliseconds>> {
    transaction t{basis_.generation};
    t.check(basis_.at.leader_instance());
    if (basis_.schedule_version)
        t.check(basis_.at.schedule(), *basis_.schedule_version);
    else
        t.check_absent(basis_.at.schedule());
    if (d.config_version) t.check(followed_->where.config(), *d.config_version);
    if (version_)
        t.set(basis_.at.after(), d.after.to_text(), *version_);
    else
        t.create(basis_.at.after(), d.after.to_text());
    auto const reply = co_await registry_.commit(std::move(t));
    if (reply && *reply) {
        version_ = version_ ? *version_ + 1 : 0;
        written_ = d.after;
        co_return std::nullopt;
    }
    is_read_ = false; // somebody else may have written, or this may have happened
    if (reply || is_transient(reply.error())) co_return retry_pause;
    tell_(reply.error());
    co_return trouble_pause;
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_ROUND_FOLLOWER_HPP
