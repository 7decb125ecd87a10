// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/config_file.hpp>

#include <elasticjob/config/json_codec.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <unistd.h>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

std::optional<std::string> variable(std::string const& name) {
    if (name == "ITEMS") return "12";
    if (name == "REGION") return "north";
    if (name == "YES") return "true";
    if (name == "QUOTE") return "a\"b${ITEMS}";
    if (name == "NOTHING") return "";
    return std::nullopt;
}

result<job_config> parse(std::string const& json) { return parse_job_config(json, variable); }

error refused(std::string const& json) {
    auto const parsed = parse(json);
    REQUIRE(!parsed);
    CHECK(parsed.error() == errc::malformed_data);
    return parsed.error();
}

constexpr char const* everything = R"({
    // every field, in the order of job_config
    "name": "settle", "cron": "0 9 * * 1-5", "sharding_total_count": 3, "sharding_item_parameters": "0=A",
    "job_parameter": "p", "failover": true, "misfire": false, "description": "d", "job_class": "C", "type": "dataflow",
    "job_exception_handler": "E", "executor_service_handler": "X", "streaming_process": true,
    "script_command_line": "s", "monitor_execution": false, "max_time_diff_seconds": 4, "monitor_port": 5,
    "job_sharding_strategy_class": "S", "reconcile_interval_minutes": 6, "disabled": true, "overwrite": true,
    "schedules": [
        {"cron": "@daily"}, {"fixed_rate": "30s"}, {"fixed_delay": "5min"}, {"once_at": "2026-12-24T18:00:00.5Z"},
        {"once_now": true}, {"after_job": "load", "end": "ended"},
    ],
    "time_zone": "Europe/Berlin",
    "on_clock_change": {"named_hours": {"gap": "skip", "overlap": "last"}, "every_hour": {"gap": "shift", "overlap": "first"}},
    "starts": "2026-01-01T00:00:00Z", "ends": "2026-12-31T23:30:00+02:30", "excluded": ["SAT,SUN", "2026-12-25"],
    "jitter": "250ms", "item_labels": "0=gpu",
    "on_misfire": {"rule": "all", "runs_max": 7, "max_lateness": "2h"},
    "run_time_limit": "8min", "give_up_after": "1d",
    "retry": {"attempts_max": 9, "pause": "10s", "factor": 11, "pause_max": "12m", "spread_percent": 13, "hourly_max": 14},
    "dead_letters_max": 15, "on_wrong_clock": "stand_down",
    "dataflow": {"fetch_count": 16, "threads": 17, "count_interval": "18s"}, /* and a comma */
})";

job_config with_everything() {
    return {.name = "settle",
            .cron = "0 9 * * 1-5",
            .sharding_total_count = 3,
            .sharding_item_parameters = "0=A",
            .job_parameter = "p",
            .failover = true,
            .misfire = false,
            .description = "d",
            .job_class = "C",
            .type = job_type::dataflow,
            .job_exception_handler = "E",
            .executor_service_handler = "X",
            .streaming_process = true,
            .script_command_line = "s",
            .monitor_execution = false,
            .max_time_diff_seconds = 4,
            .monitor_port = 5,
            .job_sharding_strategy_class = "S",
            .reconcile_interval_minutes = 6,
            .disabled = true,
            .overwrite = true,
            .schedules = {job_schedule::by_cron("@daily"), job_schedule::fixed_rate(30s),
                          job_schedule::fixed_delay(5min), job_schedule::once_at(wall_time{1'798'135'200s + 500ms}),
                          job_schedule::once_now(), job_schedule::after_job("load", round_end::ended)},
            .time_zone = "Europe/Berlin",
            .on_clock_change = {{gap_rule::skip, overlap_rule::last}, {gap_rule::shift, overlap_rule::first}},
            .starts = wall_time{1'767'225'600s},
            .ends = wall_time{1'798'750'800s},
            .excluded = {"SAT,SUN", "2026-12-25"},
            .jitter = 250ms,
            .item_labels = "0=gpu",
            .on_misfire = {misfire_rule::all, 7, 2h},
            .run_time_limit = 8min,
            .give_up_after = 24h,
            .retry = {9, 10s, 11, 12min, 13, 14},
            .dead_letters_max = 15,
            .on_wrong_clock = clock_rule::stand_down,
            .dataflow = {16, 17, 18s}};
}

} // namespace

TEST_CASE("config.config_file: every field can be written") {
    auto const parsed = parse(everything);
    REQUIRE_MESSAGE(parsed, (parsed ? "" : to_string(parsed.error())));
    CHECK(*parsed == with_everything());
}

TEST_CASE("config.config_file: omitted fields have their default values") {
    auto const parsed = parse(R"({"name": "settle", "cron": "@daily"})");
    REQUIRE(parsed);
    CHECK(*parsed == job_config{.name = "settle", .cron = "@daily"});
    CHECK(parse("{}").value() == job_config{});
}

TEST_CASE("config.config_file: the registry's configuration can be read, under Java's names") {
    auto config = with_everything();
    auto const parsed = parse(to_json(config));
    REQUIRE_MESSAGE(parsed, (parsed ? "" : to_string(parsed.error())));
    CHECK(*parsed == canonical(config));
}

TEST_CASE("config.config_file: a registry's configuration is written so that it reads back the same") {
    auto stored = with_everything();
    stored.description = "${HOME} \"quoted\" <b>";
    job_config const instances_own;
    stored.on_misfire = instances_own.on_misfire;
    stored.run_time_limit = instances_own.run_time_limit;
    stored.give_up_after = instances_own.give_up_after;
    stored.retry = instances_own.retry;
    stored.dead_letters_max = instances_own.dead_letters_max;
    stored.on_wrong_clock = instances_own.on_wrong_clock;
    stored.dataflow = instances_own.dataflow;
    for (auto const& c : {stored, job_config{.name = "settle", .cron = "@daily"}}) {
        auto const parsed = parse_job_config(write_job_config(c), nullptr);
        REQUIRE_MESSAGE(parsed, (parsed ? "" : to_string(parsed.error())));
        CHECK(*parsed == c);
    }
}

TEST_CASE("config.config_file: environment variables are substituted in texts only, and once") {
    auto const parsed = parse(R"({
        "name": "settle-${REGION}", "cron": "${CRON:-@hourly}", "sharding_total_count": "${ITEMS}",
        "failover": "${YES}", "description": "${QUOTE} $${ITEMS} $5 ${NOTHING}${NOTHING:-else}${OTHER:-}",
        "excluded": ["${DAY:-SAT}"], "retry": {"attempts_max": "${ITEMS}", "pause": "${ITEMS}s"}
    })");
    REQUIRE_MESSAGE(parsed, (parsed ? "" : to_string(parsed.error())));
    CHECK(parsed->name == "settle-north");
    CHECK(parsed->cron == "@hourly");
    CHECK(parsed->sharding_total_count == 12);
    CHECK(parsed->failover);
    CHECK(parsed->description == "a\"b${ITEMS} ${ITEMS} $5 ");
    CHECK(parsed->excluded.at(0) == "SAT");
    CHECK(parsed->retry.attempts_max == 12);
    CHECK(parsed->retry.pause == 12s);

    auto const missing = refused("{\"name\": \"a\",\n \"cron\": \"${CRON}\"}");
    CHECK(missing.where == "line 2");
    CHECK(missing.what.starts_with("cron needs the environment variable 'CRON', which is not set"));
    CHECK(refused(R"({"name": "a${b"})").what.find("without its `}`") != std::string::npos);
}

TEST_CASE("config.config_file: a problem names its line and its field") {
    auto const e = refused("{\n\"name\": \"settle\",\n\"sharding_count\": 3\n}");
    CHECK(e == error{errc::malformed_data, "sharding_count is no field of a job: did you mean sharding_total_count?",
                     "line 3"});
    CHECK(refused("{\"sharding_total_count\": \"three\"}").what ==
          "sharding_total_count must be a whole number of 32 bits, but is the string 'three'");
    CHECK(refused("{\"failover\": 1}").what == "failover must be true or false, but is the number '1'");
    CHECK(refused("{\"retry\": {\"pause\": \"5\"}}")
              .what.starts_with("retry.pause must be a span of time with its unit"));
    CHECK(refused("{\"retry\": {\"pauses\": \"5s\"}}").what ==
          "retry.pauses is no field of a job: did you mean retry.pause?");
    CHECK(refused("{\"retry\": 3}").what.starts_with("retry is no field of a job"));
    CHECK(refused("{\"cron\": {}}").what.starts_with("cron is no field"));
    CHECK(refused("{\"excluded\": \"SAT\"}").what == "excluded must be a list, but is the string 'SAT'");
    CHECK(refused("{\"cron\": [\"@daily\"]}").what.starts_with("cron must not be a list"));
    CHECK(refused("{\"type\": \"cron\"}").what.starts_with("type must be simple, dataflow or script"));
    CHECK(refused("{\"name\": \"a\", \"jobName\": \"b\"}").what == "jobName occurs twice");
    CHECK(refused("{\"schedules\": [{\"cron\": \"a\"}], \"schedules\": []}").what == "schedules occurs twice");
    CHECK(refused("{\"excluded\": [], \"excluded\": [\"SAT\"]}").what == "excluded occurs twice");
    for (auto const* key : {"schedules[0].fixed_rate", "excluded[0]", "schedules[0]"}) {
        CAPTURE(key);
        for (auto const* value : {"\"30s\"", "{}", "{\"cron\": \"a\"}"})
            CHECK(refused("{\"" + std::string{key} + "\": " + value + "}").what.find("is no field of a job") !=
                  std::string::npos);
    }
    CHECK(refused("{\"schedules\": [{\"fixed_rate\": \"40s\", \"end\": \"failed\"}]}").what ==
          "schedules[0] must have an end only together with after_job");
    CHECK(refused("{\"schedules\": [\"@daily\"]}").what.starts_with("schedules[0] must be an object"));
    CHECK(refused("{\"schedules\": [{\"cron\": \"a\"},\n{}]}").where == "line 2");
    CHECK(refused("{\"schedules\": [{\"cron\": \"a\", \"fixed_rate\": \"1s\"}]}")
              .what.starts_with("schedules[0] must have"));
    CHECK(refused("{\"schedules\": [{\"crons\": \"a\"}]}").what.find("crons is no schedule") != std::string::npos);
    CHECK(refused("[]").what == "a job must be an object, but this is a list");
    CHECK(refused("3").what.starts_with("a job must be an object"));
    CHECK(refused("{\n\n\"name\": }").where == "line 3");
    CHECK(refused("").where == "line 1");
    for (auto const* wrong : {"2026-02-29T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T24:00:00Z",
                              "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234Z", "2026-01-01T00:00:00+2:00",
                              "1969-01-01T00:00:00Z", "2026-01-01T00:00:00Zx", "x"}) {
        CAPTURE(wrong);
        CHECK(refused("{\"starts\": \"" + std::string{wrong} + "\"}").what.starts_with("starts must be an instant as"));
    }
    for (auto const* wrong : {"", "s", "-5s", "5 s", "5sec", "99999999999999999d", "1.5h"}) {
        CAPTURE(wrong);
        CHECK(refused("{\"jitter\": \"" + std::string{wrong} + "\"}").what.starts_with("jitter must be "));
    }
}

TEST_CASE("config.config_file: several problems are reported together, up to a limit") {
    auto const e = refused("{\"a\": 1,\n\"failover\": \"maybe\",\n\"cron\": \"${CRON}\"}");
    CHECK(e.what.starts_with("3 problems: line 1: a is no field of a job; line 2: failover must be true or false"));
    CHECK(e.what.find("; line 3: cron needs") != std::string::npos);
    std::string many = "{";
    for (int i = 0; i < 10'000; ++i) many += "\"field" + std::to_string(i) + "\": 1,\n";
    CHECK(refused(many + "}").what.size() < 10'000);
    CHECK(refused("{\"" + std::string(100'000, 'x') + "\": 1}").what.size() < 1'000);
    CHECK(refused(std::string(100'000, '[')).what.size() < 1'000);
    CHECK(refused(std::string(config_file_size_max + 1, ' ')).what.find("1 MiB") != std::string::npos);
    CHECK(refused(std::string("{}\0", 3)).what.find("NUL") != std::string::npos);
}

TEST_CASE("config.config_file: a file is read, and named in errors") {
    auto const path = std::filesystem::temp_directory_path() / ("elasticjob_config_" + std::to_string(::getpid()));
    std::ofstream{path} << "{\"name\": \"settle\",\n\"cron\": \"${HOME:-x}\", \"crone\": 1}";
    auto const wrong = read_job_config(path.string());
    std::ofstream{path} << "{\"name\": \"settle\", \"cron\": \"@daily\"}";
    auto const good = read_job_config(path.string());
    std::filesystem::remove(path);
    REQUIRE(!wrong);
    CHECK(wrong.error().where == path.string() + ", line 2");
    REQUIRE(good);
    CHECK(good->cron == "@daily");
    auto const gone = read_job_config(path.string());
    REQUIRE(!gone);
    CHECK(gone.error() == errc::invalid_argument);
    CHECK(gone.error().what == "the configuration cannot be read: No such file or directory");
    CHECK(!read_job_config("/")); // a directory
}
