// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/json_writer.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace elasticjob;
using namespace std::literals;

namespace {

std::string written(std::string_view text) { return json_writer{}.member("", text).finish(); }

} // namespace

TEST_CASE("config.json_writer: members are separated, objects are nested") {
    CHECK(json_writer{}.finish() == "{}");
    CHECK(json_writer{}.member("a", 1).member("b", true).member("c", "{").member("d", false).finish() ==
          R"({"a":1,"b":true,"c":"{","d":false})");
    CHECK(json_writer{}.open("a").close().open("b").member("c", -1).close().member("d", "").finish() ==
          R"({"a":{},"b":{"c":-1},"d":""})");
}

TEST_CASE("config.json_writer: lists of texts and of objects, and members that may be missing") {
    std::optional<int> const none, one{1};
    CHECK(json_writer{}.open_list("a").close().member("b", none).member("c", one).finish() == R"({"a":[],"c":1})");
    CHECK(json_writer{}
              .open_list("a")
              .element("x")
              .element("y")
              .open()
              .member("z", 1)
              .close()
              .open()
              .close()
              .close()
              .finish() == R"({"a":["x","y",{"z":1},{}]})");
}

TEST_CASE("config.json_writer: the argument of a script is as Java writes it") {
    CHECK(json_writer{}
              .member("jobName", "test_job")
              .member("taskId", "fake_task_id")
              .member("shardingTotalCount", 2)
              .member("jobParameter", "")
              .member("shardingItem", 1U)
              .member("shardingParameter", "B")
              .finish() == R"({"jobName":"test_job","taskId":"fake_task_id","shardingTotalCount":2,"jobParameter":"",)"
                           R"("shardingItem":1,"shardingParameter":"B"})");
}

TEST_CASE("config.json_writer: strings are escaped as Gson escapes them for HTML") {
    CHECK(written("0=A") == R"({"":"0\u003dA"})");
    CHECK(written("<>&='") == R"({"":"\u003c\u003e\u0026\u003d\u0027"})");
    CHECK(written("\"\\/") == R"({"":"\"\\/"})");
    CHECK(written("\t\n\r\b\f") == R"({"":"\t\n\r\b\f"})");
    CHECK(written("\0\x01\x1f\x7f"sv) == "{\"\":\"\\u0000\\u0001\\u001f\x7f\"}");
    CHECK(written("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa") ==
          "{\"\":\"\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa\"}");
    CHECK(written("\xe5\x8c\x97 \xf0\x9f\x98\x80") == "{\"\":\"\xe5\x8c\x97 \xf0\x9f\x98\x80\"}");
}

TEST_CASE("config.json_writer: a byte that belongs to no UTF-8 character is replaced") {
    auto const text = json_writer{}.member("a", std::string_view{"\xc3\xa9 \xff x\xc3"}).finish();
    CHECK(text == "{\"a\":\"\xc3\xa9 \xef\xbf\xbd x\xef\xbf\xbd\"}");
}
