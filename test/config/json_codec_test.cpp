// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/json_codec.hpp>

#include <doctest/doctest.h>

#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>

using namespace elasticjob;
using namespace std::literals;

namespace {

std::string const default_properties =
    R"("jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler",)"
    R"("executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},)";
std::string const default_end = R"("monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,)"
                                R"("jobShardingStrategyClass":"","reconcileIntervalMinutes":10,"disabled":false,)"
                                R"("overwrite":false})";

job_config read(std::string_view text) {
    CAPTURE(text);
    auto const config = from_json(text);
    REQUIRE_MESSAGE(config, to_string(config.error()));
    REQUIRE(config->has_value());
    return **config;
}

/// Reads the smallest configuration that Java accepts, with more members in front.
job_config read_with(std::string const& members) {
    return read("{" + members +
                R"("jobName":"a","jobClass":"C","jobType":"SIMPLE","cron":"c","shardingTotalCount":1})");
}

error refusal(std::string_view text) {
    CAPTURE(text);
    auto const config = from_json(text);
    REQUIRE_FALSE(config);
    return config.error();
}

/// The same, with more members behind.
error refusal_with(std::string const& members) {
    return refusal(R"({"jobName":"a","jobClass":"C","jobType":"SIMPLE","cron":"c","shardingTotalCount":1,)" + members +
                   "}");
}

void check_both_ways(job_config const& config, std::string const& json) {
    CHECK(to_json(config) == json);
    CHECK(read(json) == canonical(config));
}

} // namespace

TEST_CASE("config.json_codec: a simple job is written and read as Java does it") {
    check_both_ways({.name = "demo",
                     .cron = "0/5 * * * * ?",
                     .sharding_total_count = 2,
                     .sharding_item_parameters = "0=A,1=B",
                     .failover = true,
                     .job_class = "org.acme.Demo"},
                    R"({"jobName":"demo","jobClass":"org.acme.Demo","jobType":"SIMPLE","cron":"0/5 * * * * ?",)"
                    R"("shardingTotalCount":2,"shardingItemParameters":"0\u003dA,1\u003dB","jobParameter":"",)"
                    R"("failover":true,"misfire":true,"description":"",)" +
                        default_properties + default_end);
    check_both_ways({.name = "test_job",
                     .cron = "0/1 * * * * ?",
                     .sharding_total_count = 3,
                     .failover = true,
                     .misfire = false,
                     .job_class = "com.dangdang.ddframe.job.lite.fixture.TestSimpleJob",
                     .monitor_execution = false,
                     .max_time_diff_seconds = 1000,
                     .monitor_port = 8888,
                     .job_sharding_strategy_class = "testClass",
                     .reconcile_interval_minutes = 15,
                     .disabled = true,
                     .overwrite = true},
                    R"({"jobName":"test_job","jobClass":"com.dangdang.ddframe.job.lite.fixture.TestSimpleJob",)"
                    R"("jobType":"SIMPLE","cron":"0/1 * * * * ?","shardingTotalCount":3,"shardingItemParameters":"",)"
                    R"("jobParameter":"","failover":true,"misfire":false,"description":"",)" +
                        default_properties +
                        R"("monitorExecution":false,"maxTimeDiffSeconds":1000,"monitorPort":8888,)"
                        R"("jobShardingStrategyClass":"testClass","reconcileIntervalMinutes":15,"disabled":true,)"
                        R"("overwrite":true})");
}

TEST_CASE("config.json_codec: handlers and texts other than the defaults are written too") {
    check_both_ways({.name = "test_job",
                     .cron = "0/1 * * * * ?",
                     .sharding_total_count = 3,
                     .sharding_item_parameters = "0=A,1=B,2=C",
                     .job_parameter = "param",
                     .failover = true,
                     .misfire = false,
                     .description = "desc",
                     .job_class = "com.dangdang.ddframe.job.fixture.job.TestSimpleJob",
                     .job_exception_handler = "H"},
                    R"({"jobName":"test_job","jobClass":"com.dangdang.ddframe.job.fixture.job.TestSimpleJob",)"
                    R"("jobType":"SIMPLE","cron":"0/1 * * * * ?","shardingTotalCount":3,)"
                    R"("shardingItemParameters":"0\u003dA,1\u003dB,2\u003dC","jobParameter":"param","failover":true,)"
                    R"("misfire":false,"description":"desc","jobProperties":{"job_exception_handler":"H",)"
                    R"("executor_service_handler":)"
                    R"("com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},)" +
                        default_end);
}

TEST_CASE("config.json_codec: a dataflow job's streaming setting is written") {
    check_both_ways({.name = "test_job",
                     .cron = "0/1 * * * * ?",
                     .sharding_total_count = 3,
                     .job_class = "com.dangdang.ddframe.job.lite.fixture.TestDataflowJob",
                     .type = job_type::dataflow,
                     .streaming_process = true,
                     .script_command_line = "not a dataflow job's"},
                    R"({"jobName":"test_job","jobClass":"com.dangdang.ddframe.job.lite.fixture.TestDataflowJob",)"
                    R"("jobType":"DATAFLOW","cron":"0/1 * * * * ?","shardingTotalCount":3,"shardingItemParameters":"",)"
                    R"("jobParameter":"","failover":false,"misfire":true,"description":"",)" +
                        default_properties + R"("streamingProcess":true,)" + default_end);
}

TEST_CASE("config.json_codec: a script job has its command line and the class of all script jobs") {
    check_both_ways({.name = "test_job",
                     .cron = "0/1 * * * * ?",
                     .sharding_total_count = 3,
                     .type = job_type::script,
                     .script_command_line = "test.sh"},
                    R"({"jobName":"test_job","jobClass":"com.dangdang.ddframe.job.api.script.ScriptJob",)"
                    R"("jobType":"SCRIPT","cron":"0/1 * * * * ?","shardingTotalCount":3,"shardingItemParameters":"",)"
                    R"("jobParameter":"","failover":false,"misfire":true,"description":"",)" +
                        default_properties + R"("scriptCommandLine":"test.sh",)" + default_end);
    CHECK(read(R"({"jobName":"a","jobType":"SCRIPT","cron":"c","shardingTotalCount":1,"jobClass":"ignored"})")
              .job_class == script_job_class);
}

TEST_CASE("config.json_codec: an empty text is no configuration") {
    auto const config = from_json("");
    REQUIRE(config);
    CHECK_FALSE(config->has_value());
}

TEST_CASE("config.json_codec: a missing field means the same as in Java") {
    job_config const smallest{.name = "a", .cron = "c", .misfire = false, .job_class = "C"};
    CHECK(read_with("") == smallest);
    CHECK(read_with(R"("jobProperties":{},)") == smallest);
    auto custom = smallest;
    custom.executor_service_handler = "E";
    CHECK(read_with(R"("jobProperties":{"executor_service_handler":"E"},)") == custom);
}

TEST_CASE("config.json_codec: fields may stand in any order, with blanks, and the last one counts") {
    CHECK(read("\n{ \"overwrite\" : true,\t\"shardingTotalCount\":1 , \"reconcileIntervalMinutes\" : 15 ,\r\n"
               "\"cron\":\"c\",\"jobType\":\"SIMPLE\",\"jobClass\":\"C\",\"misfire\":true,\"jobName\":\"a\" } \n") ==
          job_config{.name = "a", .cron = "c", .job_class = "C", .reconcile_interval_minutes = 15, .overwrite = true});
    CHECK(read_with(R"("cron":"first","shardingTotalCount":7,"failover":true,"failover":false,)") == read_with(""));
    CHECK(read_with(R"("jobProperties":{"job_exception_handler":"H"},"jobProperties":{},)") == read_with(""));
}

TEST_CASE("config.json_codec: the Java console's texts are read") {
    auto const config = read(
        R"({"jobName":"a","jobType":"SIMPLE","jobClass":"C","cron":"c","shardingTotalCount":2,)"
        R"("shardingItemParameters":"","jobParameter":"","monitorExecution":true,"streamingProcess":true,)"
        R"("maxTimeDiffSeconds":-1,"monitorPort":-1,"failover":false,"misfire":true,"jobShardingStrategyClass":"",)"
        R"("description":"","jobProperties":{"executor_service_handler":"E","job_exception_handler":"H"},)"
        R"("reconcileIntervalMinutes":10})");
    CHECK(config == job_config{.name = "a",
                               .cron = "c",
                               .sharding_total_count = 2,
                               .job_class = "C",
                               .job_exception_handler = "H",
                               .executor_service_handler = "E"});
}

TEST_CASE("config.json_codec: unknown members are skipped, however deep, and change nothing") {
    for (auto const members :
         {R"("unknown":{"a":[1]},)", R"("unknown":null,)",
          R"("unknown":[{"jobName":"x","jobProperties":{"y":1}},[[]],{}],)",
          R"("jobProperties":{"x":"y","z":{"job_exception_handler":"H","jobName":"x"},"w":[1,{"cron":"x"}]},)",
          R"("unknown":{"jobProperties":{"job_exception_handler":"H"},"failover":"no boolean"},)",
          R"("job_exception_handler":"not among the properties",)", R"("jobProperties":{"cron":5,"failover":true},)",
          R"("":0,)"})
        CHECK(read_with(members) == read_with(""));
}

TEST_CASE("config.json_codec: it is as lenient as Gson where RapidJSON allows it") {
    CHECK(read_with("/* why */ // and how\n") == read_with(""));
    CHECK(read("\xef\xbb\xbf{\"jobName\":\"a\",\"jobClass\":\"C\",\"jobType\":\"SIMPLE\",\"cron\":\"c\","
               "\"shardingTotalCount\":1,}") == read_with(""));
    CHECK(read_with(R"("description":12.50,)").description == "12.50");
    CHECK(read_with(R"("description":-0,)").description == "-0");
    for (auto const number : {"10", "10.0", "10.000", R"("10")", R"("10.0")"})
        CHECK(read_with(R"("monitorPort":)"s + number + ",").monitor_port == 10);
    CHECK(read_with(R"("monitorPort":-2147483648,)").monitor_port == -2147483647 - 1);
    CHECK(read_with(R"("description":"\u003c\u0041\u00e9\ud83d\ude00\/\u2028",)").description ==
          "<A\xc3\xa9\xf0\x9f\x98\x80/\xe2\x80\xa8");
}

TEST_CASE("config.json_codec: without a field that Java requires it is invalid, in Java's order of checks") {
    auto const check = [](std::string_view text, std::string_view what, std::string_view where) {
        auto const e = refusal(text);
        CHECK(e == errc::invalid_config);
        CHECK(e.what == what);
        CHECK(e.where == where);
    };
    check("{}", "jobName can not be empty.", "jobName");
    check(R"({"jobName":""})", "jobName can not be empty.", "jobName");
    check(R"({"jobName":"a"})", "cron can not be empty.", "cron");
    check(R"({"jobName":"a","cron":"c"})", "shardingTotalCount should larger than zero.", "shardingTotalCount");
    check(R"({"jobName":"a","cron":"c","shardingTotalCount":-1})", "shardingTotalCount should larger than zero.",
          "shardingTotalCount");
    check(R"({"jobName":"a","cron":"c","shardingTotalCount":1})", "jobType cannot be null.", "jobType");
    check(R"({"jobName":"a","cron":"c","shardingTotalCount":1,"jobType":"SIMPLE"})", "jobClass cannot be empty.",
          "jobClass");
    check(R"({"jobName":"a","cron":"c","shardingTotalCount":1,"jobType":"DATAFLOW","jobClass":""})",
          "jobClass cannot be empty.", "jobClass");
}

TEST_CASE("config.json_codec: a value of another kind is malformed, and the message says what was expected") {
    auto const check = [](std::string const& member, std::string_view what) {
        auto const e = refusal_with(member);
        CHECK(e == errc::malformed_data);
        CHECK(e.what == what);
        CHECK(e.where.starts_with("byte "));
    };
    check(R"("failover":"true")", "failover must be true or false, but is the string 'true'");
    check(R"("failover":1)", "failover must be true or false, but is the number '1'");
    check(R"("cron":null)", "cron must be a string, but is null");
    check(R"("cron":true)", "cron must be a string, but is the boolean 'true'");
    check(R"("cron":["c"])", "cron must be a string, but is an array");
    check(R"("cron":{})", "cron must be a string, but is an object");
    check(R"("monitorPort":1.5)", "monitorPort must be a whole number of 32 bits, but is the number '1.5'");
    check(R"("jobType":"simple")", "jobType must be SIMPLE, DATAFLOW or SCRIPT, but is the string 'simple'");
    check(R"("jobType":0)", "jobType must be SIMPLE, DATAFLOW or SCRIPT, but is the number '0'");
    check(R"("jobProperties":"x")", "jobProperties must be an object, but is the string 'x'");
    check(R"("jobProperties":[])", "jobProperties must be an object, but is an array");
    check(R"("jobProperties":{"job_exception_handler":null})", "job_exception_handler must be a string, but is null");
    for (auto const number :
         {"2147483648", "-2147483649", "1e1", R"("1.")", R"("")", R"("x")", R"(".0")", "null", "true", "{}"})
        CHECK(refusal_with(R"("monitorPort":)"s + number) == errc::malformed_data);
    for (auto const text : {"null", "[]", "\"text\"", "1", "true"})
        CHECK(refusal(text).what.starts_with("a configuration must be an object, but this is "));
}

TEST_CASE("config.json_codec: a text that is not JSON is malformed, and the message says where") {
    CHECK(refusal(R"({"jobName":"a",})") == errc::invalid_config);
    CHECK(refusal(R"({"jobName":"a" "cron":"c"})").where == "byte 15");
    for (auto const text :
         {" ", "{", "{}{}", "{} x", "{'jobName':'a'}", "{jobName:\"a\"}", "{\"jobName\"=\"a\"}", "{\"a\":1;\"b\":2}",
          "{\"failover\":TRUE}", "{\"jobName\":\"a\nb\"}", "{\"jobName\":\"\\ud800\"}", "{\"jobName\":\"\xff\"}",
          "{\"jobName\":\"\xed\xa0\x80\"}", "{\"a\":1e999}", "/*", "{}/*", "//"})
        CHECK(refusal(text) == errc::malformed_data);
    CHECK(refusal("{}\0garbage"sv).where == "byte 2");
}

TEST_CASE("config.json_codec: size and depth are limited") {
    auto const nested = [](std::size_t depth) {
        return R"("x":)" + std::string(depth, '[') + std::string(depth, ']') + ",";
    };
    CHECK(read_with(nested(31)) == read_with(""));
    CHECK(refusal("{" + nested(32) + "}").what == "objects and arrays must not be nested this deeply");
    CHECK(refusal("{\"x\":" + std::string(500'000, '[')).what == "objects and arrays must not be nested this deeply");

    auto const blanks = config_json_size_max - to_json({.name = "a", .cron = "c"}).size();
    CHECK(read(to_json({.name = "a", .cron = "c"}) + std::string(blanks, ' ')).name == "a");
    CHECK(refusal(to_json({.name = "a", .cron = "c"}) + std::string(blanks + 1, ' ')) == errc::malformed_data);
}

TEST_CASE("config.json_codec: a truncated text is malformed") {
    auto const json =
        to_json({.name = "a\xe5\x8c\x97\xf0\x9f\x98\x80\n", .cron = "0/5 * * * * ?", .description = "=\"\\"});
    for (std::size_t length = 1; length < json.size(); ++length) {
        CAPTURE(length);
        // A copy of exactly this length, so that the address sanitizer finds a read beyond its end.
        CHECK(refusal(std::string{json, 0, length}) == errc::malformed_data);
    }
}

TEST_CASE("config.json_codec: any configuration comes back in its canonical form") {
    std::mt19937 random{20170601};
    auto const below = [&](unsigned bound) { return random() % bound; };
    auto const draw = [&](auto& value) {
        if constexpr (requires { value.push_back('x'); }) {
            constexpr std::string_view characters[] = {"a",
                                                       "Z",
                                                       "=",
                                                       "'",
                                                       "\"",
                                                       "\\",
                                                       "<",
                                                       "\n",
                                                       "/",
                                                       "\t",
                                                       "\xc3\xa9",
                                                       "\xe2\x80\xa8",
                                                       "\xe2\x80\xa9",
                                                       "\x01",
                                                       "{",
                                                       "}",
                                                       "\0"sv,
                                                       "\xe5\x8c\x97",
                                                       "\xf0\x9f\x98\x80",
                                                       "\x7f",
                                                       ","};
            value = "x";
            for (auto length = below(20); length > 0; --length) value += characters[below(std::size(characters))];
        } else if constexpr (std::is_same_v<decltype(value), bool&>) {
            value = below(2) == 1;
        } else if constexpr (std::is_same_v<decltype(value), int&>) {
            value = static_cast<int>(random()) >> below(31);
        } else {
            value = static_cast<job_type>(below(3));
        }
    };
    for (int round = 0; round < 2000; ++round) {
        job_config config;
        for_each_config_field([&](auto const& field) { draw(config.*field.member); });
        config.sharding_total_count = 1 + static_cast<int>(below(1000));
        auto const json = to_json(config);
        CAPTURE(round);
        CAPTURE(json);
        CHECK(read(json) == canonical(config));
        CHECK(to_json(read(json)) == json);
    }
}

TEST_CASE("config.json_codec: a damaged text is read or refused, and a text that was read is written the same again") {
    std::mt19937 random{42};
    auto const whole =
        to_json({.name = "a", .cron = "0/5 * * * * ?", .sharding_item_parameters = "0=A", .job_parameter = "p"});
    constexpr auto damage = "\"\\{}[]:,0-.eEtfnu/* \x01\xff\xe2x"sv;
    int refused = 0;
    for (int round = 0; round < 20'000; ++round) {
        auto json = whole;
        for (auto hits = 1 + random() % 3; hits > 0; --hits) {
            auto const at = random() % json.size();
            if (random() % 3 == 0)
                json.erase(at, 1 + random() % 8);
            else
                json[at] = damage[random() % damage.size()];
        }
        if (auto const config = from_json(json); config && *config)
            CHECK(read(to_json(**config)) == **config);
        else
            ++refused;
    }
    CHECK(refused > 1000);
    CHECK(refused < 20'000);
}

TEST_CASE("config.json_codec: JSON with some fields changes only those") {
    job_config base{.name = "settle", .cron = "0 0 9 * * ?", .sharding_total_count = 3, .failover = true};
    base.description = "daily";
    base.job_exception_handler = "a.Handler";
    auto const with = [&](std::string_view json) { return with_json(base, json); };
    auto expected = canonical(base);
    CHECK(with("{}").value() == expected);
    expected.cron = "0 0 8 * * ?";
    expected.sharding_total_count = 4;
    CHECK(with(R"({"cron":"0 0 8 * * ?","shardingTotalCount":"4","unknown":1})").value() == expected);
    expected = canonical(base);
    expected.job_exception_handler = default_job_exception_handler; // a nested object is replaced as a whole
    CHECK(with(R"({"jobProperties":{}})").value() == expected);
    CHECK(with(R"({"cron":""})").error() == errc::invalid_config);
    CHECK(with(R"({"misfire":1})").error() == errc::malformed_data);
    CHECK(with("").error() == errc::malformed_data);
    base.name.clear();
    CHECK(with("{}").error().where == "jobName");
}
