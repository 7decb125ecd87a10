// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/console/job_index.hpp>
#include <elasticjob/core/start_on.hpp>
#include <elasticjob/cron/time_zone.hpp>

#include <support/cluster.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// One job without members.
struct index_world {
    index_world() {
        c.create("/settle");
        c.create("/settle/config", config("first"));
    }
    static std::string config(std::string description) {
        auto job = make_job("settle", never, 1);
        job.description = std::move(description);
        return to_json(job);
    }
    std::string shown() {
        auto const rows = index.rows();
        REQUIRE_MESSAGE(rows, (rows ? "" : to_string(rows.error())));
        REQUIRE(rows->size() == 1);
        return rows->front()->overview.description;
    }

    cluster c;
    std::function<void(registry_request const&)> after_request = [](registry_request const&) {};
    UtcZone utc{};
    detail::change_log log{"x"};
    measured<basic_memory_registry<virtual_loop>> observed{c.by_hand,
                                                           [this](registry_request const& r) { after_request(r); }};
    detail::job_index<decltype(observed)> index{observed, utc, log};
};

} // namespace

TEST_CASE("console.job_index: a change during a read causes another read") {
    for (int number = 1; number < 30; ++number) {
        INFO(number);
        index_world w;
        CHECK(w.shown() == "first");
        w.c.set("/settle/config", w.config("second"));
        int count = 0;
        w.after_request = [&](registry_request const&) {
            if (++count != number) return;
            start_on(w.c.loop, w.c.by_hand.set(*node_path::parse("/settle/config"), w.config("third")),
                     [](result<node_stat> const& done) { CHECK(done); });
        };
        w.c.run_for(1s);
        CHECK(w.shown() == (count < number ? "second" : "third"));
        w.after_request = [](registry_request const&) {};
        w.c.set("/settle/config", w.config("last"));
        w.c.run_for(1s);
        CHECK(w.shown() == "last");
    }
}

TEST_CASE("console.job_index: an absent registry is reported, and read again when it is back") {
    index_world w;
    CHECK(w.shown() == "first");
    auto reader = w.log.last();
    auto const is_told_to_read_again = [&] {
        auto const news = w.log.after(std::exchange(reader, w.log.last()));
        return news.is_reset;
    };
    CHECK_FALSE(is_told_to_read_again());
    for (auto const outage : {1s, 15s}) { // the session lives, or it is over
        INFO(outage.count());
        post(w.c.loop, [&w] { w.c.by_hand.disconnect(); });
        w.c.run_for(outage);
        CHECK(is_told_to_read_again());
        CHECK_FALSE(w.index.rows());
        post(w.c.loop, [&w] { w.c.by_hand.reconnect(); });
        w.c.run_for(5s);
        CHECK(is_told_to_read_again());
        CHECK(w.shown() == "first");
    }
    w.c.set("/settle/config", w.config("second"));
    w.c.run_for(1s);
    CHECK(w.shown() == "second");
}
