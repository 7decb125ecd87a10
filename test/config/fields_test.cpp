// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/fields.hpp>

#include <doctest/doctest.h>

#include <boost/hana/length.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace elasticjob;

namespace {

/// Initialises a member of any type, to count an aggregate's members.
struct anything {
    template <class T>
    operator T() const;
};

template <std::size_t... I>
constexpr bool has_members(std::index_sequence<I...>) {
    return requires { job_config{(static_cast<void>(I), anything{})...}; };
}

constexpr auto table_size = decltype(boost::hana::length(config_fields))::value;
static_assert(has_members(std::make_index_sequence<table_size>{}), "the table has a field that is no member");
constexpr std::size_t of_the_schedule = 8; ///< from `schedules` to `item_labels`: in nodes of their own
constexpr std::size_t of_the_instance = 7; ///< from on_misfire to dataflow: not in the registry
static_assert(has_members(std::make_index_sequence<table_size + of_the_schedule + of_the_instance>{}));
static_assert(!has_members(std::make_index_sequence<table_size + of_the_schedule + of_the_instance + 1>{}),
              "a member is missing from the table");

static_assert(field_name(&job_config::name) == "jobName");
static_assert(field_name(&job_config::overwrite) == "overwrite");

/// A value other than this one.
void change(std::string& value) { value += "x"; }
void change(bool& value) { value = !value; }
void change(int& value) { value += 1; }
void change(job_type& value) { value = value == job_type::simple ? job_type::dataflow : job_type::simple; }

} // namespace

TEST_CASE("config.fields: the order is that of Java's writer") {
    std::string order;
    for_each_config_field([&](auto const& field) { order.append(field.name).append(" "); });
    CHECK(order ==
          "jobName jobClass jobType cron shardingTotalCount shardingItemParameters jobParameter failover misfire "
          "description job_exception_handler executor_service_handler streamingProcess scriptCommandLine "
          "monitorExecution maxTimeDiffSeconds monitorPort jobShardingStrategyClass reconcileIntervalMinutes "
          "disabled overwrite ");
}

TEST_CASE("config.fields: a change of any one field is reported, by name") {
    for (auto const type : {job_type::simple, job_type::dataflow, job_type::script})
        for_each_config_field([&](auto const& field) {
            job_config const before{.name = "a", .cron = "c", .type = type};
            auto after = before;
            change(after.*field.member);
            CAPTURE(field.name);
            CAPTURE(name_of(type));
            auto const found = differences(before, after);
            if (field.name == "jobType") {
                CHECK_FALSE(found.empty());
            } else if (!field.applies_to(type) || (field.name == "jobClass" && type == job_type::script)) {
                CHECK(found.empty());
            } else {
                REQUIRE(found.size() == 1);
                CHECK(found[0].field == field.name);
                CHECK(found[0].left != found[0].right);
            }
        });
}

TEST_CASE("config.fields: differences are reported in the registry's terms") {
    job_config const one{.name = "a", .cron = "0 0 12 * * ?", .failover = true};
    job_config const other{.name = "a", .cron = "0 0 13 * * ?", .sharding_total_count = 2, .type = job_type::dataflow};
    CHECK(differences(one, other) == std::vector<config_difference>{{"jobType", "SIMPLE", "DATAFLOW"},
                                                                    {"cron", "'0 0 12 * * ?'", "'0 0 13 * * ?'"},
                                                                    {"shardingTotalCount", "1", "2"},
                                                                    {"failover", "true", "false"}});
    CHECK(differences(one, one).empty());
}

TEST_CASE("config.fields: the canonical form has only the fields of the job's type") {
    job_config const full{.job_class = "org.acme.Demo", .streaming_process = true, .script_command_line = "demo.sh"};
    auto config = full;

    config.type = job_type::simple;
    CHECK(canonical(config).job_class == "org.acme.Demo");
    CHECK_FALSE(canonical(config).streaming_process);
    CHECK(canonical(config).script_command_line == "");

    config.type = job_type::dataflow;
    CHECK(canonical(config).streaming_process);
    CHECK(canonical(config).script_command_line == "");

    config.type = job_type::script;
    CHECK(canonical(config).job_class == "com.dangdang.ddframe.job.api.script.ScriptJob");
    CHECK_FALSE(canonical(config).streaming_process);
    CHECK(canonical(config).script_command_line == "demo.sh");
    CHECK(canonical(canonical(config)) == canonical(config));
}

TEST_CASE("config.fields: the registry's cron has six fields, whatever the configuration has") {
    auto const stored = [](std::string cron) { return canonical({.name = "settle", .cron = std::move(cron)}).cron; };
    CHECK(stored("*/5 * * * *") == "0 0/5 * * * ?");
    CHECK(stored("0 9 * * 1-5") == "0 0 9 ? * MON-FRI");
    CHECK(stored("@daily") == "0 0 0 * * ?");
    for (auto const* kept : {"*/5 0  * * * ?", "0 0 0 ? * MON-FRI 2030", "rubbish", "1 2 3 4 x", "@never", ""})
        CHECK(stored(kept) == kept);
    CHECK(differences({.cron = "@hourly"}, {.cron = "0 0 * * * ?"}).empty());
}
