// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_PROGRAM_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_PROGRAM_IPP

#include <elasticjob/command_line/program.hpp>
#include <elasticjob/config/due_times.hpp>
#include <elasticjob/cron/system_zone.hpp>
#include <elasticjob/operations/command.hpp>

#include <poll.h>

namespace elasticjob::cli {

namespace detail {

inline output_format format_of(arguments const& a) {
    return a.output == "json"    ? output_format::json
           : a.output == "jsonl" ? output_format::json_lines
                                 : output_format::table;
}

/// A system zone together with the reference to it, so that a shared_ptr can hold both.
struct held_zone {
    explicit held_zone(SystemZone z) : zone{std::move(z)}, ref{zone} {}
    SystemZone zone;
    zone_ref ref;
};

} // namespace detail

ELASTICJOB_DECL arguments program_base::given() const {
    auto a = tree_.given();
    if (a.operator_name.empty()) a.operator_name = terminal_.variable("USER").value_or("");
    if (a.key.empty()) {
        a.key = elasticjob::detail::new_key();
        a.is_key_made = true;
    }
    return a;
}

ELASTICJOB_DECL result<table_style> program_base::load_style(arguments const& a) {
    if (a.zone == "local") {
        ELASTICJOB_TRY(auto zone, SystemZone::load());
        auto const held = std::make_shared<detail::held_zone const>(std::move(zone));
        zone_ = {held, &held->ref};
    } else if (a.zone != "UTC") {
        ELASTICJOB_TRY(zone_, load_zone(UtcZone{}, a.zone));
    }
    return table_style{.zone = zone_.get(), .has_colour = terminal_.has_colour()};
}

ELASTICJOB_DECL std::optional<answer> program_base::find_obstacle(command_shape const& shape,
                                                                  arguments const& a) const {
    auto const is_top = has(shape.arguments_taken, takes::interval);
    if (is_top && !(terminal_.shows_to_people() && terminal_.can_ask()))
        return refusal(exit_code::usage, "top needs a terminal", "elasticjob jobs list --watch");
    if (a.is_watching && a.output == "json")
        return refusal(exit_code::usage, "a watched list is not a single JSON document", "give --output jsonl");
    if (shape.is_command() && a.operator_name.empty())
        return refusal(exit_code::usage, "the name of the operator is unknown", "give --operator NAME");
    if (shape.is_harmful() && !a.is_confirmed && !a.is_dry_run && !terminal_.can_ask())
        return refusal(exit_code::unconfirmed, "this stops work or removes something, so it needs a confirmation",
                       "see what it would do with --dry-run, then repeat it with --yes");
    return std::nullopt;
}

ELASTICJOB_DECL std::optional<answer> program_base::ask(std::string const& name, answer const& planned) {
    if (planned.code != exit_code::done) return planned;
    terminal_.write_message(to_text(planned, output_format::table, {.zone = zone_.get()}));
    auto const typed = terminal_.ask("To do this, type " + name + ": ");
    if (typed == name) return std::nullopt;
    return refusal(exit_code::unconfirmed, "that is not " + name + ", so nothing was done", "");
}

ELASTICJOB_DECL void program_base::tell_key(answer& a, arguments const& given) {
    bool const may_go_on = a.has_begun || a.code == exit_code::unreachable || a.code == exit_code::not_in_time;
    if (given.is_key_made && !given.is_dry_run && may_go_on)
        a.messages += "next: to repeat this call instead of giving a second command, add --key " + given.key + "\n";
}

ELASTICJOB_DECL exit_code program_base::print(answer const& a, arguments const& given, table_style const& style) {
    terminal_.write(to_text(a, detail::format_of(given), style));
    terminal_.write_message(a.messages);
    return a.code == exit_code::done && terminal_.has_failed() ? exit_code::failed : a.code;
}

ELASTICJOB_DECL void program_base::print_change(report const& now, arguments const& given, table_style const& style) {
    auto change = compare(printed_, now);
    bool const is_json = detail::format_of(given) == output_format::json_lines;
    for (auto& row : change.gone.rows) row.push_back(is_json ? cell{true} : cell{"gone"});
    change.gone.columns.push_back("gone");
    if (is_json) {
        terminal_.write(to_json_lines(change.fresh) + to_json_lines(change.gone));
    } else {
        auto const fresh = to_table(change.fresh, style, widths_); // this includes the headings, even without rows
        terminal_.write(fresh + to_table(change.gone, style, widths_));
    }
    printed_ = now;
}

ELASTICJOB_DECL void program_base::wait_for_change(int changed, arguments const& given, look_pace const& pace) {
    ::pollfd on{changed, POLLIN, 0};
    if (::poll(&on, 1, static_cast<int>(given.interval_ms)) > 0)
        ::poll(nullptr, 0, static_cast<int>(pace.left().count()));
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_PROGRAM_IPP
