// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/console/job_index.hpp>
#include <elasticjob/cron/time_zone.hpp>

#include <integration/zk_lab.hpp>
#include <support/full_run.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE("zk_console: many jobs are read once, cost no requests while idle, and report each change") {
    auto const jobs = amount_for_this_run({.full = 3'000, .usual = 600, .sanitized = 600});
    shared_zk_server server;
    auto r = connected(to(server));
    for (std::size_t n = 0; n < jobs; n += 50) {
        transaction t{r.session().generation};
        for (auto i = n; i < n + 50; ++i) {
            auto const name = "settle-of-branch-" + std::to_string(10'000 + i);
            job_layout const at{job_name::parse(name).value()};
            t.create(at.root(), {});
            t.create(at.config(), to_json({.name = name, .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 1}));
            for (auto const& path : {at.servers(), at.instances(), at.ext(), at.leader(), at.sharding_flags()})
                t.create(path, {});
        }
        REQUIRE(block_on(r.loop(), r.commit(std::move(t))).value());
    }
    std::atomic<int> requests{0};
    auto const count = [&](registry_request const&) { ++requests; };
    measured<ZkRegistry> counted{r, count};
    UtcZone const utc{};
    detail::change_log log{"x"};
    detail::job_index index{counted, utc, log};
    auto const rows = index.rows();
    REQUIRE_MESSAGE(rows, (rows ? "" : to_string(rows.error())));
    CHECK(rows->size() == jobs);
    CHECK(static_cast<std::size_t>(requests) <= 17 * jobs + 1);
    auto const first = requests.load();
    CHECK(index.rows()->size() == jobs);
    CHECK(requests == first);

    // All of them are watched: the session has room for it.
    auto const seen = log.last();
    struct listener : detail::log_listener {
        listener() : log_listener{&act_on} {}
        static void act_on(log_listener& self) noexcept {
            auto& l = static_cast<listener&>(self);
            if (!std::exchange(l.is_told, true)) l.told.set_value();
        }
        std::promise<void> told{};
        bool is_told = false;
    } heard;
    log.follow(&heard);
    auto other = connected(to(server));
    auto const name_of_last = "settle-of-branch-" + std::to_string(10'000 + jobs - 1);
    job_layout const last{job_name::parse(name_of_last).value()};
    auto const changed = to_json({.name = name_of_last, .cron = "0 0 12 * * ?", .sharding_total_count = 1});
    REQUIRE(block_on(other.loop(), other.set(last.config(), changed)));
    REQUIRE(heard.told.get_future().wait_for(20s) == std::future_status::ready);
    CHECK(log.after(seen).jobs == std::vector{name_of_last});
    CHECK(requests - first <= 20);
    CHECK(index.rows()->back()->overview.cron == "0 0 12 * * ?");
    log.follow(nullptr);
}
