// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_ROUND_FOLLOWING_IPP
#define ELASTICJOB_IMPL_EXECUTION_ROUND_FOLLOWING_IPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/clock_slack.hpp>
#include <elasticjob/execution/round_following.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/registry/retry_pauses.hpp>

namespace elasticjob {

ELASTICJOB_DECL round_following::round_following(following_basis basis) : basis_{std::move(basis)} {
    if (basis_.followed) followed_at_.emplace(job_name::parse(basis_.followed->job).value());
}

ELASTICJOB_DECL void round_following::note_record(item_index i, std::optional<std::string_view> text) {
    if (text) {
        if (auto const record = run_record::parse(*text)) {
            items_.insert_or_assign(i, item_rounds{*record});
            return;
        }
    }
    items_.erase(i);
}

ELASTICJOB_DECL following_step round_following::next(followed_job_view const& view, wall_time wall) {
    if (!written_) return {following_step::kind::read};
    if (basis_.followed && is_hindered(view)) {
        bool const is_being_read = !view.is_loaded && !view.failure;
        if (is_being_read || written_->is_of(&*basis_.followed)) return {};
        pending_ = decide_to_follow(&*basis_.followed); // otherwise the rounds of the former job stay on record
        return {following_step::kind::commit, writing(pending_)};
    }
    pending_ = basis_.followed ? decide(view, wall) : decide_to_follow(nullptr);
    if (pending_.is_news) return {following_step::kind::commit, writing(pending_)};
    return rest_after(pending_);
}

ELASTICJOB_DECL following_step round_following::written_read(result<node> read, followed_job_view const& view,
                                                             wall_time wall) {
    if (!read && !(read.error() == errc::no_node)) return after_failure(read.error());
    written_.emplace();
    version_.reset();
    if (read) {
        version_ = read->stat.version;
        auto parsed = followed_rounds::parse(read->data);
        if (parsed)
            written_ = *std::move(parsed);
        else
            reports_.push_back(
                {errc::malformed_data, "is begun anew: " + to_string(parsed.error()), basis_.at.after().str()});
    }
    return next(view, wall);
}

ELASTICJOB_DECL following_step round_following::committed(result<commit_reply> reply) {
    if (reply && *reply) {
        version_ = version_ ? *version_ + 1 : 0;
        written_ = pending_.after;
        return rest_after(pending_);
    }
    written_.reset(); // another leader may have written, or this may have happened
    if (!reply) return after_failure(reply.error());
    return {.pause = detail::retry_pause};
}

ELASTICJOB_DECL following_step round_following::after_failure(error const& why) {
    if (failed_.is_news(why)) reports_.push_back(why);
    return {.pause = detail::pause_before_retry(why)};
}

ELASTICJOB_DECL following_step round_following::rest_after(decision const& d) {
    failed_.end();
    looked_through_ = std::max(looked_through_, d.through);
    has_looked_ |= d.is_look;
    return {};
}

ELASTICJOB_DECL void round_following::learn(followed_job_view const& view) {
    auto const written_at = [](node const* n) { return n ? n->stat.modified : 0; };
    std::pair const now{written_at(view.config), written_at(view.schedule)};
    if (followed_.read_at == now) return;
    followed_ = {};
    followed_.read_at = now;
    auto const read = from_json(view.config ? view.config->data : std::string{});
    followed_.is_there = view.config && read && *read;
    if (followed_.is_there) {
        followed_.items = static_cast<std::size_t>((*read)->sharding_total_count);
        followed_.is_monitored = (*read)->monitor_execution;
    }
    auto const whole = with_schedule_text(job_config{}, view.schedule ? view.schedule->data : std::string{});
    auto const is_delay = [](job_schedule const& s) { return s.is == job_schedule::kind::fixed_delay; };
    followed_.has_rounds = !whole || std::none_of(whole->schedules.begin(), whole->schedules.end(), is_delay);
}

ELASTICJOB_DECL bool round_following::is_hindered(followed_job_view const& view) {
    std::string what;
    bool hindered = true;
    if (!view.is_loaded) {
        if (!view.failure) return true; // being read, as when a record is new: what was reported may still hold
        what = "cannot be read: " + to_string(*view.failure);
    } else {
        learn(view);
        if (followed_.is_there && !followed_.is_monitored)
            what = "does not monitor its execution, so nobody knows how its rounds end: switch that on";
        else if (!followed_.has_rounds)
            what = "has no rounds, because with a fixed delay each of its items is due at times of its own: give "
                   "it another schedule";
        hindered = !what.empty();
        if (!hindered && view.failure) // what was read before still counts
            what = "cannot be read any more, so its rounds may not be seen to end: " + to_string(*view.failure);
        if (what.empty() && view.has_java_members)
            what = "has members of 2.1.5, which keep no records: a round in which they have items is never seen to "
                   "end";
    }
    if (what != reported_ && !what.empty())
        reports_.push_back({errc::invalid_config,
                            "the job " + basis_.followed->job + ", which this one follows, " + what,
                            followed_at_->root().str()});
    reported_ = std::move(what);
    return hindered;
}

ELASTICJOB_DECL round_following::decision round_following::decide_to_follow(job_schedule const* what) const {
    decision d;
    d.after = *written_;
    d.after.follow(what);
    d.is_news = !written_->is_of(what);
    return d;
}

ELASTICJOB_DECL round_following::decision round_following::decide(followed_job_view const& view, wall_time wall) {
    auto const& what = *basis_.followed;
    decision d;
    d.is_look = true;
    std::vector<item_rounds> items;
    auto const end = items_.lower_bound(static_cast<item_index>(followed_.items));
    for (auto at = items_.begin(); at != end; ++at) items.push_back(at->second);
    auto settled = items.empty() ? wall_time{} : wall_time::max();
    for (auto const& item : items) settled = std::min(settled, item.settled());
    bool const begins = !written_->is_of(&what);
    bool const is_first_look = begins || written_->seen == wall_time{};
    bool const is_whole = items.size() == followed_.items;
    // Another end of the same job's rounds may count from now on, but a round that is on record has been handled.
    bool const is_same_job = written_->job == what.job && !written_->rounds.empty();
    auto const on_record = is_same_job ? written_->rounds.back().of : wall_time{};
    auto const looked_before = begins ? wall_time{} : std::max(written_->seen, looked_through_);
    auto const looked_through = detail::believable(std::max(on_record, looked_before), wall);
    if (is_whole) d.through = settled;
    if (!begins && (!is_whole || settled <= looked_through)) return d;

    d.after = *written_;
    d.is_news = begins;
    if (followed_.is_there) d.config_version = view.config->stat.version;
    if (begins) {
        d.after.follow(&what);
        // An item without a record may still be in a round that the others have ended.
        if (is_whole) d.after.seen = settled;
    }
    if (!is_whole) return d;
    std::uint64_t forgotten = 0;
    for (auto const& round : ended_rounds(items, looked_through)) {
        if (is_first_look && round.ended <= basis_.since) continue;
        bool const counts = counts_as(round.fate, what.after);
        forgotten += round.fate == round_fate::forgotten && !counts;
        if (!counts) continue;
        mend(d.after, wall);
        d.after.add(round.due, has_looked_ ? wall : std::min(round.ended, wall));
        d.is_news = true;
    }
    if (forgotten != 0)
        reports_.push_back({errc::round_missed,
                            std::to_string(forgotten) +
                                " rounds were over before anybody looked, and the records of the job " + what.job +
                                " do not tell any more how they ended: nothing is run for them",
                            followed_at_->run_records().str()});
    return d;
}

ELASTICJOB_DECL void round_following::mend(followed_rounds& all, wall_time wall) {
    all.last = detail::believable(all.last, wall);
    std::erase_if(all.rounds, [&](auto const& r) { return r.due > all.last; });
}

ELASTICJOB_DECL transaction round_following::writing(decision const& d) const {
    transaction t{basis_.generation};
    t.check(basis_.at.leader_instance());
    if (basis_.schedule_version)
        t.check(basis_.at.schedule(), *basis_.schedule_version);
    else
        t.check_absent(basis_.at.schedule());
    if (d.config_version) t.check(followed_at_->config(), *d.config_version);
    if (version_)
        t.set(basis_.at.after(), d.after.to_text(), *version_);
    else
        t.create(basis_.at.after(), d.after.to_text());
    return t;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_ROUND_FOLLOWING_IPP
