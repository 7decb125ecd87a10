// SPDX-License-Identifier: Apache-2.0
/// \file \brief Whether a configuration can be run, found out before anything of it is registered.
#ifndef ELASTICJOB_CONFIG_VALIDATION_HPP
#define ELASTICJOB_CONFIG_VALIDATION_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/config/item_parameters.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/json_codec.hpp> // to_json
#include <elasticjob/config/read_timetable.hpp>
#include <elasticjob/config/schedule_text.hpp> // to_schedule_text
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // any_of
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/identity.hpp> // job_name
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/timetable.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The most items that a job may be cut into.
inline constexpr int sharding_total_count_max = 10'000'000;

/// The most bytes that a configuration may have in the registry, which refuses a request beyond 1 MiB with all that
/// stands around the data.
inline constexpr std::size_t stored_config_size_max = 1'000'000;

template <job_configuration Config>
class basic_valid_config;

template <job_configuration Config = job_config>
result<basic_valid_config<Config>> validate(Config config);

/// A configuration that can be run, with those of its texts that have a meaning already read. Made by `validate`.
template <job_configuration Config = job_config>
class basic_valid_config {
    using parameters_type = deferred<item_parameters, Config>;
    using timetable_type = deferred<timetable, Config>;

public:
    Config const& config() const noexcept { return config_; }
    job_name const& name() const noexcept { return name_; }
    /// All schedules, cron included; in the zone that `time_zone` names.
    timetable_type const& when() const noexcept { return when_; }
    parameters_type const& parameters() const noexcept { return parameters_; }

private:
    friend result<basic_valid_config> validate<Config>(Config);

    basic_valid_config(Config config, job_name name, timetable_type when, parameters_type parameters)
        : config_(std::move(config)), name_(std::move(name)), when_(std::move(when)),
          parameters_(std::move(parameters)) {}

    Config config_;
    job_name name_;
    timetable_type when_;
    parameters_type parameters_;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using valid_config = basic_valid_config<>;

namespace detail {

/// Those texts of a configuration that mean something to us, read or refused.
template <class Name, class When, class Parameters>
struct config_readings {
    Name name;
    When when;
    Parameters parameters;
};
template <class Name, class When, class Parameters>
config_readings(Name, When, Parameters) -> config_readings<Name, When, Parameters>;

template <job_configuration Config>
auto read_texts(Config const& config) {
    return config_readings{job_name::parse(config.name), read_timetable(config),
                           parse_item_parameters(config.sharding_item_parameters)};
}

/// The byte at which a text cannot be part of a configuration, or npos.
template <class = void>
std::size_t find_bad_byte(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        auto const length = utf8_length(text.substr(at));
        if (length == 0 || text[at] == '\0') return at;
        at += length;
    }
    return text.npos;
}

template <job_configuration Config, class Readings>
deferred<std::vector<error>, Config> problems_of(Config const& config, Readings const& readings) {
    deferred<std::vector<error>, Config> problems;
    // Only the first problem of each field: others of the same field tend to follow from it.
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
    for (auto const& problem : readings.when.problems)
        if (!is_known(problem.where)) problems.push_back(problem);
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
                "must not be empty: by it the members of a job know that they are the same program");

    auto const require_own = [&](std::string_view name, bool good, std::string_view what) {
        if (!good) problems.push_back({errc::invalid_config, std::string{what}, std::string{name}});
    };
    // What is longer is meant to be no limit at all, or a slip; and moments must not run over.
    auto const is_span = [](std::chrono::milliseconds t) { return t.count() >= 0 && t <= std::chrono::hours{24 * 365}; };
    static constexpr std::string_view span_rule = "must be 0 to 365 days; 0 is no limit";
    require_own("run_time_limit", is_span(config.run_time_limit), span_rule);
    bool const gives_up_later = config.give_up_after.count() == 0 || config.give_up_after > config.run_time_limit;
    require_own("give_up_after", is_span(config.give_up_after) && gives_up_later,
                "must be longer than run_time_limit, so that a run is asked to stop before it is given up, and 365 days at "
                "most; or 0");
    auto const& retry = config.retry;
    require_own("retry.attempts_max", retry.attempts_max >= 1, "must be 1 at least: the first attempt counts");
    require_own("retry.pause", is_span(retry.pause) && is_span(retry.pause_max), "must be 0 to 365 days");
    require_own("retry.factor", retry.factor >= 1, "must be 1 at least");
    require_own("retry.spread_percent", retry.spread_percent <= 100, "must be 0 to 100");
    require_own("dead_letters_max", config.dead_letters_max <= 50, "must be 0 to 50");
    require_own("on_misfire.runs_max", config.on_misfire.runs_max >= 1, "must be 1 at least");

    if (auto const size = to_json(config).size() + to_schedule_text(config).size(); size >= stored_config_size_max)
        problems.push_back({errc::invalid_config,
                            "must be shorter than " + std::to_string(stored_config_size_max) +
                                " bytes as text, but has " + std::to_string(size),
                            "configuration"});
    return problems;
}

} // namespace detail

/// Everything that is wrong with a configuration, at most one problem per field: `what` is its value and what would be
/// right, `where` the field's name in the registry, that of the member where Java has no such field (`schedules[2]`), or
/// `configuration` for the whole. None if `validate` would succeed.
///
/// | code                           | about                                                                           |
/// |--------------------------------|---------------------------------------------------------------------------------|
/// | invalid_argument               | the name                                                                        |
/// | invalid_cron, cron_never_fires | the cron expression, those among the schedules, exclusions                      |
/// | invalid_config                 | item parameters and labels, other schedules, numbers out of range, what a job   |
/// |                                | of this type needs and lacks, texts that are not UTF-8 or have a NUL, the size, |
/// |                                | limits and retries                                                              |
template <job_configuration Config = job_config>
deferred<std::vector<error>, Config> problems_of(Config const& config) {
    return detail::problems_of(config, detail::read_texts(config));
}

/// Checks everything at once, because whoever mends a configuration wants to do it once. Item parameters of items that
/// the job does not have are no mistake: an operator may lower the count for a while.
///
/// Errors: the problem as in `problems_of`, if there is just one; otherwise invalid_config, which lists them all.
template <job_configuration Config>
result<basic_valid_config<Config>> validate(Config config) {
    auto readings = detail::read_texts(config);
    auto problems = detail::problems_of(config, readings);
    if (problems.empty())
        return basic_valid_config<Config>{std::move(config), *std::move(readings.name),
                                          std::move(readings.when.table), *std::move(readings.parameters)};
    if (problems.size() == 1) return std::move(problems.front());
    std::string list = std::to_string(problems.size()) + " problems";
    for (char const* separator = ": "; auto const& problem : problems) {
        list.append(separator).append(problem.where).append(": ").append(problem.what);
        separator = "; ";
    }
    return error{errc::invalid_config, std::move(list), "job " + detail::in_quotes(config.name)};
}

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_VALIDATION_HPP
