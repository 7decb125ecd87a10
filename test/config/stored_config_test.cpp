// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/stored_config.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace elasticjob;
using enum config_decision::action;

namespace {

job_config const stored{
    .name = "settle", .cron = "0/5 * * * * ?", .sharding_total_count = 3, .job_class = "org.acme.A"};

} // namespace

TEST_CASE("config.stored_config: if none is stored, the local configuration is written") {
    CHECK(decide_config(std::nullopt, stored).value() == config_decision{write_local});
    CHECK(to_string(config_decision{write_local}) == "");
}

TEST_CASE("config.stored_config: the stored configuration counts, and differences are reported") {
    CHECK(decide_config(stored, stored).value() == config_decision{keep_stored});
    CHECK(to_string(config_decision{keep_stored}) == "");

    auto local = stored;
    local.cron = "0/9 * * * * ?";
    local.disabled = true;
    auto const decision = decide_config(stored, local).value();
    CHECK(decision == config_decision{keep_stored,
                                      {{"cron", "'0/5 * * * * ?'", "'0/9 * * * * ?'"}, {"disabled", "false", "true"}}});
    CHECK(to_string(decision) == "the configuration in the registry counts, not the local one: "
                                 "cron is '0/5 * * * * ?', not '0/9 * * * * ?'; disabled is false, not true");
}

TEST_CASE("config.stored_config: overwrite in the local configuration replaces the stored one") {
    auto local = stored;
    local.sharding_total_count = 5;
    local.overwrite = true;
    auto const decision = decide_config(stored, local).value();
    CHECK(decision.what == write_local);
    CHECK(to_string(decision) == "the local configuration replaces the one in the registry: "
                                 "shardingTotalCount is 5, was 3; overwrite is true, was false");
    // The stored configuration's own `overwrite` does not decide whether others may overwrite it.
    CHECK(decide_config(local, stored).value().what == keep_stored);
}

TEST_CASE("config.stored_config: a job of another class is a conflict, even when overwriting") {
    auto local = stored;
    local.job_class = "org.acme.B";
    for (bool const overwrite : {false, true}) {
        local.overwrite = overwrite;
        auto const e = decide_config(stored, local).error();
        CHECK(e == errc::job_conflict);
        CHECK(e.what ==
              "Job conflict with register center. The job 'settle' in register center's class is 'org.acme.A', "
              "your job class is 'org.acme.B'. Give this job another name, or the same class, or remove the job "
              "from the registry.");
        CHECK(e.where == "settle");
    }
}

TEST_CASE("config.stored_config: a job of another type is a conflict too") {
    auto local = stored;
    local.type = job_type::dataflow;
    auto const e = decide_config(stored, local).error();
    CHECK(e == errc::job_conflict);
    CHECK(e.what.find("type is 'SIMPLE', your job type is 'DATAFLOW'") != e.what.npos);
}

TEST_CASE("config.stored_config: all script jobs have one class") {
    auto script = stored;
    script.type = job_type::script;
    script.script_command_line = "settle.sh";
    auto local = script;
    local.job_class = "elasticjob.Job";
    CHECK(decide_config(script, local).value() == config_decision{keep_stored});
    CHECK(decide_config(script, stored).error() == errc::job_conflict);
}
