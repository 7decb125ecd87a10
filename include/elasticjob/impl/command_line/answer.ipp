// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_ANSWER_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_ANSWER_IPP

#include <elasticjob/command_line/answer.hpp>
#include <elasticjob/core/line_text.hpp>

#include <utility>

namespace elasticjob::cli {

ELASTICJOB_DECL std::string_view meaning_of(exit_code code) noexcept {
    switch (code) {
    case exit_code::done:
        return "done, or the state was already as wanted";
    case exit_code::failed:
        return "failed for any other reason";
    case exit_code::usage:
        return "the arguments or a configuration cannot be used; nothing was written";
    case exit_code::not_found:
        return "there is no such job, item, server or instance";
    case exit_code::conflict:
        return "refused because of the present state; nothing was written";
    case exit_code::unreachable:
        return "the registry did not answer, so the effect of a command is unknown: repeat it with its --key";
    case exit_code::unconfirmed:
        return "the command was not confirmed: type the name, or give --yes";
    case exit_code::run_failed:
        return "the awaited run has failed";
    case exit_code::not_in_time:
        return "the awaited event has not happened in time";
    }
    return {};
}

ELASTICJOB_DECL exit_code exit_code_of(errc code) noexcept {
    switch (code) {
    case errc::invalid_argument:
    case errc::invalid_path:
    case errc::invalid_cron:
    case errc::cron_never_fires:
    case errc::invalid_config:
    case errc::unknown_strategy:
        return exit_code::usage;
    case errc::no_node:
    case errc::removed:
        return exit_code::not_found;
    case errc::job_conflict:
    case errc::version_conflict:
    case errc::node_exists:
    case errc::not_empty:
    case errc::not_running:
        return exit_code::conflict;
    case errc::unreachable:
    case errc::not_sent:
    case errc::unknown_outcome:
    case errc::session_lost:
    case errc::timed_out:
    case errc::closed:
        return exit_code::unreachable;
    default:
        return exit_code::failed;
    }
}

ELASTICJOB_DECL std::string_view advice_for(errc code) noexcept {
    switch (code) {
    case errc::no_node:
        return "see what there is: elasticjob jobs list, or items, servers and instances list";
    case errc::removed:
        return "choose another name, or free this one with elasticjob jobs restore";
    case errc::unreachable:
        return "check --servers, --namespace or --context, and that the ZooKeeper servers are up";
    case errc::unknown_outcome:
    case errc::session_lost:
    case errc::timed_out:
        return "a command may have been carried out: look at elasticjob audit list, or repeat it with its key";
    case errc::version_conflict:
        return "look at the present state, then decide again";
    case errc::not_running:
        return "see what runs: elasticjob items list";
    case errc::no_auth:
        return "give the credentials in ELASTICJOB_DIGEST or in a context";
    case errc::malformed_data:
        return "see what is there: elasticjob dump";
    default:
        return {};
    }
}

ELASTICJOB_DECL answer refusal(exit_code code, std::string_view what, std::string_view next) {
    answer a{code};
    a.messages += "elasticjob: ";
    for (auto rest = what;;) { // such as a list of problems: each line is escaped, because it may quote anything
        auto const end = std::min(rest.find('\n'), rest.size());
        elasticjob::detail::append_line_text(a.messages, rest.substr(0, end));
        a.messages += '\n';
        if (end == rest.size()) break;
        rest.remove_prefix(end + 1);
    }
    if (!next.empty()) a.messages.append("next: ").append(next).append("\n");
    return a;
}

ELASTICJOB_DECL answer failure(error const& e) {
    return refusal(exit_code_of(e.code), to_string(e), advice_for(e.code));
}

ELASTICJOB_DECL answer answer_for(result<command_result> const& done) {
    if (!done) return failure(done.error());
    answer a;
    a.rows = report{{"effect", "text", "key"}, {{name_of(done->what), done->text, done->key}}};
    a.text = std::string{name_of(done->what)} + ": " + done->text + "\n";
    return a;
}

ELASTICJOB_DECL answer answer_for(result<std::vector<command_in_job>> const& all) {
    if (!all) return failure(all.error());
    answer a;
    a.rows = report{{"job", "effect", "text"}};
    bool is_done_in_one = false;
    for (auto const& one : *all) {
        is_done_in_one |= one.outcome.has_value();
        if (one.outcome) {
            a.rows->rows.push_back({one.job, name_of(one.outcome->what), one.outcome->text});
            continue;
        }
        auto const& e = one.outcome.error();
        auto const effect = is_effect_unknown(e.code) ? "unknown" : is_connection(e.code) ? "failed" : "refused";
        a.rows->rows.push_back({one.job, effect, to_string(e)});
    }
    if (auto const* worst = elasticjob::detail::worst_failure(*all)) {
        a.code = exit_code_of(worst->code);
        a.has_begun = is_done_in_one;
        a.messages = "elasticjob: not done in every job\nnext: see the reasons above, then repeat the command\n";
    }
    return a;
}

ELASTICJOB_DECL std::string to_text(answer const& a, output_format format, table_style const& style) {
    if (!a.rows) return a.text;
    switch (format) {
    case output_format::table:
        return a.text.empty() ? to_table(*a.rows, style) : a.text;
    case output_format::json:
        return to_json(*a.rows);
    case output_format::json_lines:
        return to_json_lines(*a.rows);
    }
    return {};
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_ANSWER_IPP
