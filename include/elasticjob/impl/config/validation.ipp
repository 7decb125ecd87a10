// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_VALIDATION_IPP
#define ELASTICJOB_IMPL_CONFIG_VALIDATION_IPP

#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/clock.hpp> // is_span
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/cron/quartz_text.hpp>

namespace elasticjob {

ELASTICJOB_DECL valid_config::valid_config(job_config config, job_name name, timetable when, item_parameters parameters)
    : config_(std::move(config)),
      name_(std::move(name)),
      when_(std::make_shared<timetable const>(std::move(when))),
      parameters_(std::move(parameters)) {}

} // namespace elasticjob

namespace elasticjob::detail {

/// The parsed forms of the texts in a configuration, or their problems.
struct config_readings {
    result<job_name> name;
    timetable_reading when;
    result<item_parameters> parameters;
};

ELASTICJOB_DECL config_readings read_texts(job_config const& config) {
    return {job_name::parse(config.name), read_timetable(config),
            parse_item_parameters(config.sharding_item_parameters)};
}

ELASTICJOB_DECL std::size_t count_item_parameters(job_config const& config) noexcept {
    auto const& text = config.sharding_item_parameters;
    auto const commas = static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
    return text.empty() || text.ends_with(',') ? commas : commas + 1;
}

ELASTICJOB_DECL result<void> check_item_count(job_config const& config, std::uint32_t items_max) {
    auto const refuse = [&](auto count, std::string_view what, std::string_view field) {
        return error{errc::invalid_config,
                     "the job has " + std::to_string(count) + std::string{what} +
                         ", but this instance accepts at most " + std::to_string(items_max) +
                         " from the registry: correct " + std::string{field} +
                         " there, or raise scheduler_options::items_max",
                     "job " + in_quotes(config.name) + ", " + std::string{field}};
    };
    if (config.sharding_total_count > std::int64_t{items_max})
        return refuse(config.sharding_total_count, " items", field_name(&job_config::sharding_total_count));
    if (auto const parameters = count_item_parameters(config); parameters > items_max)
        return refuse(parameters, " item parameters", field_name(&job_config::sharding_item_parameters));
    return success();
}

ELASTICJOB_DECL std::size_t find_bad_byte(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        auto const length = utf8_length(text.substr(at));
        if (length == 0 || text[at] == '\0') return at;
        at += length;
    }
    return text.npos;
}

ELASTICJOB_DECL std::vector<error> problems_of(job_config const& config, config_readings const& readings) {
    std::vector<error> problems;
    // Keep only the first problem of each field: a further problem often follows from the first.
    auto const is_known = [&](std::string_view where) {
        return std::any_of(problems.begin(), problems.end(), [&](error const& e) { return e.where == where; });
    };
    auto const report = [&](auto member, errc code, std::string what) {
        if (!is_known(field_name(member))) problems.push_back({code, std::move(what), std::string{field_name(member)}});
    };
    auto const require = [&](auto member, bool good, std::string what) {
        if (!good) report(member, errc::invalid_config, std::move(what));
    };
    auto const require_within = [&](int low, int high, int job_config::*member) {
        require(member, low <= config.*member && config.*member <= high,
                "must be " + text_of(low) + " to " + text_of(high) + ", but is " + text_of(config.*member));
    };

    for_each_config_field([&](auto const& field) {
        if constexpr (std::same_as<decltype(field.member), std::string job_config::*>) {
            std::string const& value = config.*field.member;
            if (auto const at = find_bad_byte(value); at != value.npos)
                report(field.member, errc::invalid_config,
                       "must be UTF-8 without NUL, but is not at byte " + std::to_string(at) + " of " +
                           in_quotes(value));
        }
    });

    if (!readings.name) {
        auto const& e = readings.name.error();
        report(&job_config::name, e.code, e.what + ": " + in_quotes(e.where));
    }
    // There may be a thousand of them, each for another field.
    std::vector<error> of_schedules;
    for (auto const& problem : readings.when.problems)
        if (!is_known(problem.where)) of_schedules.push_back(problem);
    problems.insert(problems.end(), of_schedules.begin(), of_schedules.end());
    if (!readings.parameters) {
        auto const& e = readings.parameters.error();
        report(&job_config::sharding_item_parameters, e.code, e.what);
    }

    if (auto const labels = parse_item_labels(config.item_labels); !labels) problems.push_back(labels.error());

    require_within(1, sharding_total_count_max, &job_config::sharding_total_count);
    require_within(-1, std::numeric_limits<int>::max(), &job_config::max_time_diff_seconds);
    require_within(-1, 65535, &job_config::monitor_port);
    if (config.type == job_type::script)
        require(&job_config::script_command_line, !config.script_command_line.empty(),
                "must not be empty: it is the program that a script job runs");
    else
        require(&job_config::job_class, !config.job_class.empty(),
                "must not be empty: the members of a job compare it to know that they run the same program");

    auto const require_own = [&](std::string_view name, bool good, std::string_view what) {
        if (!good) problems.push_back({errc::invalid_config, std::string{what}, std::string{name}});
    };
    static constexpr std::string_view span_rule = "must be 0 to 365 days; 0 is no limit";
    require_own("run_time_limit", is_span(config.run_time_limit), span_rule);
    bool const gives_up_later = config.give_up_after.count() == 0 || config.give_up_after > config.run_time_limit;
    require_own(
        "give_up_after", is_span(config.give_up_after) && gives_up_later,
        "must be longer than run_time_limit, so that a run is asked to stop before it is given up, and 365 days at "
        "most; or 0");
    auto const& retry = config.retry;
    require_own("retry.attempts_max", retry.attempts_max >= 1, "must be 1 at least: the first attempt counts");
    require_own("retry.pause", is_span(retry.pause) && is_span(retry.pause_max), "must be 0 to 365 days");
    require_own("dataflow.count_interval", is_span(config.dataflow.count_interval),
                "must be 0 to 365 days; 0 is never");
    require_own("retry.factor", retry.factor >= 1, "must be 1 at least");
    require_own("retry.spread_percent", retry.spread_percent <= 100, "must be 0 to 100");
    require_own("dead_letters_max", config.dead_letters_max <= 50, "must be 0 to 50");
    require_own("on_misfire.max_lateness", is_span(config.on_misfire.max_lateness), span_rule);
    require_own("on_misfire.runs_max", config.on_misfire.runs_max >= 1, "must be 1 at least");

    if (auto const size = to_json(config).size() + to_schedule_text(config).size(); size >= stored_config_size_max)
        problems.push_back({errc::invalid_config,
                            "must be shorter than " + std::to_string(stored_config_size_max) +
                                " bytes as text, but has " + std::to_string(size),
                            "configuration"});
    return problems;
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL std::vector<error> problems_of(job_config const& config) {
    return detail::problems_of(config, detail::read_texts(config));
}

ELASTICJOB_DECL std::optional<error> find_ineffective(job_config const& config) {
    if (!config.failover || config.monitor_execution) return std::nullopt;
    return error{errc::invalid_config,
                 "failover has no effect without monitorExecution: nobody knows what was running when an instance "
                 "died. Set monitorExecution, or switch failover off",
                 std::string{field_name(&job_config::failover)}};
}

ELASTICJOB_DECL result<valid_config> validate(job_config config, std::vector<error> more) {
    auto readings = detail::read_texts(config);
    auto problems = detail::problems_of(config, readings);
    auto const own = problems.size();
    for (auto& e : more) {
        auto const end = problems.begin() + static_cast<std::ptrdiff_t>(own);
        if (std::none_of(problems.begin(), end, [&](error const& known) { return known.where == e.where; }))
            problems.push_back(std::move(e));
    }
    config.cron = detail::with_six_fields(config.cron); // as in the registry, for every reader
    if (problems.empty())
        return valid_config{std::move(config), *std::move(readings.name), std::move(readings.when.table),
                            *std::move(readings.parameters)};
    if (problems.size() == 1) return std::move(problems.front());
    std::string list = std::to_string(problems.size()) + " problems";
    auto const listed = std::min(problems.size(), problems_listed_max);
    for (std::size_t i = 0; i < listed; ++i)
        list.append(i == 0 ? ": " : "; ").append(problems[i].where).append(": ").append(problems[i].what);
    if (listed < problems.size()) list.append("; and so on");
    return error{errc::invalid_config, std::move(list), "job " + detail::in_quotes(config.name)};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_VALIDATION_IPP
