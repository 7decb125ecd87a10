// SPDX-License-Identifier: Apache-2.0
// Errors of a job are reported before anything is written, and edits of the stored configuration take effect.
#include <elasticjob/config/json_codec.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <limits>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// Every path, with data and version.
std::vector<std::string> everything(cluster const& c) {
    std::vector<std::string> lines;
    c.server.tree().for_each([&](std::string const& p, node const& n) {
        lines.push_back(p + " " + n.data + " v" + std::to_string(n.stat.version));
    });
    return lines;
}

/// The error of a job that must not start and must leave no trace.
error refused(cluster& c, member& m, job_config const& job) {
    auto const before = everything(c);
    auto const outcome = m.schedule(job);
    c.run_for(1s);
    CHECK(everything(c) == before);
    REQUIRE_FALSE(outcome);
    return outcome.error();
}

job_config stored(cluster const& c) { return from_json(c.data("/settle/config")).value().value(); }

void edit(cluster& c, job_config const& to) {
    c.set("/settle/config", to_json(to));
    c.run_for(1s);
}

} // namespace

TEST_CASE("scheduler.job_scheduler: a wrong configuration is a named error and leaves nothing behind") {
    cluster c;
    auto& m = c.add();
    CHECK(refused(c, m, make_job("a/b", never, 1)) == errc::invalid_argument);
    CHECK(refused(c, m, make_job("", never, 1)) == errc::invalid_argument);
    CHECK(refused(c, m, make_job("settle", "every day", 1)) == errc::invalid_cron);
    CHECK(refused(c, m, make_job("settle", "0 0 0 30 2 ?", 1)) == errc::cron_never_fires);
    CHECK(refused(c, m, make_job("settle", never, 0)) == errc::invalid_config);
    auto bad = make_job("settle", never, 1);
    bad.sharding_item_parameters = "0:a";
    CHECK(refused(c, m, bad) == errc::invalid_config);
    bad = make_job("settle", never, 1);
    bad.job_sharding_strategy_class = "com.example.Unknown";
    auto const unknown = refused(c, m, bad);
    CHECK(unknown == errc::unknown_strategy);
    CHECK(unknown.what.find("com.example.Unknown") != std::string::npos);

    bad = make_job("a/b", "every day", 0);
    auto const several = refused(c, m, bad);
    CHECK(several == errc::invalid_config);
    for (auto const* field : {"jobName", "cron", "shardingTotalCount"})
        CHECK(several.what.find(field) != std::string::npos);

    bad = make_job("settle", "every day", 1);
    bad.time_zone = "Atlantis";
    bad.job_sharding_strategy_class = "com.example.Unknown";
    bad.item_labels = "0=gpu";
    auto const here_too = refused(c, m, bad);
    CHECK(here_too.what.starts_with("4 problems: "));
    for (auto const* word : {"cron", "time_zone", "Atlantis", "com.example.Unknown", "itemLabels"})
        CHECK(here_too.what.find(word) != std::string::npos);
}

TEST_CASE(
    "scheduler.job_scheduler: failover without monitor_execution is reported, at the start and when it is changed") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", never, 1);
    job.failover = true;
    REQUIRE(m.schedule(job));
    c.run_for(1s);
    auto const told = [&] {
        return std::count_if(c.log.begin(), c.log.end(), [](heard const& h) {
            return h.what == heard::kind::trouble && h.failure->where == "failover";
        });
    };
    CHECK(told() == 0);
    job.monitor_execution = false;
    edit(c, job);
    CHECK(told() == 1);
    job.description = "still";
    edit(c, job);
    CHECK(told() == 2);
    job.failover = false;
    edit(c, job);
    CHECK(told() == 2);
}

TEST_CASE("scheduler.job_scheduler: items that need labels are refused where the strategy looks at none") {
    cluster c;
    auto job = make_job("settle", never, 2);
    job.item_labels = "0=gpu";
    auto const e = refused(c, c.add(), job);
    CHECK(e == errc::invalid_config);
    CHECK(e.where == "itemLabels");
    CHECK(e.what.find("LabelAllocation") != std::string::npos);
}

TEST_CASE("scheduler.job_scheduler: a server address that Java could not read is refused") {
    cluster c;
    CHECK(refused(c, c.add("localhost"), make_job("settle", never, 1)) == errc::invalid_argument);
}

TEST_CASE("scheduler.job_scheduler: a time-out that is negative or above a year is refused") {
    for (auto const span : {-1ms, 0ms, 365 * 24h + 0ms, std::chrono::milliseconds::max()}) {
        bool const is_right = span >= 0ms && span <= 365 * 24h;
        cluster c;
        c.drain_timeout = span;
        auto& m = c.add();
        auto const job = make_job("settle", never, 1);
        if (is_right)
            CHECK(m.schedule(job));
        else
            CHECK(refused(c, m, job) == error{errc::invalid_argument, "drain_timeout must be from 0 to 365 days",
                                              std::to_string(span.count()) + " ms"});
    }
}

TEST_CASE("scheduler.job_leader: an interval of checks that is longer than any calendar does not end at once") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", never, 2);
    job.reconcile_interval_minutes = std::numeric_limits<int>::max();
    REQUIRE(m.schedule(job));
    c.run_for(1min);
    auto const before = c.server.counts().all();
    c.run_for(24h);
    CHECK(c.server.counts().all() == before);
}

TEST_CASE("scheduler.job_scheduler: a `start_ahead` that is negative or above a second is refused") {
    for (auto const span : {-1ms, 0ms, 1000ms, 1001ms}) {
        bool const is_right = span >= 0ms && span <= 1s;
        cluster c;
        c.start_ahead = span;
        auto& m = c.add();
        auto const job = make_job("settle", never, 1);
        if (is_right) {
            CHECK(m.schedule(job));
        } else {
            CHECK(refused(c, m, job) == error{errc::invalid_argument, "start_ahead must be from 0 to 1000 ms",
                                              std::to_string(span.count()) + " ms"});
        }
    }
}

TEST_CASE(
    "scheduler.job_scheduler: after the time-out the error names a registry that does not answer, and nothing stays") {
    memory_server_options o;
    o.session_timeout = 1h;
    cluster c{o};
    auto& m = c.add();
    post(c.loop, [&] { m.registry.disconnect(); });
    c.run_for(0s);
    auto const begin = c.loop.now();
    auto const e = refused(c, m, make_job("settle", never, 1));
    CHECK(e == errc::unreachable);
    CHECK(c.loop.now() - begin < 30s);
    // The same scheduler can have the job when the registry is back.
    post(c.loop, [&] { m.registry.reconnect(); });
    c.run_for(1s);
    CHECK(m.schedule(make_job("settle", never, 1)));
}

TEST_CASE("scheduler.job_scheduler: a start that fails after registering does not leave a ghost") {
    // The connection breaks after the given number of turns of the loop. It returns with the same session at the end.
    for (int turns = 1; turns < 40; ++turns) {
        memory_server_options o;
        o.session_timeout = 1h;
        cluster c{o};
        auto& m = c.add();
        INFO("after " << turns << " turns");
        struct breaker : work {
            breaker(cluster& w, member& who, int n) : work{&act_on}, c{w}, m{who}, left{n} {}
            static void act_on(work& w, work_action a) {
                auto& self = static_cast<breaker&>(w);
                if (a != work_action::run) return;
                if (self.left-- == 0)
                    self.m.registry.disconnect();
                else
                    self.c.loop.post(self);
            }
            cluster& c;
            member& m;
            int left;
        } b{c, m, turns};
        c.loop.post(b);
        auto const outcome = m.schedule(make_job("settle", never, 1));
        post(c.loop, [&] { m.registry.reconnect(); });
        c.run_for(10s);
        if (outcome) {
            CHECK(c.has("/settle/instances/" + m.id("settle")));
        } else {
            CHECK(outcome.error() == errc::unreachable);
            if (auto const* instances = c.find("/settle/instances")) CHECK(instances->stat.children == 0);
            CHECK_FALSE(c.has("/settle/leader/election/instance"));
        }
    }
}

TEST_CASE("scheduler.job_scheduler: an unusable stored configuration is reported with its path") {
    cluster c;
    auto& m = c.add();
    c.create("/settle");
    c.create("/settle/config", "{broken");
    auto const e = refused(c, m, make_job("settle", never, 1));
    CHECK(e == errc::malformed_data);
    CHECK(e.where.find("/settle/config") != std::string::npos);

    auto theirs = make_job("settle", never, 1);
    theirs.job_sharding_strategy_class = "com.example.Unknown";
    c.set("/settle/config", to_json(theirs));
    CHECK(refused(c, m, make_job("settle", never, 1)) == errc::unknown_strategy);
}

TEST_CASE("scheduler.job_scheduler: two programs cannot share a name, nor one scheduler run a job twice") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    CHECK(refused(c, m, make_job("settle", never, 1)) == errc::job_conflict);
    auto other = make_job("settle", never, 1);
    other.job_class = "com.example.Other";
    auto const e = refused(c, c.add(), other);
    CHECK(e == errc::job_conflict);
    CHECK(e.what.find("com.example.Other") != std::string::npos);
}

TEST_CASE("scheduler.job_scheduler: without overwrite the stored configuration counts and differences are reported; "
          "with it, it is replaced") {
    cluster c;
    REQUIRE(c.add().schedule(make_job("settle", never, 2)));
    auto& second = c.add();
    REQUIRE(second.schedule(make_job("settle", never, 5)));
    c.run_for(1s);
    CHECK(stored(c).sharding_total_count == 2);
    bool told = false;
    for (auto const& h : c.log)
        if (h.member == 1 && h.what == heard::kind::joined)
            told = h.text.find("shardingTotalCount is 2, not 5") != std::string::npos;
    CHECK(told);

    auto mine = make_job("settle", never, 5);
    mine.overwrite = true;
    auto& third = c.add();
    REQUIRE(third.schedule(mine));
    c.run_for(1s);
    CHECK(stored(c).sharding_total_count == 5);
    CHECK(c.find("/settle/sharding")->stat.children == 5);
}

TEST_CASE("scheduler.job: a job that starts out disabled is registered, but owns and leads nothing until it is enabled "
          "(D-36)") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", "0/5 * * * * ?", 2);
    job.disabled = true;
    REQUIRE(m.schedule(job));
    c.run_for(20s);
    CHECK(c.data("/settle/servers/10.0.0.1") == "DISABLED");
    CHECK(c.has("/settle/instances/" + m.id("settle")));
    CHECK_FALSE(c.has("/settle/leader/election/instance"));
    CHECK(c.count(heard::kind::leads) == 0);
    CHECK(c.started().empty());
    REQUIRE(m.enable("settle"));
    c.run_for(6s);
    CHECK(c.data("/settle/leader/election/instance") == m.id("settle"));
    CHECK(c.started() == std::vector<item_index>{0, 1});
}

TEST_CASE("scheduler.job: a server that an operator has disabled stays disabled over a restart (D-22)") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    REQUIRE(m.disable("settle"));
    REQUIRE(m.shutdown("settle"));
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    CHECK(c.data("/settle/servers/10.0.0.1") == "DISABLED");
}

TEST_CASE("scheduler.job: an edit of the configuration takes effect") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    std::vector<std::string> given;
    for (auto* m : {&one, &two})
        m->body = [&](sharding_context const& ctx) -> result<void> {
            given.push_back(ctx.parameter + "/" + ctx.job_parameter + "/" + std::to_string(ctx.sharding_total_count));
            return success();
        };
    auto job = make_job("settle", never, 2);
    REQUIRE(one.schedule(job));
    REQUIRE(two.schedule(job));
    c.run_for(1s);

    INFO("the schedule");
    job.cron = "0/10 * * * * ?";
    edit(c, job);
    c.run_for(10s);
    CHECK(c.started() == std::vector<item_index>{0, 1});

    INFO("more items");
    job.sharding_total_count = 5;
    edit(c, job);
    CHECK(c.find("/settle/sharding")->stat.children == 5);
    c.log.clear();
    c.run_for(10s);
    CHECK(c.started() == std::vector<item_index>{0, 1, 2, 3, 4});

    INFO("fewer");
    job.sharding_total_count = 3;
    edit(c, job);
    CHECK(c.find("/settle/sharding")->stat.children == 3);
    c.log.clear();
    c.run_for(10s);
    CHECK(c.started() == std::vector<item_index>{0, 1, 2});

    INFO("parameters");
    job.sharding_item_parameters = "0=a,1=b,2=c";
    job.job_parameter = "p";
    edit(c, job);
    given.clear();
    c.run_for(10s);
    std::sort(given.begin(), given.end());
    CHECK(given == std::vector<std::string>{"a/p/3", "b/p/3", "c/p/3"});
}

TEST_CASE("scheduler.job: an unusable edit changes nothing and is reported (D-27)") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/10 * * * * ?", 2)));
    c.run_for(11s);
    auto job = make_job("settle", "0/10 * * * * ?", 2);
    auto unaffected = [&](errc expected) {
        c.run_for(1s);
        REQUIRE(c.last_trouble());
        CHECK(*c.last_trouble() == expected);
        c.log.clear();
        c.run_for(10s);
        CHECK(c.started() == std::vector<item_index>{0, 1});
        CHECK(c.find("/settle/sharding")->stat.children == 2);
    };
    c.set("/settle/config", "{broken");
    unaffected(errc::malformed_data);
    job.cron = "0 0 0 30 2 ?";
    c.set("/settle/config", to_json(job));
    unaffected(errc::cron_never_fires);
    job = make_job("settle", "0/10 * * * * ?", 0);
    c.set("/settle/config", to_json(job));
    unaffected(errc::invalid_config);
    job = make_job("settle", "0/10 * * * * ?", 7);
    job.job_sharding_strategy_class = "com.example.Unknown";
    c.set("/settle/config", to_json(job));
    unaffected(errc::unknown_strategy);
    c.set("/settle/config", "");
    c.log.clear();
    c.run_for(10s);
    CHECK(c.started() == std::vector<item_index>{0, 1});
}

TEST_CASE("scheduler.job: an edit at any moment of the start is not lost") {
    for (int turns = 0; turns < 60; ++turns) {
        cluster c;
        auto& one = c.add();
        REQUIRE(one.schedule(make_job("settle", never, 2)));
        c.run_for(1s);
        auto& two = c.add();
        struct editor : work {
            editor(cluster& w, int n) : work{&act_on}, c{w}, left{n} {}
            static void act_on(work& w, work_action a) {
                auto& self = static_cast<editor&>(w);
                if (a != work_action::run) return;
                if (self.left-- == 0)
                    self.edits.spawn(edit(self.c));
                else
                    self.c.loop.post(self);
            }
            static task<void> edit(cluster& c) {
                auto const path = cluster::parsed("/settle/config");
                auto text = to_json(make_job("settle", "0/10 * * * * ?", 2));
                (void)co_await c.by_hand.set(path, std::move(text));
            }
            cluster& c;
            int left;
            task_scope edits;
        } e{c, turns};
        c.loop.post(e);
        REQUIRE(two.schedule(make_job("settle", never, 2)));
        c.run_for(15s);
        INFO("after " << turns << " turns");
        CHECK(c.started(0) == std::vector<item_index>{1});
        CHECK(c.started(1) == std::vector<item_index>{0});
    }
}

TEST_CASE(
    "scheduler.job_scheduler: more items than an instance accepts from the registry are refused, and the job goes on") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 3)));
    c.run_for(7s);
    auto const count_runs = [&] {
        return std::count_if(c.log.begin(), c.log.end(), [](auto const& h) { return h.what == heard::kind::finished; });
    };
    auto const before = count_runs();
    CHECK(before >= 3);
    auto huge = stored(c);
    huge.sharding_total_count = 10'000'000;
    edit(c, huge);
    auto const nodes = everything(c).size();
    c.run_for(10s);
    CHECK(everything(c).size() < nodes + 10); // no node is created for the refused items
    CHECK(count_runs() >= before + 6);
    auto const is_it = [](heard const& h) {
        return h.what == heard::kind::trouble && *h.failure == errc::invalid_config &&
               h.failure->what.find("10000000 items") != std::string::npos &&
               h.failure->what.find("items_max") != std::string::npos;
    };
    CHECK(std::count_if(c.log.begin(), c.log.end(), is_it) == 1);
    // A corrected configuration counts again.
    huge.sharding_total_count = 5;
    edit(c, huge);
    c.run_for(10s);
    CHECK(c.has("/settle/sharding/4"));
    // Too many item parameters are refused too, before any of them is read, because other jobs wait meanwhile.
    huge.sharding_item_parameters = "no parameter" + std::string(1'001, ',') + "none";
    edit(c, huge);
    c.run_for(10s);
    auto const& told = c.log;
    CHECK(std::count_if(told.begin(), told.end(), [](heard const& h) {
              return h.what == heard::kind::trouble &&
                     h.failure->what.find("1002 item parameters") != std::string::npos;
          }) == 1);
    huge.sharding_item_parameters.clear();
    // A program's own job may have them.
    auto own = make_job("own", "0/5 * * * * ?", 1);
    for (int item = 0; item < 1'500; ++item) own.sharding_item_parameters += std::to_string(item) + "=x,";
    REQUIRE(m.schedule(own));
    c.run_for(1s);
    own.description = "edited";
    c.set("/own/config", to_json(own));
    c.run_for(1s);
    CHECK(std::none_of(told.begin(), told.end(), [](heard const& h) {
        return h.what == heard::kind::trouble && h.failure->what.find("1500 item parameters") != std::string::npos;
    }));
    // A member that joins gets the error at once. A member whose own program says so may have as many.
    huge.sharding_total_count = 200'000;
    edit(c, huge);
    auto& other = c.add();
    auto const refused_too = other.schedule(make_job("settle", "0/5 * * * * ?", 3));
    REQUIRE_FALSE(refused_too);
    CHECK(refused_too.error() == errc::invalid_config);
}
