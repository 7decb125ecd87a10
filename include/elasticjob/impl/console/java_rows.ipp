// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_JAVA_ROWS_IPP
#define ELASTICJOB_IMPL_CONSOLE_JAVA_ROWS_IPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/console/java_rows.hpp>
#include <elasticjob/cron/civil.hpp>

#include <array>
#include <chrono>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string java_text(job_overview const& job) {
    json_writer out;
    out.member("jobName", job.name).member("status", name_of(job.status));
    if (!job.fault) out.member("description", job.description).member("cron", job.cron);
    return out.member("instanceCount", job.instance_count).member("shardingTotalCount", job.item_count).finish();
}

ELASTICJOB_DECL std::string java_text(server_overview const& server) {
    json_writer out;
    out.member("serverIp", server.server).open_list("instances");
    for (auto const& one : server.instances) out.element(one);
    out.close().open_list("jobNames");
    for (auto const& one : server.jobs) out.element(one);
    out.close().member("instancesNum", server.instances.size()).member("jobsNum", server.jobs.size());
    return out.member("disabledJobsNum", server.disabled_jobs.size()).finish();
}

ELASTICJOB_DECL std::string java_text(server_in_job const& one) {
    json_writer out;
    out.member("jobName", one.job).member("status", one.is_disabled ? "DISABLED" : "OK");
    return out.member("instanceCount", one.instances.size()).member("shardingTotalCount", 0).finish();
}

ELASTICJOB_DECL std::string java_text(item_overview const& item) {
    json_writer out;
    out.member("item", item.item);
    if (auto const delimiter = item.owner.find(identity_delimiter); delimiter != item.owner.npos) {
        out.member("serverIp", std::string_view{item.owner}.substr(0, delimiter));
        out.member("instanceId", std::string_view{item.owner}.substr(delimiter + identity_delimiter.size()));
    }
    return out.member("status", name_of(item.status)).member("failover", item.is_failover).finish();
}

ELASTICJOB_DECL std::string java_text(job_config const& config) {
    auto const c = canonical(config);
    json_writer out;
    out.member("jobName", c.name).member("jobType", name_of(c.type)).member("jobClass", c.job_class);
    out.member("cron", c.cron).member("shardingTotalCount", c.sharding_total_count);
    out.member("shardingItemParameters", c.sharding_item_parameters).member("jobParameter", c.job_parameter);
    out.member("monitorExecution", c.monitor_execution).member("streamingProcess", c.streaming_process);
    out.member("maxTimeDiffSeconds", c.max_time_diff_seconds).member("monitorPort", c.monitor_port);
    out.member("failover", c.failover).member("misfire", c.misfire);
    out.member("jobShardingStrategyClass", c.job_sharding_strategy_class).member("description", c.description);
    out.open("jobProperties").member("executor_service_handler", c.executor_service_handler);
    out.member("job_exception_handler", c.job_exception_handler).close();
    if (c.type == job_type::script) out.member("scriptCommandLine", c.script_command_line);
    return out.member("reconcileIntervalMinutes", c.reconcile_interval_minutes).finish();
}

ELASTICJOB_DECL std::string java_text(execution_row const& row, zone_ref zone) {
    json_writer out;
    out.member("id", row.id).member("hostname", row.hostname).member("ip", row.ip).member("taskId", row.task_id);
    out.member("jobName", row.job).member("source", row.source).member("shardingItem", row.item);
    out.member("startTime", java_date(row.started, zone));
    if (row.ended) out.member("completeTime", java_date(*row.ended, zone));
    out.member("success", row.is_success);
    out.open("failureCause"); // also after a success, because scripts read its member
    if (!row.failure.empty()) out.member("plainText", row.failure);
    return out.close().finish();
}

ELASTICJOB_DECL std::string java_text(state_row const& row, zone_ref zone) {
    json_writer out;
    out.member("id", row.id).member("jobName", row.job).member("originalTaskId", row.original_task_id);
    out.member("taskId", row.task_id).member("slaveId", row.ip).member("source", row.source);
    out.member("executionType", row.execution_type).member("shardingItems", row.items).member("state", row.state);
    return out.member("message", row.message).member("creationTime", java_date(row.at, zone)).finish();
}

ELASTICJOB_DECL std::string java_date(wall_time t, zone_ref zone) {
    constexpr std::array<char const*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    auto const whole = std::chrono::floor<std::chrono::seconds>(t);
    auto const local = (whole + zone.at(whole).offset).time_since_epoch();
    auto const days = std::chrono::floor<std::chrono::days>(local);
    auto const date = date_of(static_cast<std::int32_t>(days.count()));
    std::chrono::hh_mm_ss const time{local - days};
    auto const hour = time.hours().count();
    std::string text = months[date.month - 1];
    text += " " + std::to_string(date.day) + ", " + std::to_string(date.year) + " ";
    append_number(text, hour % 12 == 0 ? 12 : hour % 12);
    append_number(text += ':', time.minutes().count(), 2);
    append_number(text += ':', time.seconds().count(), 2);
    return text + (hour < 12 ? " AM" : " PM");
}

ELASTICJOB_DECL bool read_java_date(std::string_view text, zone_ref zone, wall_time& into) {
    if (text.size() != 19 || text[10] != ' ') return false;
    std::string in_utc{text};
    in_utc[10] = 'T';
    wall_time civil{};
    if (!read_utc(in_utc + "Z", civil)) return false;
    // The offset depends on the result, so begin with the offset at about that time. If a local time occurs twice,
    // either instant may result.
    auto const offset_at = [&](wall_time t) { return zone.at(std::chrono::floor<std::chrono::seconds>(t)).offset; };
    into = civil - offset_at(civil - offset_at(civil));
    return true;
}

ELASTICJOB_DECL result<std::string> job_of_java_settings(std::string_view body) {
    ELASTICJOB_TRY(auto const settings, with_json({.cron = {}, .sharding_total_count = 0}, body));
    return settings.name;
}

ELASTICJOB_DECL result<job_config> with_java_settings(job_config const& now, std::string_view body) {
    auto const shown = canonical(now);
    ELASTICJOB_TRY(auto const given, with_json(shown, body));
    auto next = now;
    // A value that is the same as it was shown is no change, because the schedules may be more than the cron expression
    // shows.
    for_each_config_field([&](auto const& field) {
        bool const is_shown =
            field.name != field_name(&job_config::disabled) && field.name != field_name(&job_config::overwrite);
        if (is_shown && given.*field.member != shown.*field.member) next.*field.member = given.*field.member;
    });
    return next;
}

ELASTICJOB_DECL result<history_query> read_java_query(console_request const& r, java_history of, zone_ref zone) {
    history_query q;
    q.job = r.parameter("jobName");
    if (of == java_history::executions) {
        q.ip = r.parameter("ip");
        auto const text = r.parameter("isSuccess");
        if (!text.empty() && text != "1" && text != "0")
            return error{errc::invalid_argument, "must be 1 or 0", "isSuccess"};
        if (!text.empty()) q.is_success = text == "1";
    } else {
        q.source = r.parameter("source");
        q.execution_type = r.parameter("executionType");
        q.state = r.parameter("state");
    }
    for (auto const& [name, into] : {std::pair{"startTime", &q.from}, std::pair{"endTime", &q.until}})
        if (auto const text = r.parameter(name); !text.empty())
            if (!read_java_date(text, zone, into->emplace()))
                return error{errc::invalid_argument, "must be a time as 2026-12-24 18:00:00", name};
    if (auto const text = r.parameter("sort"); !text.empty()) {
        ELASTICJOB_TRY(q.sort, parse_history_sort(text));
        auto const order = r.parameter("order");
        q.is_descending = order == "desc" || order == "DESC";
    }
    ELASTICJOB_TRY(auto const rows, r.number("per_page", 1, history_rows_max));
    ELASTICJOB_TRY(auto const page, r.number("page", 1, 1'000'000));
    q.rows_max = rows.value_or(10);
    q.skipped = (page.value_or(1) - std::uint64_t{1}) * q.rows_max;
    q.is_counted = true;
    return q;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_JAVA_ROWS_IPP
