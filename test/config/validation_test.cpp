// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/validation.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace elasticjob;
using namespace std::literals;

namespace {

job_config const good{.name = "settle", .cron = "0/5 * * * * ?", .sharding_total_count = 3};

/// The only problem of `good` after `spoil`.
template <class Spoil>
error only_problem(Spoil spoil) {
    auto config = good;
    spoil(config);
    auto const problems = problems_of(config);
    REQUIRE(problems.size() == 1);
    CHECK(validate(config).error() == problems.front());
    return problems.front();
}

template <class Spoil>
bool still_valid(Spoil spoil) {
    auto config = good;
    spoil(config);
    return problems_of(config).empty() && validate(config).has_value();
}

} // namespace

TEST_CASE("config.validation: a valid configuration comes with its texts read") {
    auto config = good;
    config.sharding_item_parameters = "0=A,1=B";
    auto const valid = validate(config);
    REQUIRE(valid);
    CHECK(valid->config() == config);
    CHECK(valid->name().str() == "settle");
    CHECK(valid->when() == timetable{{*parse_cron("0/5 * * * * ?")}});
    CHECK(valid->parameters().find(1) == "B");
    CHECK(problems_of(config).empty());
}

TEST_CASE("config.validation: a name must be one path element") {
    CHECK(only_problem([](auto& c) { c.name = ""; }) ==
          error{errc::invalid_argument, "job name must not be empty: ''", "jobName"});
    auto const e = only_problem([](auto& c) { c.name = "a/b"; });
    CHECK(e == errc::invalid_argument);
    CHECK(e.what.find("must not contain '/'") != e.what.npos);
    CHECK(e.what.ends_with("'a/b'"));
}

TEST_CASE("config.validation: a cron expression keeps its own codes") {
    auto const invalid = only_problem([](auto& c) { c.cron = "0 61 * * * ?"; });
    CHECK(invalid == errc::invalid_cron);
    CHECK(invalid.where == "cron");
    CHECK(invalid.what.ends_with(" of '0 61 * * * ?')"));
    CHECK(invalid.what.find("(column ") != invalid.what.npos);
    CHECK(only_problem([](auto& c) { c.cron = "0 0 0 30 2 ?"; }) == errc::cron_never_fires);
    CHECK(only_problem([](auto& c) { c.cron = ""; }) == errc::invalid_cron);
}

TEST_CASE("config.validation: a valid five-field expression becomes one of six fields, so all members use one text") {
    auto config = good;
    config.cron = "*/5 9-17 * * 1-5";
    CHECK(validate(config)->config().cron == "0 0/5 9-17 ? * MON-FRI");
    CHECK(validate(config)->when() == timetable{{*parse_cron("0 0/5 9-17 ? * 2-6")}});
    config.cron = "*/5 9-17 * * 8";
    CHECK(validate(config).error().what.ends_with(" of '*/5 9-17 * * 8')"));
}

TEST_CASE("config.validation: numbers must be within their range") {
    CHECK(only_problem([](auto& c) { c.sharding_total_count = 0; }) ==
          error{errc::invalid_config, "must be 1 to 10000000, but is 0", "shardingTotalCount"});
    CHECK(only_problem([](auto& c) { c.sharding_total_count = -1; }).where == "shardingTotalCount");
    CHECK(only_problem([](auto& c) { c.sharding_total_count = 10'000'001; }).where == "shardingTotalCount");
    CHECK(still_valid([](auto& c) { c.sharding_total_count = 10'000'000; }));

    CHECK(only_problem([](auto& c) { c.max_time_diff_seconds = -2; }) ==
          error{errc::invalid_config, "must be -1 to 2147483647, but is -2", "maxTimeDiffSeconds"});
    CHECK(still_valid([](auto& c) { c.max_time_diff_seconds = 0; }));

    CHECK(only_problem([](auto& c) { c.monitor_port = -2; }).where == "monitorPort");
    CHECK(only_problem([](auto& c) { c.monitor_port = 65536; }) ==
          error{errc::invalid_config, "must be -1 to 65535, but is 65536", "monitorPort"});
    CHECK(still_valid([](auto& c) { c.monitor_port = 65535; }));
    CHECK(still_valid([](auto& c) { c.reconcile_interval_minutes = -1; }));
}

TEST_CASE("config.validation: item parameters must be readable, even those of items beyond the count") {
    auto const e = only_problem([](auto& c) { c.sharding_item_parameters = "0=A,x=B"; });
    CHECK(e ==
          error{errc::invalid_config, "Sharding item parameters key 'x' is not an integer.", "shardingItemParameters"});
    CHECK(still_valid([](auto& c) { c.sharding_item_parameters = "0=A,99=B,-1=C"; }));
}

TEST_CASE("config.validation: a job must have exactly the settings that its type needs") {
    for (auto const type : {job_type::simple, job_type::dataflow})
        CHECK(only_problem([&](auto& c) { c.type = type, c.job_class = ""; }).where == "jobClass");
    CHECK(only_problem([](auto& c) { c.type = job_type::script; }).where == "scriptCommandLine");
    CHECK(still_valid([](auto& c) { c.type = job_type::script, c.job_class = "", c.script_command_line = "a.sh"; }));
}

TEST_CASE("config.validation: every text must be UTF-8 without NUL") {
    for_each_config_field([](auto const& field) {
        if constexpr (std::is_same_v<decltype(field.member), std::string job_config::*>)
            for (auto const bad : {"0=\xff"sv, "0=\0"sv, "0=\xed\xa0\x80"sv}) {
                auto const e = only_problem([&](auto& c) { c.*field.member = bad; });
                CAPTURE(field.name);
                CHECK(e == errc::invalid_config);
                CHECK(e.where == field.name);
                CHECK(e.what.starts_with("must be UTF-8 without NUL, but is not at byte 2 of '0="));
            }
    });
    CHECK(still_valid([](auto& c) { c.description = "\xe5\x8c\x97\xe4\xba\xac \xf0\x9f\x98\x80"; }));
}

TEST_CASE("config.validation: the whole configuration must fit into a node") {
    auto const rest = to_json(good).size();
    CHECK(still_valid([&](auto& c) { c.job_parameter = std::string(stored_config_size_max - rest - 1, 'x'); }));
    auto const e = only_problem([&](auto& c) { c.job_parameter = std::string(stored_config_size_max - rest, 'x'); });
    CHECK(e ==
          error{errc::invalid_config, "must be shorter than 1000000 bytes as text, but has 1000000", "configuration"});
}

TEST_CASE("config.validation: several problems are reported together, each with its field") {
    auto const config = job_config{.name = "a/b",
                                   .cron = "",
                                   .sharding_total_count = 0,
                                   .sharding_item_parameters = "xxx",
                                   .description = "\xff",
                                   .type = job_type::script,
                                   .max_time_diff_seconds = -2,
                                   .monitor_port = 70000};
    std::vector<std::string> fields;
    for (auto const& problem : problems_of(config)) fields.push_back(problem.where);
    CHECK(fields == std::vector<std::string>{"description", "jobName", "cron", "shardingItemParameters",
                                             "shardingTotalCount", "maxTimeDiffSeconds", "monitorPort",
                                             "scriptCommandLine"});

    auto const all = validate(config).error();
    CHECK(all == errc::invalid_config);
    CHECK(all.where == "job 'a/b'");
    CHECK(all.what.starts_with("8 problems: description: must be UTF-8"));
    CHECK(all.what.find("; shardingTotalCount: must be 1 to 10000000, but is 0; ") != all.what.npos);
    for (auto const& field : fields) CHECK(all.what.find(field) != all.what.npos);
}

TEST_CASE("config.validation: the registry's configuration can be checked the same way") {
    auto const stored =
        from_json(R"({"jobName":"a","jobClass":"C","jobType":"SIMPLE","cron":"0 61 * * * ?","shardingTotalCount":1})");
    REQUIRE(stored);
    CHECK(validate(**stored).error() == errc::invalid_cron);
}

TEST_CASE("config.validation: an instance accepts a limited number of items") {
    job_config c{.name = "settle", .cron = "0 0 12 * * ?", .sharding_total_count = 11};
    CHECK(detail::check_item_count(c, 11));
    auto const refused = detail::check_item_count(c, 10);
    REQUIRE(!refused);
    CHECK(refused.error() == errc::invalid_config);
    CHECK(refused.error().what.find("11 items") != std::string::npos);
    // As many item parameters, with a comma at the end or without. They are counted, not read.
    c.sharding_total_count = 1;
    c.sharding_item_parameters = "0=a,1=b,2=c,";
    CHECK(detail::check_item_count(c, 3));
    c.sharding_item_parameters = "this,is,no,parameter";
    CHECK(detail::check_item_count(c, 4));
    auto const parameters_refused = detail::check_item_count(c, 3);
    REQUIRE(!parameters_refused);
    CHECK(parameters_refused.error().what.starts_with(
        "the job has 4 item parameters, but this instance accepts at most 3"));
    CHECK(parameters_refused.error().where == "job 'settle', shardingItemParameters");
    // A count below 1 is a different problem.
    c.sharding_item_parameters = "";
    c.sharding_total_count = -5;
    CHECK(detail::check_item_count(c, 3));
}

TEST_CASE("config.validation: too many schedules or exclusions are counted, not read, and the report has a limit") {
    job_config c{.name = "settle", .cron = "0 0 12 * * ?"};
    c.excluded.assign(exclusions_max + 1, "wrong");
    c.schedules.assign(schedules_max + 1, job_schedule::by_cron("wrong"));
    CHECK(problems_of(c).size() == 2);
    c.excluded.assign(exclusions_max, "wrong " + std::string(1'000, 'x'));
    c.schedules.assign(schedules_max, job_schedule::by_cron("wrong"));
    CHECK(problems_of(c).size() == exclusions_max + schedules_max + 1); // too long as a whole, too
    auto const refused = validate(c);
    REQUIRE(!refused);
    CHECK(refused.error().what.starts_with("1101 problems: "));
    CHECK(refused.error().what.ends_with("; and so on"));
    CHECK(refused.error().what.size() < 20'000);
    c.excluded.clear();
    c.schedules.clear();
    c.time_zone = std::string(time_zone_bytes_max + 1, 'x');
    REQUIRE(problems_of(c).size() == 1);
    CHECK(problems_of(c)[0].where == "time_zone");
    CHECK(problems_of(c)[0].what.size() < 300);
}

TEST_CASE("config.validation: problems from other checks are reported too, unless their field already has one") {
    auto config = good;
    std::vector<error> const more{{errc::invalid_config, "no such zone", "time_zone"}};
    CHECK(validate(config, more).error() == more.front());
    config.sharding_total_count = 0;
    CHECK(validate(config, more).error().what.ends_with("shardingTotalCount: must be 1 to 10000000, but is 0; "
                                                        "time_zone: no such zone"));
    config = good;
    config.time_zone = "Europe / Berlin";
    CHECK(validate(config, more).error().what.starts_with("must be a name like Europe/Berlin"));
}

TEST_CASE("config.validation: failover without monitor_execution is valid, as for Java, and has no effect") {
    auto config = good;
    CHECK(!find_ineffective(config));
    config.failover = true;
    CHECK(!find_ineffective(config));
    config.monitor_execution = false;
    CHECK(validate(config).has_value());
    auto const problem = find_ineffective(config);
    REQUIRE(problem);
    CHECK(problem->where == "failover");
    CHECK(problem->what.find("monitorExecution") != std::string::npos);
    config.failover = false;
    CHECK(!find_ineffective(config));
}
