// SPDX-License-Identifier: Apache-2.0
// Answers of a hostile server: none ends the process, fills its memory or holds a run longer than its time-out.
#include <elasticjob/execution/http_client.hpp>

#include <support/loopback.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stop_token>
#include <string>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

std::string const ok = "HTTP/1.1 200 OK\r\n";
std::string const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";

result<http_answer> ask(odd_server const& server, http_options options = {}) {
    auto const request = http_request::make(server.url(), std::move(options)).value();
    return detail::send_http(request, {}, {}, std::stop_token{});
}

/// The outcome of a GET that is answered with this text, after which the server hangs up.
result<http_answer> answer_to(std::string const& text, http_options options = {}) {
    options.method = "GET";
    odd_server const server{[&](peer const& p) {
        p.read_header();
        p.write(text);
    }};
    return ask(server, std::move(options));
}

bool holds(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("execution.http_client: a status line of any length is refused, and ends no process") {
    for (std::size_t const length : {5'000u, 30'000u, 300'000u}) {
        auto const outcome = answer_to("HTTP/1.1 200 " + std::string(length, 'a') + "\r\nContent-Length: 2\r\n\r\nok");
        if (length == 5'000u) {
            REQUIRE(outcome);
            CHECK(outcome->body == "ok");
        } else {
            REQUIRE_FALSE(outcome);
            CHECK(outcome.error() == errc::too_large);
            CHECK(outcome.error().what == "the head of the answer is longer than 16384 bytes (http_options::head_max)");
            CHECK(outcome.error().where.starts_with("127.0.0.1:"));
        }
    }
}

TEST_CASE("execution.http_client: an endless answer is dropped at a limit, not at the time-out") {
    std::string begin = ok, part;
    std::string what = "the head of the answer is longer than 16384 bytes";
    SUBCASE("a status line") {
        begin = "HTTP/1.1 200 ";
        part = "a";
    }
    SUBCASE("a version") {
        begin = "";
        part = "H";
        what = "not as HTTP/1.1 has it";
    }
    SUBCASE("headers") { part = "X-Y: z\r\n"; }
    SUBCASE("one header") {
        begin += "X: ";
        part = "a";
    }
    SUBCASE("the name of a header") { part = "a"; }
    SUBCASE("a header over many lines") {
        begin += "X: a\r\n";
        part = " b\r\n";
        what = ""; // either the head is too long, or the value
    }
    SUBCASE("a chunk's length") {
        begin = chunked;
        part = "0";
        what = "a line between the chunks of the answer";
    }
    SUBCASE("a chunk's extension") {
        begin = chunked + "1;";
        part = "x";
        what = "a line between the chunks of the answer";
    }
    SUBCASE("trailers") {
        begin = chunked + "0\r\n";
        part = "X-T: y\r\n";
        what = "a line between the chunks of the answer";
    }
    SUBCASE("answers that only announce another") {
        begin = "";
        part = "HTTP/1.1 100 Continue\r\n\r\n";
        what = "more than 8 answers 1xx";
    }
    bool is_left = false;
    {
        odd_server const server{[&](peer const& p) {
            p.read_header();
            std::string block;
            while (block.size() < 65'536) block += part;
            p.write(begin);
            for (int n = 0; n < 100'000 && !is_left; ++n) is_left = !p.write(block); // 6.5 GB, were it all to be taken
        }};
        auto const outcome = ask(server, {.method = "GET", .timeout = 20s});
        REQUIRE_FALSE(outcome);
        CAPTURE(to_string(outcome.error()));
        CHECK(outcome.error() != errc::timed_out);
        CHECK(holds(outcome.error().what, what));
        CHECK(outcome.error().what.size() < 200);
    }
    CHECK(is_left);
}

TEST_CASE("execution.http_client: the limits of the head are options") {
    std::string head = ok + "Content-Length: 0\r\n";
    for (int n = 0; n < 99; ++n) head += "X: y\r\n";
    CHECK(answer_to(head + "\r\n"));
    auto const many = answer_to(head + "X: y\r\n\r\n");
    REQUIRE_FALSE(many);
    CHECK(many.error() == errc::too_large);
    CHECK(many.error().what == "the answer has 101 headers; at most 100 are taken (http_options::headers_max)");
    CHECK(answer_to(head + "X: y\r\n\r\n", {.headers_max = 101}));
    CHECK(answer_to(head + "\r\n", {.head_max = 256}).error() == errc::too_large);
    CHECK(answer_to(ok + "X: " + std::string(60'000, 'x') + "\r\nContent-Length: 0\r\n\r\n", {.head_max = 65'536}));
}

TEST_CASE("execution.http_client: an answer in chunks, with extensions and trailers, is put together") {
    auto const whole = answer_to(chunked + "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX-T: y\r\n\r\n");
    REQUIRE(whole);
    CHECK(whole->body == "abcde");
    CHECK_FALSE(whole->is_cut);
    auto const cut = answer_to(chunked + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", {.answer_max = 4});
    REQUIRE(cut);
    CHECK(cut->body == "abcd");
    CHECK(cut->is_cut);
    auto const none = answer_to(chunked + "ffffffffffffffff\r\nabc", {.answer_max = 2});
    REQUIRE(none);
    CHECK(none->body == "ab");
    auto const announced = answer_to("HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok");
    REQUIRE(announced);
    CHECK(announced->status == 200);
    CHECK(announced->body == "ok");
    auto const to_the_end = answer_to(ok + "\r\nall of it");
    REQUIRE(to_the_end);
    CHECK(to_the_end->body == "all of it");
}

TEST_CASE("execution.http_client: an answer that is not HTTP is a failure that says so") {
    for (std::string const& text :
         {std::string{"SSH-2.0-OpenSSH_9.2\r\n\r\n"}, ok + "Content-Length: 99999999999999999999\r\n\r\nabc",
          ok + "Content-Length: -1\r\n\r\nabc", ok + "no header\r\n\r\n", chunked + "xyz\r\nabc",
          chunked + "3\r\nabcdefghij", std::string{"HTTP/1.1 20 OK\r\n\r\n"}}) {
        auto const outcome = answer_to(text);
        CAPTURE(text);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error() == errc::job_failed);
        CHECK(holds(outcome.error().what, "the answer is not as HTTP/1.1 has it"));
    }
}

TEST_CASE("execution.http_client: an answer that comes before the whole request was read is not lost") {
    odd_server const server{[&](peer const& p) {
        p.read_header();
        p.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo long");
    }};
    auto const outcome = ask(server, {.body = std::string(8'000'000, 'b')});
    REQUIRE(!outcome);
    CHECK(outcome.error().what == "the server answered with status 413: 'too long'");

    odd_server const hasty{[&](peer const& p) {
        p.read_header();
        p.write(ok + "Content-Length: 4\r\n\r\ndone");
    }};
    odd_server const silent{[&](peer const& p) { p.read_header(); }};
    for (auto const* server_without_the_body : {&hasty, &silent}) {
        auto const lost = ask(*server_without_the_body, {.body = std::string(8'000'000, 'b')});
        REQUIRE(!lost);
        CHECK(lost.error() == errc::job_failed);
        CHECK(holds(lost.error().what, "the connection was lost before the answer was complete"));
    }

    odd_server const verbose{[&](peer const& p) {
        p.read_header();
        p.write("HTTP/1.1 413 " + std::string(1'000, 'x') + "\r\n\r\n");
    }};
    CHECK(ask(verbose, {.body = std::string(8'000'000, 'b'), .head_max = 256}).error() == errc::too_large);
}

TEST_CASE("execution.http_client: a request has each header that HTTP asks for once") {
    std::string heard;
    {
        odd_server const server{[&](peer const& p) {
            heard = p.read_header();
            p.write(ok + "Content-Length: 0\r\n\r\n");
        }};
        CHECK(ask(server, {.method = "PUT", .headers = {{"accept", "a/b"}, {"X-Key", "k"}, {"X-Key", "l"}}}));
        CHECK(heard == "PUT / HTTP/1.1\r\nConnection: close\r\nUser-Agent: elasticjob\r\naccept: a/b\r\n"
                       "X-Key: k\r\nX-Key: l\r\nHost: " +
                           server.url().substr(7, server.url().size() - 8) + "\r\nContent-Length: 0\r\n\r\n");
    }
}
