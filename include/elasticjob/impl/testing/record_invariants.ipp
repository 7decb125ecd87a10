// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_RECORD_INVARIANTS_IPP
#define ELASTICJOB_IMPL_TESTING_RECORD_INVARIANTS_IPP

#include <elasticjob/testing/record_invariants.hpp>

namespace elasticjob::testing::detail {

ELASTICJOB_DECL std::optional<run_record> record_of(cluster_view const& v, std::string const& job, item_index i) {
    auto const* there = v.find(cluster_view::layout(job).run_record(i));
    if (!there) return std::nullopt;
    auto read = run_record::parse(there->data);
    if (!read) return std::nullopt;
    return *std::move(read);
}

ELASTICJOB_DECL std::string find_wrong(record_step const& s) {
    auto const when = [](wall_time t) { return std::to_string(t.time_since_epoch() / std::chrono::milliseconds{1}); };
    auto const& before = s.before;
    auto const& now = s.now;
    bool const runs_on = before.running && now.running && *before.running == *now.running;
    if (runs_on) return {}; // only a checkpoint has changed
    if (before.running) {
        auto const is_of_it = [&](run_entry const& e) { return e.run == *before.running; };
        auto const entry = std::find_if(now.ledger.begin(), now.ledger.end(), is_of_it);
        bool const is_entered = entry != now.ledger.end();
        if (!is_entered && s.was_called && before.running->instance != nobody)
            return "lost a run that had begun, for " + when(before.running->due);
        if (!is_entered && !s.was_called) return {};                 // the start was undone
        bool const is_first = is_entered && entry->run.attempt == 1; // a later attempt may be the last one
        if (is_first && entry->outcome == run_outcome::interrupted && s.has_failover)
            return "was not run again, though it was interrupted, for " + when(entry->run.due);
    }
    run_retry const* tried_again = nullptr;
    for (auto const& [waited, waits] : {std::pair{&before.retry, &now.retry}, std::pair{&before.resume, &now.resume}}) {
        if (!*waited) continue;
        auto const& w = **waited;
        bool const is_begun = now.running && now.running->due == w.due && now.running->attempt == w.attempt &&
                              now.running->source == w.source;
        if (is_begun) tried_again = &w;
        auto const is_dropped = [&](run_entry const& e) { return e.run.due == w.due && e.run.attempt == w.attempt; };
        if (!*waits && !is_begun && std::none_of(now.ledger.begin(), now.ledger.end(), is_dropped))
            return "lost a run that was to be tried again, for " + when(w.due);
    }
    if (!now.running) return {};
    auto const& r = *now.running;
    if (tried_again) {
        if (r.begun < tried_again->at) return "was tried again too early, for " + when(r.due);
    } else if (r.source == run_source::failover) {
        bool const follows = before.running && before.running->due == r.due && before.running->attempt + 1 == r.attempt;
        if (!follows) return "makes up for a run that was not interrupted, for " + when(r.due);
        auto const& former = before.running->instance;
        if (former != r.instance && s.former_lives) return "makes up for a run whose instance lives: " + former;
    } else if (r.source != run_source::trigger) {
        bool const is_other_schedule = before.schedule != now.schedule;
        bool const was_from_the_future = before.through > r.begun + std::chrono::hours{1};
        if (!is_other_schedule && !was_from_the_future && r.due <= before.through)
            return "is run for an instant that has been dealt with: " + when(r.due);
    }
    return {};
}

} // namespace elasticjob::testing::detail

namespace elasticjob::testing {

ELASTICJOB_DECL std::string records_tell_one_story::on(observation const& o, cluster_view const&) {
    if (o.what == observation::kind::body_began && o.token != 0) called_.insert({o.job, o.item, o.token});
    return {};
}

ELASTICJOB_DECL std::string records_tell_one_story::changed(tree_event const& e, cluster_view const& v) {
    if (e.path.ends_with("/config")) note_failover(std::string{detail::job_of(e.path)}, v);
    auto const at = detail::record_place_of(e.path);
    if (e.kind != watch_kind::data || !at) return {};
    auto const& [job, item] = *at;
    auto& known = known_[{job, item}];
    auto const* there = v.find(*node_path::parse(e.path));
    if (!there) {
        known = {};
        return {};
    }
    if (there->stat.modified == known.at) return {}; // a step may have several changes and reports each
    auto const read = run_record::parse(there->data);
    if (!read) return detail::item_text(job, item) + " has a record that cannot be read";
    auto wrong = known.at == 0 ? std::string{} : judge(job, item, known, *read, v);
    // If several steps coincide, only their sum is visible; then the token is that of the last run.
    auto const token = read->running ? read->token_of(there->stat.modified) : 0;
    if (!(known.record.running && read->running && *known.record.running == *read->running)) {
        known.token = token;
        known.begun = v.server.world().now();
    }
    known.record = *read;
    known.at = there->stat.modified;
    if (!wrong.empty()) wrong = detail::item_text(job, item) + " " + wrong;
    return wrong;
}

ELASTICJOB_DECL std::string records_tell_one_story::judge(std::string const& job, item_index item,
                                                          knowledge const& known, run_record const& now,
                                                          cluster_view const& v) {
    detail::record_step step{known.record, now};
    step.was_called = called_.contains({job, item, known.token});
    // A member that has not received the change yet, because it or its network is slow, uses the old setting until its
    // session ends. It may also record an interrupted run much later, together with the item's next run. So this check
    // covers only runs that began when all members knew the change.
    auto const& failover = failover_[job];
    auto const delay = 2 * v.server.options().session_timeout;
    bool const all_know = !failover.was_switched || known.begun - failover.since > delay;
    step.has_failover = failover.is_on && all_know;
    if (auto const& former = known.record.running)
        step.former_lives = v.find(cluster_view::layout(job).instances() / former->instance) != nullptr;
    return detail::find_wrong(step);
}

ELASTICJOB_DECL void records_tell_one_story::note_failover(std::string const& job, cluster_view const& v) {
    auto const config = from_json(v.data(cluster_view::layout(job).config()));
    bool const is_on = config && *config && (*config)->failover;
    auto const [known, is_first] = failover_.try_emplace(job);
    known->second.was_switched |= !is_first && known->second.is_on != is_on;
    if (known->second.is_on != is_on) known->second.since = v.server.world().now();
    known->second.is_on = is_on;
}

ELASTICJOB_DECL std::string every_instant_is_dealt_with::reached(stage s, cluster_view const& v) {
    if (s == stage::settled) begin_ = v.server.world().wall_now();
    if (s != stage::watched) return {};
    for (auto const& job : v.jobs) {
        auto const at = cluster_view::layout(job);
        auto const alive = v.live_instances(job);
        auto const config = v.data(at.config());
        auto const schedule = v.data(at.schedule());
        auto const stored = from_json(config);
        if (stored && *stored && !(*stored)->monitor_execution) continue; // nobody records the runs of this job
        for (item_index i = 0; i < detail::item_count(v, job).value_or(0); ++i) {
            auto const owner = alive.find(v.data(at.item_instance(i)));
            if (owner == alive.end() || v.find(at.item_disabled(i))) continue; // I3 checks this case
            auto const record = detail::record_of(v, job, i);
            if (!record) return detail::item_text(job, i) + " has no record";
            if (record->running) {
                auto const& who = record->running->instance;
                if (!alive.contains(who)) return detail::item_text(job, i) + " still shows a run of " + who;
                continue;
            }
            if (auto const& waiting = record->resume ? record->resume : record->retry) { // later ones wait too
                auto const ahead = std::chrono::duration_cast<wall_time::duration>(owner->second->wall_offset);
                if (waiting->at < v.server.world().wall_now() + ahead - longest_run)
                    return detail::item_text(job, i) + " has not been tried again";
                continue;
            }
            // Instants follow the owner's clock. A skip is reported, but recorded only with the next run, which may be
            // far in the future if part of the day is excluded.
            auto const ahead = std::chrono::duration_cast<wall_time::duration>(owner->second->wall_offset);
            auto const until = v.server.world().wall_now() + ahead - longest_run;
            auto const due = v.due(config, schedule, begin_ + ahead, until);
            if (!due.empty() && record->through < due.back() && !is_told_to_be_skipped(v, job, i, due.back()))
                return detail::item_text(job, i) + " has not been run, or anything else, for " +
                       std::to_string(due.back().time_since_epoch() / std::chrono::seconds{1});
        }
    }
    return {};
}

ELASTICJOB_DECL bool every_instant_is_dealt_with::is_told_to_be_skipped(cluster_view const& v, std::string const& job,
                                                                        item_index i, wall_time due) {
    return std::any_of(v.log.begin(), v.log.end(), [&](observation const& o) {
        return o.what == observation::kind::skipped && o.job == job && o.item == i && o.due >= due;
    });
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_RECORD_INVARIANTS_IPP
