// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/webhook.hpp>

#include <support/loopback.hpp>
#include <support/web_server.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

failed_run some_run(item_index item = 3) {
    failed_run run;
    run.job = "settle";
    run.item = item;
    run.task_id = "t";
    run.parameter = "B";
    run.due = wall_time{1'767'225'600'025ms};
    run.source = run_source::failover;
    run.attempt = 2;
    run.token = 77;
    run.instance = instance_id::parse("10.0.0.1@-@7").value();
    run.failure = {errc::job_threw, "out of \"paper\"", "tray 2"};
    run.took = 1'250ms;
    return run;
}

http_request to(std::string const& url) { return http_request::make(url, {.timeout = 60s}).value(); }

/// A receiver that accepts messages or refuses them.
class receiver {
public:
    std::vector<std::pair<item_index, int>> heard() { ///< items, and how many were left out before
        std::lock_guard const lock{mutex_};
        return heard_;
    }
    /// Until it has heard of the item; false if it does not within a minute.
    bool hears_of(item_index item) {
        std::unique_lock lock{mutex_};
        return news_.wait_for(lock, 60s, [&] { return !heard_.empty() && heard_.back().first == item; });
    }
    void answer_with(int status) {
        std::lock_guard const lock{mutex_};
        status_ = status;
    }
    std::string url() const { return server_.url("/"); }

private:
    std::mutex mutex_;
    std::condition_variable news_;
    std::vector<std::pair<item_index, int>> heard_;
    int status_ = 200;
    web_server<> server_{[this](httplib::Server& s) {
        s.Post("/", [this](httplib::Request const& r, httplib::Response& a) {
            auto const number = [&](std::string const& name) {
                return std::atoi(r.body.c_str() + r.body.find(name) + name.size());
            };
            std::lock_guard const lock{mutex_};
            heard_.emplace_back(static_cast<item_index>(number("\"item\":")), number("\"leftOut\":"));
            a.status = status_;
            news_.notify_all();
        });
    }}; ///< last: it uses all of the above
};

using heard = std::vector<std::pair<item_index, int>>;

/// The account of `count` failures, items 0 and on, after the webhook has ended.
std::shared_ptr<queue_account const> after(http_request const& where, int count, webhook_options options = {}) {
    auto hook = Webhook<>::start(where, options).value();
    auto account = hook.account();
    auto moved = std::move(hook);
    for (int n = 0; n < count; ++n) moved(some_run(static_cast<item_index>(n)));
    return account;
}

} // namespace

TEST_CASE("execution.webhook: the message says it all") {
    CHECK(
        WebhookJson{}(some_run(), 0) ==
        R"x({"event":"run_failed","text":"settle[3] failed on 10.0.0.1@-@7: job_threw: out of \"paper\" (tray 2)",)x"
        R"x("job":"settle","item":3,"taskId":"t","parameter":"B","due":"2026-01-01T00:00:00.025Z","source":"failover",)x"
        R"x("attempt":2,"token":77,"instance":"10.0.0.1@-@7","tookMs":1250,"error":"job_threw",)x"
        R"x("what":"out of \"paper\"","where":"tray 2","leftOut":0})x");
    auto odd = some_run();
    odd.failure.what = std::string("\xff\0\n", 3) + std::string(5'000, 'x');
    auto const text = WebhookJson{}(odd, 7);
    CHECK(text.find("\"what\":\"\xef\xbf\xbd\xef\xbf\xbd\\n" + std::string(3'997, 'x') + "\"") != text.npos);
    CHECK(text.find("\"leftOut\":7}") != text.npos);
    odd.retry_at = odd.due + 1s;
    CHECK(WebhookJson{}(odd, 7).ends_with(R"("leftOut":7,"retryAt":"2026-01-01T00:00:01.025Z"})"));
}

TEST_CASE("execution.webhook: each failure is reported, in order") {
    receiver r;
    auto const account = after(to(r.url()), 3);
    CHECK(r.heard() == heard{{0, 0}, {1, 0}, {2, 0}});
    CHECK(account->done == 3);
    CHECK(account->failed == 0);
    CHECK(account->dropped == 0);
}

TEST_CASE("execution.webhook: no more messages than the rate, and the last one says how many were left out") {
    receiver r;
    SUBCASE("which its end tells") {
        auto const account = after(to(r.url()), 6, {.per_minute = 1, .at_once = 2});
        CHECK(r.heard() == heard{{0, 0}, {1, 0}, {5, 3}});
        CHECK(account->done == 3);
        CHECK(account->dropped == 3);
    }
    SUBCASE("or its turn, when it comes") {
        auto hook = Webhook<>::start(to(r.url()), {.per_minute = 6'000, .at_once = 1}).value();
        for (item_index n = 0; n < 50; ++n) hook(some_run(n));
        CHECK(r.hears_of(49));
        int told = 0;
        for (auto const& [item, left_out] : r.heard()) told += 1 + left_out;
        CHECK(told == 50);
        CHECK(r.heard().front() == std::pair{item_index{0}, 0});
    }
}

TEST_CASE("execution.webhook: a receiver that refuses a message learns in the next one how many it has missed") {
    receiver r;
    auto hook = Webhook<>::start(to(r.url())).value();
    r.answer_with(503);
    hook(some_run(1));
    hook(some_run(2));
    REQUIRE(r.hears_of(2));
    // The answer to that has been chosen; the next one is asked when it has been taken.
    r.answer_with(200);
    hook(some_run(3));
    REQUIRE(r.hears_of(3));
    hook(some_run(4));
    REQUIRE(r.hears_of(4));
    CHECK(r.heard() == heard{{1, 0}, {2, 1}, {3, 2}, {4, 0}});
    CHECK(hook.account()->failed == 2);
}

TEST_CASE("execution.webhook: a receiver that is down affects no run") {
    int port = 0;
    {
        auto const [closed, number] = listen_anywhere();
        port = number;
    }
    auto const account = after(to("http://127.0.0.1:" + std::to_string(port) + "/"), 3);
    CHECK(account->failed == 3);
    CHECK(account->done == 0);
}

TEST_CASE("execution.webhook: no run waits for a receiver that hangs, and no more messages wait for it than the queue "
          "holds") {
    std::binary_semaphore is_asked{0}, goes_on{0};
    odd_server const server{[&](peer const& p) {
        p.read_header();
        is_asked.release();
        goes_on.acquire();
        p.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        goes_on.release(); // the others are answered at once
    }};
    std::shared_ptr<queue_account const> account;
    {
        auto hook = Webhook<>::start(to(server.url()), {.depth_max = 2, .drain_timeout = 60s}).value();
        account = hook.account();
        hook(some_run());
        is_asked.acquire();
        for (int n = 0; n < 7; ++n) hook(some_run());
        CHECK(account->dropped == 5);
        goes_on.release();
        for (int n = 0; n < 2; ++n) is_asked.acquire();
    }
    CHECK(account->done == 3);
    CHECK(account->dropped == 5);
}

TEST_CASE("execution.webhook: its end does not wait for ever") {
    bool is_left = false;
    std::shared_ptr<queue_account const> account;
    {
        std::binary_semaphore is_asked{0};
        odd_server const server{[&](peer const& p) {
            p.read_header();
            is_asked.release();
            is_left = p.is_left(20'000);
        }};
        auto hook = Webhook<>::start(to(server.url()), {.drain_timeout = 20ms}).value();
        account = hook.account();
        for (int n = 0; n < 3; ++n) hook(some_run());
        is_asked.acquire();
    }
    CHECK(is_left);
    CHECK(account->failed == 1);
    CHECK(account->dropped == 2);
    CHECK(account->done == 0);
}

TEST_CASE("execution.webhook: messages that wait for their turn when there is no time left are counted as dropped") {
    struct {
        queue_account counts;
        queue_account& account() { return counts; }
        bool is_abandoned() const { return true; }
        std::stop_token abandoned() const { return {}; }
    } queue;
    auto const now = std::chrono::steady_clock::now();
    detail::token_bucket rate{1, 1h, now};
    CHECK(rate.take(now));
    detail::webhook_worker<WebhookJson> worker{to("http://127.0.0.1:1/"), {}, rate};
    detail::failure_ring batch{1};
    batch.push(some_run());
    worker.work(batch, queue);
    worker.finish(queue);
    CHECK(queue.counts.dropped == 1);
    CHECK(queue.counts.failed == 0);
}

TEST_CASE("execution.webhook: the message may have another form") {
    std::mutex mutex;
    std::vector<std::string> heard;
    web_server<> const server{[&](httplib::Server& s) {
        s.Put("/", [&](httplib::Request const& r, httplib::Response&) {
            std::lock_guard const lock{mutex};
            heard.push_back(std::to_string(r.get_header_value_count("Content-Type")) +
                            r.get_header_value("Content-Type") + " " + r.body);
        });
    }};
    auto const form = [](failed_run const& run, std::uint64_t left_out) -> std::string {
        if (run.item == 1) throw std::runtime_error{"no idea"};
        return run.job + " " + std::to_string(run.item) + " " + std::to_string(left_out);
    };
    auto const where =
        http_request::make(server.url("/"), {.method = "PUT", .headers = {{"content-type", "text/plain"}}}).value();
    std::shared_ptr<queue_account const> account;
    {
        auto hook = Webhook<decltype(form)>::start(where, {}, form).value();
        account = hook.account();
        for (item_index n = 0; n < 3; ++n) hook(some_run(n));
    }
    CHECK(heard == std::vector<std::string>{"1text/plain settle 0 0", "1text/plain settle 2 1"});
    CHECK(account->failed == 1);
}

TEST_CASE("execution.webhook: an unusable configuration is refused at the beginning") {
    auto const refused = [](http_options how, webhook_options options = {}) {
        auto const hook = Webhook<>::start(http_request::make("http://h/", std::move(how)).value(), options);
        return hook ? std::string{} : hook.error().where;
    };
    CHECK(refused({}).empty());
    CHECK(refused({.method = "GET"}) == "method");
    CHECK(refused({.body = "b"}) == "method");
    CHECK(refused({}, {.per_minute = 0}) == "per_minute");
    CHECK(refused({}, {.at_once = 6'001}) == "at_once");
}
