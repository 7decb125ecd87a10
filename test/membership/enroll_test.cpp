// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/membership/enroll.hpp>

#include <support/enroll_alone.hpp>
#include <support/job_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

result<void> anything(valid_config const&) { return success(); }
result<void> nothing(valid_config const&) { return error{errc::unknown_strategy, "not for us"}; }

job_config plain() {
    job_config c;
    c.name = "settle";
    c.cron = "0/5 * * * * ?";
    c.sharding_total_count = 3;
    return c;
}
instance_id id(std::string const& text = "10.0.0.1@-@42-a") { return instance_id::parse(text).value(); }

result<enrollment> join(job_world& w, session_type& r, std::optional<job_config> c,
                        result<void> (*accept)(valid_config const&) = &anything, instance_id self = id()) {
    std::optional<valid_config> local;
    if (c) local = validate(*std::move(c)).value();
    return w.wait_for(enroll_alone(r, w.at, {.self = std::move(self), .local = std::move(local)}, accept));
}

std::vector<std::string> tree(job_world const& w) {
    std::vector<std::string> lines;
    w.server.tree().for_each([&](std::string const& p, node const& n) {
        lines.push_back(p + (n.stat.owner ? " E " : " P ") + (p.ends_with("/config") ? "…" : n.data));
    });
    return lines;
}

task<void> store(task<result<enrollment>> what, std::optional<result<enrollment>>& into) {
    into.emplace(co_await std::move(what));
}

} // namespace

TEST_CASE("membership.enroll: the first member creates the nodes that Java members need, in one transaction") {
    job_world w;
    w.server.counts() = {};
    auto const joined = join(w, w.one, plain());
    REQUIRE(joined);
    CHECK(w.server.counts().writes == 1);
    CHECK(tree(w) == std::vector<std::string>{"/ P ", "/settle P ", "/settle/config P …", "/settle/ext P ",
                                              "/settle/ext/orders P ", "/settle/ext/run P ", "/settle/instances P ",
                                              "/settle/instances/10.0.0.1@-@42-a E ", "/settle/leader P ",
                                              "/settle/leader/election P ", "/settle/leader/election/latch P ",
                                              "/settle/leader/sharding P ", "/settle/leader/sharding/necessary P ",
                                              "/settle/servers P ", "/settle/servers/10.0.0.1 P "});
    CHECK(w.find(w.at.instance(id()))->stat.owner == w.one.session().id);
    CHECK(from_json(w.data(w.at.config())).value() == plain());
    CHECK(joined->decision.what == config_decision::action::write_local);
}

TEST_CASE("membership.enroll: only the transaction that creates the job gets the additional operations") {
    for (bool const is_new : {true, false}) {
        job_world w;
        if (!is_new) w.create(w.at.root());
        int calls = 0;
        auto const begin = [&](transaction& t, valid_config const& c) {
            ++calls;
            CHECK(c.config() == plain());
            t.create(w.at.leader_instance(), "founder", create_mode::ephemeral);
            return true;
        };
        enroll_request what{.self = id(), .local = validate(plain()).value(), .how = arrival::first};
        auto const joined = w.wait_for(enroll_alone(w.one, w.at, std::move(what), &anything, begin));
        REQUIRE(joined);
        CHECK(calls == 1); // if the job exists, the registry has refused that transaction
        CHECK((w.find(w.at.leader_instance()) != nullptr) == is_new);
        CHECK((w.find(w.at.sharding_necessary()) != nullptr) == !is_new);
    }
}

TEST_CASE("membership.enroll: jobs that are joined at the same moment share a request, and each is decided alone") {
    job_world w;
    std::vector<job_layout> jobs;
    for (auto const* name : {"settle", "report", "bill"}) jobs.emplace_back(job_name::parse(name).value());
    w.create(jobs[1].root()); // somebody has begun to create this one
    w.server.counts() = {};
    joint_commits<session_type> together{w.one};
    std::vector<std::optional<result<enrollment>>> joined(jobs.size());
    for (std::size_t n = 0; n < jobs.size(); ++n) {
        auto config = plain();
        config.name = jobs[n].root().name();
        enroll_request what{.self = id(), .local = validate(std::move(config)).value(), .how = arrival::first};
        w.background.spawn(store(enroll(together, jobs[n], std::move(what), &anything), joined[n]));
    }
    w.loop.run_for(1s);
    for (auto const& j : joined) CHECK((j && *j));
    CHECK(w.server.counts().writes == 4); // together; the other two alone; and that one, which has read again
    for (auto const& at : jobs) CHECK(w.has(at.instance(id())));
}

TEST_CASE("membership.enroll: a member of an existing job reads five nodes, and of a new job one") {
    job_world w;
    auto const reads_of = [&](session_type& r, instance_id self, std::string host = {}) {
        w.server.counts() = {};
        enroll_request what{.self = std::move(self),
                            .local = validate(plain()).value(),
                            .how = arrival::first,
                            .host = std::move(host)};
        REQUIRE(w.wait_for(enroll_alone(r, w.at, std::move(what), &anything)));
        CHECK(w.server.counts().writes == 1);
        return w.server.counts().reads;
    };
    CHECK(reads_of(w.one, id()) == 1); // the job is new, because there is no `ext`
    CHECK(reads_of(w.two, id("10.0.0.2@-@43-b")) == 4);
    w.create(w.at.hosts(), "");
    CHECK(reads_of(w.two, id("10.0.0.2@-@44-c"), "db-1.example") == 5);
    CHECK(w.data(w.at.host("10.0.0.2")) == "db-1.example");
}

TEST_CASE("membership.enroll: a job that is expected to be new costs no read, and one more request if it exists") {
    job_world w;
    auto const join_as = [&](session_type& r, instance_id self) {
        w.server.counts() = {};
        enroll_request what{
            .self = std::move(self), .local = validate(plain()).value(), .how = arrival::first, .expects_new = true};
        return w.wait_for(enroll_alone(r, w.at, std::move(what), &anything));
    };
    auto const founder = join_as(w.one, id());
    REQUIRE(founder);
    CHECK(founder->is_new_job);
    CHECK(w.server.counts().reads == 0);
    CHECK(w.server.counts().writes == 1);
    auto const joiner = join_as(w.two, id("10.0.0.2@-@43-b"));
    REQUIRE(joiner);
    CHECK_FALSE(joiner->is_new_job);
    CHECK(w.server.counts().reads == 4);
    CHECK(w.server.counts().writes == 2);
    w.create(w.at.removed());
    CHECK(join_as(w.two, id("10.0.0.3@-@44-c")).error() == errc::removed);
}

TEST_CASE("membership.enroll: a job is not refused for its own configuration before it is known that none is stored") {
    auto const refuse_local = [](valid_config const& c) -> result<void> {
        if (c.config().job_parameter == "mine") return error{errc::invalid_config, "it cannot run here"};
        return success();
    };
    for (bool const expects_new : {true, false})
        for (bool const has_ext : {true, false}) {
            job_world w;
            REQUIRE(join(w, w.one, plain()));
            if (!has_ext) { // as if Java members had created it
                for (auto const& path : {w.at.orders(), w.at.run_records(), w.at.ext()}) w.remove(path);
            }
            auto mine = plain();
            mine.job_parameter = "mine";
            enroll_request const what{.self = id("10.0.0.2@-@43-b"),
                                      .local = validate(mine).value(),
                                      .how = arrival::first,
                                      .expects_new = expects_new};
            CHECK(w.wait_for(enroll_alone(w.two, w.at, what, refuse_local)));
            job_world empty;
            CHECK(empty.wait_for(enroll_alone(empty.two, empty.at, what, refuse_local)).error() ==
                  errc::invalid_config);
            CHECK_FALSE(empty.has(empty.at.root()));
        }
}

TEST_CASE("membership.enroll: reads a Java members' job, which has no `ext`, as a whole, and keeps its configuration") {
    job_world w;
    auto stored = plain();
    stored.cron = "0 0 4 * * ?";
    w.create(w.at.config(), to_json(stored));
    w.create(w.at.server("10.0.0.1"), std::string{server_disabled});
    auto const joined = join(w, w.one, plain());
    REQUIRE(joined);
    CHECK(joined->config.config().cron == stored.cron);
    CHECK(joined->decision.what == config_decision::action::keep_stored);
    CHECK(w.data(w.at.server("10.0.0.1")) == server_disabled);
    CHECK(w.has(w.at.orders()));
}

TEST_CASE("membership.enroll: recreates base nodes that have been removed") {
    job_world w;
    REQUIRE(join(w, w.one, plain()));
    for (auto const& removed : {w.at.election_latch(), w.at.sharding_necessary(), w.at.orders()}) {
        INFO(removed.str());
        w.remove(removed);
        REQUIRE(join(w, w.two, plain(), &anything, id("10.0.0.2@-@" + std::to_string(removed.str().size()) + "-b")));
        CHECK(w.has(removed));
    }
}

TEST_CASE("membership.enroll: a refused enrollment leaves no nodes") {
    job_world w;
    CHECK(join(w, w.one, plain(), &nothing).error() == errc::unknown_strategy);
    CHECK_FALSE(w.has(w.at.root()));
    CHECK(join(w, w.one, std::nullopt).error() == errc::no_node);
    CHECK_FALSE(w.has(w.at.root()));

    w.create(w.at.config(), to_json(plain()));
    auto const before = tree(w);
    auto other = plain();
    other.job_class = "com.example.Other";
    CHECK(join(w, w.one, other).error() == errc::job_conflict);
    CHECK(tree(w) == before);
}

TEST_CASE("membership.enroll: an unusable stored configuration is reported with its path, and kept") {
    for (
        std::string const text :
        {"{", "not json", R"({"jobName":"settle"})",
         R"({"jobName":"settle","jobClass":"elasticjob.Job","jobType":"SIMPLE","cron":"0 0 0 30 2 ?","shardingTotalCount":1})",
         R"({"jobName":"settle","jobClass":"elasticjob.Job","jobType":"SIMPLE","cron":"every day","shardingTotalCount":1})"}) {
        INFO(text);
        job_world w;
        w.create(w.at.config(), text);
        auto const before = tree(w);
        auto const joined = join(w, w.one, plain());
        REQUIRE_FALSE(joined);
        CHECK(joined.error().where.find("/settle/config") != std::string::npos);
        CHECK(joined.error().what.find("overwrite") != std::string::npos);
        CHECK(tree(w) == before);
        CHECK(w.data(w.at.config()) == text);

        auto mine = plain();
        mine.overwrite = true;
        REQUIRE(join(w, w.one, mine));
        CHECK(from_json(w.data(w.at.config())).value() == mine);
    }
}

TEST_CASE("membership.enroll: an error names the node that causes it: the configuration's or the schedules'") {
    auto const where = [](job_config const& config, job_config const& schedules) {
        job_world w;
        w.create(w.at.config(), to_json(config));
        w.create(w.at.schedule(), to_schedule_text(schedules));
        auto const joined = join(w, w.one, std::nullopt);
        REQUIRE_FALSE(joined);
        return joined.error().where;
    };
    auto wrong_schedules = plain();
    wrong_schedules.schedules.push_back(job_schedule::by_cron("99 * * * * ?"));
    CHECK(where(plain(), wrong_schedules).starts_with("/settle/ext/schedule"));
    auto wrong_config = plain();
    wrong_config.sharding_total_count = 0;
    CHECK(where(wrong_config, plain()).starts_with("/settle/config"));
    CHECK(where(wrong_config, wrong_schedules).starts_with("/settle/config"));
}

TEST_CASE("membership.enroll: without overwrite the stored configuration applies, and the difference is reported") {
    job_world w;
    auto theirs = plain();
    theirs.sharding_total_count = 7;
    w.create(w.at.config(), to_json(theirs));
    auto const joined = join(w, w.one, plain());
    REQUIRE(joined);
    CHECK(joined->config.config() == theirs);
    CHECK(to_string(joined->decision) ==
          "the configuration in the registry counts, not the local one: shardingTotalCount is 7, not 3");
    CHECK(w.find(w.at.config())->stat.version == 0);
}

TEST_CASE("membership.enroll: an empty configuration node is no configuration") {
    job_world w;
    w.create(w.at.config(), "");
    REQUIRE(join(w, w.one, plain()));
    CHECK(from_json(w.data(w.at.config())).value() == plain());
}

TEST_CASE("membership.enroll: a server that an operator has disabled stays disabled (D-22), unless overwrite is set") {
    job_world w;
    w.create(w.at.server("10.0.0.1"), "DISABLED");
    REQUIRE(join(w, w.one, plain()));
    CHECK(w.data(w.at.server("10.0.0.1")) == "DISABLED");
    auto mine = plain();
    mine.overwrite = true;
    REQUIRE(join(w, w.one, mine));
    CHECK(w.data(w.at.server("10.0.0.1")) == "");
}

TEST_CASE("membership.enroll: a job that starts disabled has its server disabled") {
    job_world w;
    auto c = plain();
    c.disabled = true;
    REQUIRE(join(w, w.one, c));
    CHECK(w.data(w.at.server("10.0.0.1")) == "DISABLED");
}

TEST_CASE("membership.enroll: a node of our own session is kept, a node of another session is replaced (D-16)") {
    job_world w;
    REQUIRE(join(w, w.one, plain()));
    auto const created = w.find(w.at.instance(id()))->stat.created;
    REQUIRE(join(w, w.one, plain()));
    CHECK(w.find(w.at.instance(id()))->stat.created == created);
    auto const newcomer = join(w, w.two, plain()); // not the living instance
    REQUIRE(!newcomer);
    CHECK(newcomer.error() == errc::job_conflict);
    CHECK(w.find(w.at.instance(id()))->stat.owner == w.one.session().id);
    REQUIRE(join(w, w.two, std::nullopt)); // a former member comes back
    CHECK(w.find(w.at.instance(id()))->stat.owner == w.two.session().id);
}

TEST_CASE("membership.enroll: a member that comes back writes only its own node") {
    job_world w;
    REQUIRE(join(w, w.one, plain()));
    w.set(w.at.server("10.0.0.1"), "DISABLED");
    auto const server = *w.find(w.at.server("10.0.0.1"));
    post(w.loop, [&] { w.one.expire(); });
    w.loop.run_ready();
    REQUIRE(join(w, w.one, std::nullopt));
    CHECK(*w.find(w.at.server("10.0.0.1")) == server);
    CHECK(w.find(w.at.config())->stat.version == 0);
    CHECK(w.find(w.at.instance(id()))->stat.owner == w.one.session().id);
}

TEST_CASE("membership.enroll: whichever request or reply is lost, the member is registered once") {
    for (std::uint64_t n = 0; n < 14; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            job_world w;
            losing const network{w.server, losing::nth(w.one.session().id, n, fate)};
            auto const joined = join(w, w.one, plain());
            INFO("request " << n);
            REQUIRE(joined);
            CHECK(w.find(w.at.instance(id()))->stat.owner == w.one.session().id);
            CHECK(w.find(w.at.config())->stat.version == 0);
        }
}

TEST_CASE("membership.enroll: two members can register at the same time, and the first one's configuration counts") {
    job_world w;
    auto other = plain();
    other.job_parameter = "second";
    std::optional<result<enrollment>> first, second;
    auto both = [](job_world& world, job_config a, job_config b, auto& into_a, auto& into_b) -> task<result<void>> {
        auto local_a = validate(std::move(a)).value();
        auto local_b = validate(std::move(b)).value();
        std::vector<task<result<enrollment>>> joins;
        std::optional<valid_config> ours{local_a}, theirs{local_b};
        auto id_a = id("10.0.0.1@-@1-a"), id_b = id("10.0.0.2@-@2-b");
        joins.push_back(enroll_alone(world.one, world.at, {.self = id_a, .local = ours}, &anything));
        joins.push_back(enroll_alone(world.two, world.at, {.self = id_b, .local = theirs}, &anything));
        auto all = co_await gather(world.loop, std::move(joins));
        into_a.emplace(std::move(all[0]));
        into_b.emplace(std::move(all[1]));
        co_return success();
    };
    REQUIRE(w.wait_for(both(w, plain(), other, first, second)));
    REQUIRE(*first);
    REQUIRE(*second);
    CHECK((*second)->config.config() == plain());
    CHECK((*second)->decision.differences.size() == 1);
    CHECK(w.find(w.at.instances())->stat.children == 2);
}

TEST_CASE("membership.enroll: a job with a tombstone accepts no member, and nothing is created for it") {
    for (bool const has_config : {false, true}) { // if true, a Java member has written it again
        job_world w;
        w.create(w.at.removed());
        if (has_config) w.create(w.at.config(), to_json(plain()));
        auto const before = tree(w);
        auto insistent = plain();
        insistent.overwrite = true;
        for (auto const& local : {std::optional{plain()}, std::optional{insistent}, std::optional<job_config>{}}) {
            auto const joined = join(w, w.one, local);
            REQUIRE_FALSE(joined);
            CHECK(joined.error() == errc::removed);
            CHECK(joined.error().where == "/settle/ext/removed");
        }
        CHECK(tree(w) == before);
    }
}

TEST_CASE("membership.enroll: a member cannot join a job that is removed between its read and its write") {
    int refused = 0, joined = 0;
    for (int turns = 0; turns < 20; ++turns) {
        INFO("removed after " << turns << " turns");
        job_world w;
        w.create(w.at.ext());
        w.create(w.at.config(), to_json(plain()));
        std::optional<result<enrollment>> outcome;
        std::optional<result<node_path>> tombstone;
        auto remove_later = [&](int n) -> task<result<node_path>> {
            for (; n > 0; --n) co_await yield(w.loop);
            co_return co_await w.by_hand.create(w.at.removed(), {}, create_mode::persistent);
        };
        post(w.loop, [&] {
            w.background.spawn([](auto later, std::optional<result<node_path>>& into) -> task<void> {
                into.emplace(co_await std::move(later));
            }(remove_later(turns), tombstone));
            w.background.spawn([](auto coming, std::optional<result<enrollment>>& into) -> task<void> {
                into.emplace(co_await std::move(coming));
            }(enroll_alone(w.one, w.at, {.self = id(), .how = arrival::first}, &anything), outcome));
        });
        w.loop.run_for(1s);
        REQUIRE(tombstone);
        REQUIRE(outcome);
        auto const* instance = w.find(w.at.instance(id()));
        CHECK((instance != nullptr) == outcome->has_value());
        if (instance) CHECK(instance->stat.created < w.find(w.at.removed())->stat.created);
        ++(*outcome ? joined : refused);
    }
    CHECK(refused > 0);
    CHECK(joined > 0);
}

TEST_CASE("membership.enroll: the first member without a configuration uses the stored one, servers included") {
    for (bool const overwrites : {false, true}) {
        job_world w;
        auto stored = plain();
        stored.overwrite = overwrites;
        w.create(w.at.config(), to_json(stored));
        w.create(w.at.server("10.0.0.1"), "DISABLED");
        auto const first = [&](arrival how) {
            return w.wait_for(enroll_alone(w.one, w.at, {.self = id(), .how = how}, &anything));
        };
        REQUIRE(first(arrival::again));
        CHECK(w.data(w.at.server("10.0.0.1")) == "DISABLED");
        REQUIRE(first(arrival::first));
        CHECK(w.data(w.at.server("10.0.0.1")) == (overwrites ? "" : "DISABLED"));
        CHECK(w.find(w.at.config())->stat.version == 0);
        // Another session under the same name is distinct from our own.
        CHECK(w.wait_for(enroll_alone(w.two, w.at, {.self = id(), .how = arrival::first}, &anything)).error() ==
              errc::job_conflict);
    }
}

TEST_CASE("membership.enroll: writes the host name if it is new or different, in the same transaction") {
    job_world w;
    auto const join_as = [&](session_type& r, std::string host, instance_id self, arrival how = arrival::first) {
        w.server.counts() = {};
        enroll_request what{.self = std::move(self), .how = how, .host = std::move(host)};
        if (how == arrival::first) what.local = validate(plain()).value();
        REQUIRE(w.wait_for(enroll_alone(r, w.at, std::move(what), &anything)));
        // A member that returns under the same session finds its node only at the second read.
        CHECK(w.server.counts().writes == (how == arrival::first ? 1 : 2));
    };
    join_as(w.one, "db-1.example", id());
    CHECK(w.data(w.at.host("10.0.0.1")) == "db-1.example");
    auto const written = w.find(w.at.host("10.0.0.1"))->stat;
    CHECK(written.owner == 0);

    join_as(w.one, "db-1.example", id(), arrival::again);
    CHECK(w.find(w.at.host("10.0.0.1"))->stat.modified == written.modified);

    join_as(w.two, "db-2.example", id("10.0.0.1@-@43-b"));
    CHECK(w.data(w.at.host("10.0.0.1")) == "db-2.example");
    join_as(w.two, "db-3.example", id("10.0.0.2@-@44-c"));
    CHECK(w.data(w.at.host("10.0.0.1")) == "db-2.example");
    CHECK(w.data(w.at.host("10.0.0.2")) == "db-3.example");
}

TEST_CASE("membership.enroll: does not write an invalid host name, and it does not change the reads") {
    job_world w;
    auto const requests_with = [&](std::string host) {
        w.server.counts() = {};
        enroll_request what{.self = id(), .local = validate(plain()).value(), .host = std::move(host)};
        REQUIRE(w.wait_for(enroll_alone(w.one, w.at, std::move(what), &anything)));
        CHECK_FALSE(w.has(w.at.hosts()));
        return w.server.counts().reads;
    };
    (void)requests_with({});
    auto const without = requests_with({});
    std::vector<std::string> const names{std::string(256, 'a'), "two words", "\x1b[31m", "ü"};
    for (auto const& wrong : names) CHECK(requests_with(wrong) == without);
}
