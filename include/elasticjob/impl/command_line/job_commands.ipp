// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_JOB_COMMANDS_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_JOB_COMMANDS_IPP

#include <elasticjob/command_line/job_commands.hpp>

namespace elasticjob::cli::detail {

ELASTICJOB_DECL report table_of(job_page const& page) {
    report table{{"job", "status", "health", "items", "instances", "paused", "paused_on", "cron", "description"}};
    for (auto const& j : page.jobs)
        table.rows.push_back({j.name, name_of(j.status), name_of(j.health), j.item_count, j.instance_count, j.is_paused,
                              j.paused_servers, j.cron, j.fault ? to_string(*j.fault) : j.description});
    return table;
}

ELASTICJOB_DECL report table_of(job_plan const& p) {
    report table{{"first", "last", "from", "to"}};
    for (auto const& m : p.moves) table.rows.push_back({m.begin, m.end - 1, m.from.str(), m.to.str()});
    return table;
}

ELASTICJOB_DECL wanted_end wanted_by(arguments const& a) {
    return a.wanted_end == "success"   ? wanted_end::success
           : a.wanted_end == "failure" ? wanted_end::failure
                                       : wanted_end::either;
}

ELASTICJOB_DECL answer answer_for(awaited_runs const& runs, wanted_end wanted) {
    report table{{"item", "outcome", "due", "instance", "attempt", "ended", "note"}};
    for (auto const& i : runs.items()) {
        if (!i.end) {
            table.rows.push_back({i.item, "", std::optional<wall_time>{}, "", 0, std::optional<wall_time>{}, ""});
            continue;
        }
        auto const& e = *i.end;
        table.rows.push_back({i.item, name_of(e.outcome), e.run.due, e.run.instance, e.run.attempt, e.ended, e.note});
    }
    answer a{.rows = std::move(table)};
    if (!runs.is_over(wanted)) {
        a.code = exit_code::not_in_time;
        a.messages = "elasticjob: not all of it has happened in time\n"
                     "next: see why with elasticjob items explain, or give a longer --timeout\n";
    } else if (wanted == wanted_end::either && runs.has_failed()) {
        a.code = exit_code::run_failed;
        a.messages = "elasticjob: a run has failed\nnext: see why with elasticjob items explain\n";
    }
    return a;
}

ELASTICJOB_DECL answer refuse_file(error const& why) {
    return refusal(exit_code::usage, to_string(why), "correct the file, then repeat the command");
}

ELASTICJOB_DECL std::string unstored_text(job_config const& given) {
    job_config const usual;
    std::string names;
    auto const note = [&](std::string_view name, auto const& value, auto const& by_default) {
        if (value != by_default) names.append(names.empty() ? "" : ", ").append(name);
    };
    elasticjob::detail::for_each_own_term(note, given, usual);
    if (names.empty()) return {};
    return "elasticjob: the registry does not store " + names +
           " of the file: each program that runs the job sets them\n";
}

ELASTICJOB_DECL bool is_damage(error const& why) {
    return why == errc::malformed_data || exit_code_of(why.code) == exit_code::usage;
}

ELASTICJOB_DECL std::optional<wall_time> begin_of_runs(audit_trail const& trail, std::string_view key) {
    auto const* order = trail.find(key);
    if (!order) return std::nullopt;
    auto const early = order->at - std::chrono::minutes{1};
    auto const& all = trail.entries();
    bool const has_other = std::any_of(all.begin(), all.end(), [&](audit_entry const& e) {
        return e.verb == order->verb && e.key != key && early <= e.at && e.at <= order->at;
    });
    return has_other ? order->at : early;
}

} // namespace elasticjob::cli::detail
#endif // ELASTICJOB_IMPL_COMMAND_LINE_JOB_COMMANDS_IPP
