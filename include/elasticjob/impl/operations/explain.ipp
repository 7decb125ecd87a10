// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_EXPLAIN_IPP
#define ELASTICJOB_IMPL_OPERATIONS_EXPLAIN_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/operations/explain.hpp>
#include <elasticjob/operations/config_with_item.hpp>
#include <elasticjob/operations/no_such_job.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string utc_text(wall_time t) {
    using namespace std::chrono;
    auto const day = floor<days>(t);
    year_month_day const date{day};
    hh_mm_ss const time{floor<milliseconds>(t - day)};
    char text[48];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    std::string line{text};
    if (auto const ms = time.subseconds().count(); ms != 0) {
        std::snprintf(text, sizeof text, ".%03d", static_cast<int>(ms));
        line += text;
    }
    return line + " UTC";
}

ELASTICJOB_DECL std::string outcome_text(run_entry const& e) {
    auto const many = e.count == 1 ? std::string{"the instant "} : std::to_string(e.count) + " instants up to ";
    auto const by = " on " + e.run.instance;
    auto const attempt = e.run.attempt == 1 ? std::string{} : ", attempt " + std::to_string(e.run.attempt);
    auto const why = " (" + std::string{name_of(e.run.source)} + attempt + ")";
    auto note = e.note.empty() ? std::string{} : std::string{": "};
    append_line_text(note, e.note);
    switch (e.outcome) {
    case run_outcome::completed:
        return many + utc_text(e.run.due) + " ran" + by + why + " and was completed at " + utc_text(e.ended);
    case run_outcome::failed:
        return many + utc_text(e.run.due) + " ran" + by + why + " and failed at " + utc_text(e.ended) + note;
    case run_outcome::coalesced:
        return many + utc_text(e.run.due) + " did not run: a later run made up for it";
    case run_outcome::skipped:
        return many + utc_text(e.run.due) + " did not run" + note;
    case run_outcome::interrupted:
        if (!e.note.empty())
            return many + utc_text(e.run.due) + " ran" + by + why + " and was made to stop at " + utc_text(e.ended) +
                   note + "; it was not run again";
        return many + utc_text(e.run.due) + " was interrupted" + why + ": " + e.run.instance +
               " died, and it was not run again, because failover is switched off or this was the last attempt";
    case run_outcome::retried:
        if (!e.note.empty())
            return many + utc_text(e.run.due) + " ran" + by + why + " and failed at " + utc_text(e.ended) + note +
                   "; it was to be tried again";
        return many + utc_text(e.run.due) + " was interrupted" + why + ": " + e.run.instance +
               " died, and it was run again";
    }
    return {};
}

ELASTICJOB_DECL bool item_facts::is_alive(std::string const& id) const {
    return std::find(instances.begin(), instances.end(), id) != instances.end();
}

ELASTICJOB_DECL bool item_facts::has_java_members() const {
    auto const is_java = [](std::string const& id) {
        auto const read = instance_id::parse(id);
        return read && read->is_java();
    };
    return is_java(owner) || std::any_of(instances.begin(), instances.end(), is_java);
}

ELASTICJOB_DECL std::string unrecorded_text(item_facts const& f) {
    if (!f.has_java_members()) return {};
    auto const owner = instance_id::parse(f.owner);
    if (owner && owner->is_java())
        return "It belongs to a member of 2.1.5, which keeps no record: only runs on members of this library are "
               "shown.";
    return "The job has members of 2.1.5, which keep no record: runs on them are not shown.";
}

ELASTICJOB_DECL std::string progress_text(run_progress const& p) {
    auto const of = p.total == 0 ? std::string{} : " of " + std::to_string(p.total);
    return " It had done " + std::to_string(p.done) + of + " by " + utc_text(p.at) + ".";
}

ELASTICJOB_DECL std::string state_text(item_facts const& f) {
    if (f.record && f.record->running) {
        auto const& r = *f.record->running;
        auto line = "It has been running on " + r.instance + " since " + utc_text(r.begun) + ", for the instant " +
                    utc_text(r.due) + " (" + std::string{name_of(r.source)} + ", attempt " + std::to_string(r.attempt) +
                    ").";
        auto const progress = f.progress ? progress_text(*f.progress) : std::string{};
        if (f.is_alive(r.instance)) return line + progress;
        line = "It was interrupted: " + r.instance + " died running it, for the instant " + utc_text(r.due) + "." +
               progress + " ";
        if (!f.config.failover) return line + "Failover is switched off, so it is not run again.";
        if (f.is_disabled) return line + "An operator has disabled it, so it is not run again.";
        // The number of attempts is a setting of the member, but it is always more than one.
        auto const unless =
            r.attempt > 1 ? ", unless attempt " + std::to_string(r.attempt) + " was the last that is allowed." : ".";
        return line +
               (f.is_alive(f.owner) ? f.owner + " runs it again at once"
                                    : "It is run again as soon as a live instance owns it") +
               unless;
    }
    if (f.is_marked) return "It runs on a member that keeps no record: one of 2.1.5.";
    if (f.record && f.record->retry && !f.is_disabled) {
        auto const& r = f.record->resume ? *f.record->resume : *f.record->retry;
        return "It waits to be tried again at " + utc_text(r.at) + ", for the instant " + utc_text(r.due) +
               " (attempt " + std::to_string(r.attempt) + ").";
    }
    if (f.is_disabled) return "It waits: an operator has disabled it. Remove its node `disabled` to have it run.";
    if (f.instances.empty()) return "It waits: the job has no instance.";
    if (f.is_left)
        return "It waits: no instance has the labels that it needs" + (f.needs.empty() ? "" : " (" + f.needs + ")") +
               ".";
    if (!f.is_alive(f.owner)) {
        auto const whose = f.owner.empty() ? std::string{"it has no owner"} : "its owner " + f.owner + " is gone";
        if (!f.has_leader) return "It waits: " + whose + ", and the job has no leader yet to assign it again.";
        return "It waits: " + whose + ", and the leader has not assigned it again" +
               (f.sharding_is_due ? "" : "; perhaps all servers are disabled") + ".";
    }
    auto line = "It is idle, on " + f.owner + ".";
    if (f.record && f.record->next_due)
        line += " As of its last run, it is due next at " + utc_text(*f.record->next_due) + ".";
    if (f.followed)
        line += " It is due when a round of the job '" + f.followed->job + "' " +
                std::string{followed_end_text(f.followed->after)} + ", which takes all items of that round.";
    return line;
}

ELASTICJOB_DECL std::string pause_text(item_facts const& f) {
    if (!f.pause) return {};
    auto const what = f.pause->server.empty() ? std::string{"The job"} : "The server " + f.pause->server;
    return " " + what + " has been paused since " + utc_text(f.pause->since) +
           ": no run begins before an operator resumes it.";
}

ELASTICJOB_DECL std::string server_text(item_facts const& f) {
    if (f.disabled_server.empty()) return {};
    return " An operator has disabled the server " + f.disabled_server +
           ": no run begins there before somebody enables it.";
}

ELASTICJOB_DECL std::string instant_text(item_facts const& f, wall_time instant) {
    auto const name = "The instant " + utc_text(instant);
    if (!f.record) return name + ": nothing is on record, because the job is not monitored, or has never run.";
    if (f.record->running && f.record->running->due == instant) return name + " is the one that it runs for now.";
    run_entry const* cover = nullptr;
    for (auto const& e : f.record->ledger) {
        if (e.run.due == instant) cover = &e;
        if (!cover && e.count > 1 && instant < e.run.due) cover = &e;
    }
    if (cover) return "On record: " + outcome_text(*cover) + ".";
    if (instant <= f.record->through)
        return name + " has been dealt with, or was never due; the record does not go back that far.";
    if (f.has_java_members()) return name + " is not on record. A member of 2.1.5 may have run it nevertheless.";
    return name + " has not been dealt with.";
}

// ---- From the nodes to the explanation.

ELASTICJOB_DECL result<item_facts> facts_from(job_layout const& at, item_index item, explained_nodes read) {
    if (!read.config) return detail::no_such_job(at.root());
    ELASTICJOB_TRY(auto config, config_with_item(at, *read.config, item));
    item_facts facts{.config = std::move(config),
                     .is_disabled = read.disabled.has_value(),
                     .is_marked = read.running.has_value(),
                     .sharding_is_due = read.sharding_necessary.has_value(),
                     .has_leader = read.leader.has_value(),
                     .instances = std::move(read.instances)};
    if (read.schedule) {
        ELASTICJOB_TRY(auto const whole, with_schedule_text(facts.config, read.schedule->data));
        if (auto const* followed = find_followed(whole.schedules)) facts.followed = *followed;
    }
    take_owner(facts, item, read);
    if (read.record) {
        ELASTICJOB_TRY(facts.record, run_record::parse(read.record->data));
        facts.progress = run_record::parse_progress(read.record->data);
    }
    if (read.pauses) {
        auto const pauses = job_pauses::parse(read.pauses->data);
        auto const owner = instance_id::parse(facts.owner);
        auto const* pause = pauses && owner ? pauses->in_force(owner->server()) : nullptr;
        if (pause) facts.pause = *pause;
    }
    auto const owner = instance_id::parse(facts.owner);
    bool const is_off = read.server && read.server->data == server_disabled;
    if (owner && is_off) facts.disabled_server = owner->server();
    return facts;
}

/// None either if it cannot be read, perhaps because it is of a later version.
ELASTICJOB_DECL std::optional<assignment> readable_assignment(explained_nodes const& read) {
    auto known = assignment_in_force(read.assignment, read.first_owner);
    return known ? *std::move(known) : std::nullopt;
}

ELASTICJOB_DECL std::string explained_owner(explained_nodes const& read, item_index item) {
    return owner_of(readable_assignment(read), read.owner, item);
}

ELASTICJOB_DECL void take_owner(item_facts& facts, item_index item, explained_nodes const& read) {
    auto const in_force = readable_assignment(read);
    facts.owner = owner_of(in_force, read.owner, item);
    facts.is_left = in_force && item < in_force->items() && in_force->owner(item) == no_slot;
    if (!facts.is_left || !read.labels) return;
    auto const labels = parse_item_labels(read.labels->data);
    if (!labels) return;
    for (auto const& need : labels->needs_of(item + 1))
        if (need.begin <= item && item < need.end) facts.needs = need.labels;
}

ELASTICJOB_DECL explanation explain_facts(item_facts facts, std::optional<wall_time> instant) {
    explanation e;
    e.owner = facts.owner;
    e.is_disabled = facts.is_disabled;
    e.text = state_text(facts) + pause_text(facts) + server_text(facts);
    if (auto const more = unrecorded_text(facts); !more.empty()) e.text += "\n" + more;
    if (instant) e.text += "\n" + instant_text(facts, *instant);
    if (!facts.record) return e;
    for (auto entry = facts.record->ledger.rbegin(); entry != facts.record->ledger.rend(); ++entry)
        e.text += "\n- " + outcome_text(*entry);
    e.record = *std::move(facts.record);
    e.progress = facts.progress;
    return e;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_EXPLAIN_IPP
