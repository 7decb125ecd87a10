// SPDX-License-Identifier: Apache-2.0
/// \file \brief The only table of a configuration's fields: their names, and their order in the registry.
#ifndef ELASTICJOB_CONFIG_FIELDS_HPP
#define ELASTICJOB_CONFIG_FIELDS_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/line_text.hpp>

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
    std::string_view name;              ///< in the registry and in all reports
    std::string_view group{};           ///< the object in the configuration that contains it; empty: the outermost
    std::optional<job_type> only_for{}; ///< the only type of job that has it

    constexpr bool applies_to(job_type type) const noexcept { return !only_for || *only_for == type; }
};
template <class Value, class... Rest>
config_field(Value job_config::*, Rest...) -> config_field<Value>;

/// All fields, in the order in which Java writes them. Every member of `job_config` that the registry's JSON contains
/// has one line here, which is enough to write, read, compare and check it.
// clang-format off
inline constexpr auto config_fields = boost::hana::make_basic_tuple(
    config_field{&job_config::name, "jobName"},
    config_field{&job_config::job_class, "jobClass"},
    config_field{&job_config::type, "jobType"},
    config_field{&job_config::cron, "cron"},
    config_field{&job_config::sharding_total_count, "shardingTotalCount"},
    config_field{&job_config::sharding_item_parameters, "shardingItemParameters"},
    config_field{&job_config::job_parameter, "jobParameter"},
    config_field{&job_config::failover, "failover"},
    config_field{&job_config::misfire, "misfire"},
    config_field{&job_config::description, "description"},
    config_field{&job_config::job_exception_handler, "job_exception_handler", "jobProperties"},
    config_field{&job_config::executor_service_handler, "executor_service_handler", "jobProperties"},
    config_field{&job_config::streaming_process, "streamingProcess", "", job_type::dataflow},
    config_field{&job_config::script_command_line, "scriptCommandLine", "", job_type::script},
    config_field{&job_config::monitor_execution, "monitorExecution"},
    config_field{&job_config::max_time_diff_seconds, "maxTimeDiffSeconds"},
    config_field{&job_config::monitor_port, "monitorPort"},
    config_field{&job_config::job_sharding_strategy_class, "jobShardingStrategyClass"},
    config_field{&job_config::reconcile_interval_minutes, "reconcileIntervalMinutes"},
    config_field{&job_config::disabled, "disabled"},
    config_field{&job_config::overwrite, "overwrite"});
// clang-format on

/// Calls `visit(field)` for each field, in order.
template <class Visit>
constexpr void for_each_config_field(Visit&& visit) {
    boost::hana::for_each(config_fields, visit);
}

/// The name of the field for this member. O(number of fields).
template <class Value>
constexpr std::string_view field_name(Value job_config::*member) {
    std::string_view name;
    for_each_config_field([&](auto const& field) {
        if constexpr (std::same_as<decltype(field.member), Value job_config::*>)
            if (field.member == member) name = field.name;
    });
    return name;
}

/// The configuration after a round trip through the node that Java members share. A script job has the class of script
/// jobs, and a job without a cron expression has `no_cron`. A cron expression with five fields, or a name such as
/// `@daily`, becomes one with six fields, because Java members need them. Fields that are not stored, or that a job of
/// this type does not have, get their defaults. `from_json(to_json(c)) == canonical(c)`.
job_config canonical(job_config config);

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

/// The differences between two configurations, in the order of the table. Compares the canonical forms, so it ignores
/// fields that a job of this type does not have.
std::vector<config_difference> differences(job_config const& left, job_config const& right);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/fields.ipp>
#endif
#endif // ELASTICJOB_CONFIG_FIELDS_HPP
