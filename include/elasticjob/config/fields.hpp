// SPDX-License-Identifier: Apache-2.0
/// \file \brief The table of a configuration's fields: their names and their order in the registry, written only here.
#ifndef ELASTICJOB_CONFIG_FIELDS_HPP
#define ELASTICJOB_CONFIG_FIELDS_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/deferred.hpp>

#include <boost/hana/basic_tuple.hpp>
#include <boost/hana/for_each.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// One field of `job_config`.
template <class Value>
struct config_field {
    Value job_config::*member;
    std::string_view name;    ///< in the registry, and in everything that is reported about it
    std::string_view group{}; ///< the object within the configuration that holds it; empty for itself
    deferred<std::optional<job_type>, Value> only_for{}; ///< the one kind of job that has it

    constexpr bool applies_to(job_type type) const noexcept { return !only_for || *only_for == type; }
};
template <class Value, class... Rest>
config_field(Value job_config::*, Rest...) -> config_field<Value>;

/// `job_config` as a template parameter. The table of the fields and what visits it are templates of it, so that a file
/// which includes them and does not use them does not wait for the compiler to go through all the fields.
template <class T>
concept job_configuration = std::same_as<T, job_config>;

/// All fields in the order in which Java writes them. A new member of `job_config` needs one line here: then it is
/// written, read, compared and checked.
// clang-format off
template <job_configuration Config = job_config>
inline constexpr auto config_fields = boost::hana::make_basic_tuple(
    config_field{&Config::name, "jobName"},
    config_field{&Config::job_class, "jobClass"},
    config_field{&Config::type, "jobType"},
    config_field{&Config::cron, "cron"},
    config_field{&Config::sharding_total_count, "shardingTotalCount"},
    config_field{&Config::sharding_item_parameters, "shardingItemParameters"},
    config_field{&Config::job_parameter, "jobParameter"},
    config_field{&Config::failover, "failover"},
    config_field{&Config::misfire, "misfire"},
    config_field{&Config::description, "description"},
    config_field{&Config::job_exception_handler, "job_exception_handler", "jobProperties"},
    config_field{&Config::executor_service_handler, "executor_service_handler", "jobProperties"},
    config_field{&Config::streaming_process, "streamingProcess", "", job_type::dataflow},
    config_field{&Config::script_command_line, "scriptCommandLine", "", job_type::script},
    config_field{&Config::monitor_execution, "monitorExecution"},
    config_field{&Config::max_time_diff_seconds, "maxTimeDiffSeconds"},
    config_field{&Config::monitor_port, "monitorPort"},
    config_field{&Config::job_sharding_strategy_class, "jobShardingStrategyClass"},
    config_field{&Config::reconcile_interval_minutes, "reconcileIntervalMinutes"},
    config_field{&Config::disabled, "disabled"},
    config_field{&Config::overwrite, "overwrite"});
// clang-format on

/// Calls `visit(field)` for each field, in order.
template <class Visit, job_configuration Config = job_config>
constexpr void for_each_config_field(Visit&& visit) {
    boost::hana::for_each(config_fields<Config>, visit);
}

/// What the field of this member is called. O(number of fields).
template <class Value>
constexpr std::string_view field_name(Value job_config::*member) {
    std::string_view name;
    for_each_config_field([&](auto const& field) {
        if constexpr (std::same_as<decltype(field.member), Value job_config::*>)
            if (field.member == member) name = field.name;
    });
    return name;
}

/// The configuration as the node that Java members share would give it back: a script job has the class of script jobs,
/// a job without a cron expression has `no_cron`, and fields that a job of this type does not have, or that are not
/// stored there, are at their defaults. `from_json(to_json(c)) == canonical(c)`.
template <job_configuration Config = job_config>
Config canonical(Config config) {
    if (config.type == job_type::script) config.job_class = script_job_class;
    if (config.cron.empty() && !config.schedules.empty()) config.cron = no_cron;
    Config stored;
    for_each_config_field([&](auto const& field) {
        if (field.applies_to(config.type)) stored.*field.member = std::move(config.*field.member);
    });
    return stored;
}

/// A field in which two configurations differ, with the two values as text for people.
struct config_difference {
    std::string_view field;
    std::string left;
    std::string right;

    friend bool operator==(config_difference const&, config_difference const&) = default;
};

namespace detail {

inline std::string text_of(std::string const& value) { return in_quotes(value); }
inline std::string text_of(bool value) { return value ? "true" : "false"; }
inline std::string text_of(int value) { return std::to_string(value); }
inline std::string text_of(job_type value) { return std::string{name_of(value)}; }

} // namespace detail

/// Where two configurations differ, in the order of the table. Compares the canonical forms: fields that a job of its
/// type does not have make no difference.
template <job_configuration Config = job_config>
deferred<std::vector<config_difference>, Config> differences(Config const& left, Config const& right) {
    deferred<std::vector<config_difference>, Config> found;
    for_each_config_field([&, a = canonical(left), b = canonical(right)](auto const& field) {
        auto const &one = a.*field.member, &other = b.*field.member;
        if (one != other) found.push_back({field.name, detail::text_of(one), detail::text_of(other)});
    });
    return found;
}

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_FIELDS_HPP
