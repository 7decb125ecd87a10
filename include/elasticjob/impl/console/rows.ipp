// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_ROWS_IPP
#define ELASTICJOB_IMPL_CONSOLE_ROWS_IPP

#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/console/rows.hpp>

namespace elasticjob::detail {

inline std::optional<std::string> utc(std::optional<wall_time> t) {
    return t ? std::optional{format_instant(*t)} : std::nullopt;
}

inline std::optional<std::string> unless_empty(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}

ELASTICJOB_DECL void put_members(json_writer& out, job_row const& row) {
    auto const& o = row.overview;
    out.member("name", o.name).member("status", lower_name_of(o.status)).member("health", name_of(o.health));
    if (o.fault) out.member("fault", to_string(*o.fault));
    out.member("cron", o.cron).member("description", o.description);
    out.member("item_count", o.item_count).member("instance_count", o.instance_count);
    out.member("is_paused", o.is_paused)
        .member("next_due", utc(row.next_due))
        .member("time_zone", unless_empty(row.config.time_zone));
    if (!row.last) return;
    put_members(out.open("last_round"), *row.last);
    out.close();
}

ELASTICJOB_DECL void put_members(json_writer& out, removed_job const& r) {
    out.member("name", r.name).member("since", format_instant(r.since));
}

ELASTICJOB_DECL void put_members(json_writer& out, round_overview const& r) {
    out.member("due", format_instant(r.due)).member("outcome", name_of(r.outcome));
    out.member("begun", utc(r.begun)).member("ended", utc(r.ended)).member("items", r.items);
}

ELASTICJOB_DECL void put_members(json_writer& out, run_entry const& e) {
    out.member("due", format_instant(e.run.due)).member("outcome", name_of(e.outcome));
    out.member("source", name_of(e.run.source));
    if (e.run.begun != wall_time{}) out.member("begun", format_instant(e.run.begun));
    out.member("ended", format_instant(e.ended)).member("attempt", e.run.attempt).member("count", e.count);
    out.member("instance", e.run.instance).member("note", unless_empty(e.note));
}

ELASTICJOB_DECL void put_members(json_writer& out, item_overview const& i) {
    out.member("item", i.item).member("owner", i.owner).member("health", name_of(i.health));
    if (i.fault) out.member("fault", to_string(*i.fault));
    out.member("is_failover", i.is_failover).member("is_disabled", i.is_disabled);
    if (i.progress) {
        out.open("progress").member("done", i.progress->done);
        if (i.progress->total != 0) out.member("total", i.progress->total);
        out.close();
    }
    out.member("next_due", utc(i.next_due));
    if (i.running) {
        out.open("running").member("due", format_instant(i.running->due));
        out.member("begun", format_instant(i.running->begun)).member("instance", i.running->instance).close();
    }
    if (i.retry) {
        out.open("retry").member("at", format_instant(i.retry->at));
        out.member("attempt", i.retry->attempt).close();
    }
    out.member("dead_letters", i.dead_letters).open_list("ledger");
    for (auto e = i.ledger.rbegin(); e != i.ledger.rend(); ++e) {
        put_members(out.open(), *e);
        out.close();
    }
    out.close();
}

ELASTICJOB_DECL void put_members(json_writer& out, instance_overview const& i) {
    out.member("is_paused", i.is_paused)
        .member("id", i.id)
        .member("is_java", i.is_java)
        .member("is_leader", i.is_leader);
    out.member("is_disabled", i.is_disabled).member("is_left_over", i.is_left_over);
    out.member("is_triggered", i.is_triggered).member("weight", i.weight).member("labels", i.labels);
    out.member("item_count", i.item_count).member("host", unless_empty(i.host));
}

ELASTICJOB_DECL void put_members(json_writer& out, server_overview const& s) {
    out.member("server", s.server).member("instance_count", s.instances.size()).member("job_count", s.jobs.size());
    out.member("disabled_job_count", s.disabled_jobs.size()).member("idle_job_count", s.idle_jobs.size());
    out.member("host", unless_empty(s.host));
}

ELASTICJOB_DECL void put_members(json_writer& out, server_in_job const& s) {
    out.member("job", s.job).member("is_disabled", s.is_disabled).member("is_paused", s.is_paused);
    out.member("host", unless_empty(s.host)).open_list("instances");
    for (auto const& id : s.instances) out.element(id);
    out.close();
}

ELASTICJOB_DECL void put_members(json_writer& out, job_due const& d) {
    out.member("job", d.job).member("due", format_instant(d.due)).member("time_zone", d.zone);
}

ELASTICJOB_DECL void put_members(json_writer& out, dead_letter const& d) {
    out.member("job", d.job).member("item", d.item);
    put_members(out, d.run);
}

ELASTICJOB_DECL void put_members(json_writer& out, audit_row const& a) {
    auto const& e = a.entry;
    out.member("job", a.job).member("number", e.number).member("at", format_instant(e.at));
    out.member("operator", e.operator_name).member("verb", e.verb).member("subject", e.subject);
    out.member("outcome", name_of(e.outcome)).member("note", e.note).member("key", e.key);
}

ELASTICJOB_DECL void put_members(json_writer& out, execution_row const& e) {
    out.member("id", e.id).member("job", e.job).member("item", e.item).member("started", format_instant(e.started));
    if (e.ended) out.member("ended", format_instant(*e.ended)).member("is_success", e.is_success);
    out.member("ip", e.ip).member("hostname", e.hostname).member("source", e.source);
    out.member("failure", unless_empty(e.failure)).member("task_id", unless_empty(e.task_id));
}

ELASTICJOB_DECL void put_members(json_writer& out, state_row const& s) {
    out.member("id", s.id).member("job", s.job).member("items", s.items).member("state", s.state);
    out.member("at", format_instant(s.at)).member("ip", s.ip).member("message", unless_empty(s.message));
    out.member("source", s.source).member("execution_type", s.execution_type).member("task_id", s.task_id);
}

ELASTICJOB_DECL void put_plan(json_writer& out, job_plan const& plan) {
    out.open("plan").member("moved", plan.moved).member("kept", plan.kept).member("cut", plan.cut);
    out.member("strategy", plan.strategy_now).open_list("shares");
    for (auto const& s : plan.shares)
        out.open().member("instance", s.instance.str()).member("now", s.now).member("then", s.then).close();
    out.close().close();
}

ELASTICJOB_DECL void put_instants(json_writer& out, std::string_view name, std::vector<wall_time> const& all) {
    out.open_list(name);
    for (auto const t : all) out.element(format_instant(t));
    out.close();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_ROWS_IPP
