// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/joint_commits.hpp>

#include <elasticjob/core/gather.hpp>

#include <support/job_world.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using replies = std::vector<result<commit_reply>>;

struct joint_world : job_world {
    using job_world::job_world;

    joint_commits<session_type> commits{one};

    session_generation now() { return one.session().generation; }

    /// A transaction that changes a node of its own.
    transaction write(std::string const& name, std::string data = "new", node_version version = any_version) {
        transaction t{now()};
        t.check(at.root()).set(at.root() / name, std::move(data), version);
        return t;
    }

    /// All in one turn of the loop.
    replies commit(std::vector<transaction> all) {
        auto const each = [&](transaction const& t) { return commits.commit(t); };
        auto run = [](job_world& w, auto tasks) -> task<result<replies>> {
            auto got = co_await gather(w.loop, std::move(tasks));
            co_return got;
        };
        std::vector<task<result<commit_reply>>> tasks;
        for (auto const& t : all) tasks.push_back(each(t));
        return wait_for(run(*this, std::move(tasks))).value();
    }
};

/// A session with a round trip of 2 ms.
struct slow_registry : session_type {
    using session_type::session_type;
    int requests = 0;

    task<result<commit_reply>> commit(transaction t) {
        ++requests;
        co_await sleep_until(loop(), loop().now() + 2ms);
        co_return co_await session_type::commit(std::move(t));
    }
};

} // namespace

TEST_CASE("registry.joint_commits: the transactions of one turn share a request and its revision") {
    joint_world w;
    for (auto const* name : {"a", "b", "c"}) w.create(w.at.root() / name, "old");
    w.server.counts() = {};
    auto const got = w.commit({w.write("a"), w.write("b"), w.write("c")});
    CHECK(w.server.counts().all() == 1);
    REQUIRE(got.size() == 3);
    for (auto const& r : got) {
        REQUIRE(r);
        REQUIRE(*r);
        CHECK(r->at == got[0]->at);
    }
    for (auto const* name : {"a", "b", "c"}) CHECK(w.data(w.at.root() / name) == "new");
    (void)w.commit({w.write("a", "newer")});
    CHECK(w.server.counts().all() == 2);
}

TEST_CASE("registry.joint_commits: only the transaction that the registry refuses is refused") {
    joint_world w;
    for (auto const* name : {"a", "b", "c"}) w.create(w.at.root() / name, "old");
    w.server.counts() = {};
    auto const got = w.commit({w.write("a"), w.write("b", "new", 7), w.write("absent"), w.write("c")});
    REQUIRE(got.size() == 4);
    for (auto const n : {0U, 3U}) {
        REQUIRE(got[n]);
        CHECK(*got[n]);
    }
    for (auto const n : {1U, 2U}) {
        REQUIRE(got[n]);
        REQUIRE(got[n]->refused);
        CHECK(got[n]->refused->operation == 1); // its index in this transaction
    }
    CHECK(got[1]->refused->why == errc::version_conflict);
    CHECK(got[2]->refused->why == errc::no_node);
    CHECK(w.data(w.at.root() / "a") == "new");
    CHECK(w.data(w.at.root() / "b") == "old");
    CHECK(w.data(w.at.root() / "c") == "new");
    CHECK(w.server.counts().all() == 4); // together; then all but the one that was refused, each alone
}

TEST_CASE("registry.joint_commits: a lost request and a lost reply are reported to all") {
    for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
        joint_world w;
        for (auto const* name : {"a", "b"}) w.create(w.at.root() / name, "old");
        losing const lost{w.server, losing::nth_write(w.one.session().id, 0, fate)};
        w.server.counts() = {};
        auto const got = w.commit({w.write("a"), w.write("b")});
        for (auto const& r : got) {
            REQUIRE_FALSE(r);
            CHECK(r.error() == errc::unknown_outcome);
        }
        auto const* const left = fate == request_fate::reply_lost ? "new" : "old";
        for (auto const* name : {"a", "b"}) CHECK(w.data(w.at.root() / name) == left);
        CHECK(w.server.counts().all() <= 1); // nothing is sent again
    }
}

TEST_CASE("registry.joint_commits: transactions of two sessions do not meet, nor do more than fit into a request") {
    joint_world w{{.limits = {.request_bytes_max = 1000, .operations_max = 5}}};
    for (auto const* name : {"a", "b", "c"}) w.create(w.at.root() / name, "old");
    w.server.counts() = {};
    auto got = w.commit({w.write("a"), w.write("b"), w.write("c")}); // six operations
    for (auto const& r : got) CHECK((r && *r));
    CHECK(w.server.counts().all() == 2);
    w.server.counts() = {};
    got = w.commit({w.write("a", std::string(500, 'x')), w.write("b", std::string(500, 'x'))});
    for (auto const& r : got) CHECK((r && *r));
    CHECK(w.server.counts().all() == 2);
    transaction other{session_generation{w.now().value + 1}};
    other.set(w.at.root() / "a", "other");
    got = w.commit({other, w.write("b")});
    REQUIRE_FALSE(got[0]);
    CHECK(got[0].error() == errc::session_lost);
    CHECK((got[1] && *got[1]));
}

TEST_CASE("registry.joint_commits: an error that may be due to one transaction does not reach the others") {
    joint_world w{{.limits = {.request_bytes_max = 1000, .operations_max = 100}}};
    w.create(w.at.root() / "a", "old");
    auto const got = w.commit({w.write("a", std::string(2000, 'x')), w.write("a")});
    REQUIRE_FALSE(got[0]);
    CHECK(got[0].error() == errc::too_large);
    CHECK((got[1] && *got[1]));
}

TEST_CASE("registry.joint_commits: a transaction whose caller has gone before the request is not sent") {
    joint_world w;
    for (auto const* name : {"a", "b"}) w.create(w.at.root() / name, "old");
    std::optional<result<commit_reply>> first, second;
    auto run = [](joint_world& in, transaction t, std::optional<result<commit_reply>>& into) -> task<void> {
        into.emplace(co_await in.commits.commit(std::move(t)));
    };
    task_scope gone, stays;
    post(w.loop, [&] {
        gone.spawn(run(w, w.write("a"), first));
        stays.spawn(run(w, w.write("b"), second));
        gone.cancel();
    });
    w.loop.run_for(1s);
    CHECK_FALSE(first);
    REQUIRE(second);
    CHECK((*second && **second));
    CHECK(w.data(w.at.root() / "a") == "old");
    CHECK(w.data(w.at.root() / "b") == "new");
}

TEST_CASE("registry.joint_commits: transactions that come while the only request is in flight share the next one") {
    joint_world w;
    slow_registry slow{w.server};
    std::vector<std::string> const names{"a", "b", "c", "d"};
    for (auto const& name : names) w.create(w.at.root() / name, "old");
    for (std::size_t const in_flight_max : {1U, 9U}) {
        slow.requests = 0;
        joint_commits<slow_registry> commits{slow, in_flight_max};
        std::vector<std::optional<result<commit_reply>>> replies(names.size());
        for (std::size_t n = 0; n < names.size(); ++n) {
            auto t = w.write(names[n]);
            transaction mine{slow.session().generation};
            for (auto const& o : t.operations()) mine.add(o);
            w.start(commits.commit(std::move(mine)), replies[n]);
            w.loop.run_for(500us);
        }
        w.loop.run_for(10ms);
        for (auto const& r : replies) CHECK((r && *r && **r));
        CHECK(slow.requests == (in_flight_max == 1 ? 2 : 4)); // the first alone, then the other three
    }
}
