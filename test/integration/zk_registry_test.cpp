// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/zk_registry.hpp>

#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>
#include <elasticjob/registry/zk/server_order.hpp>

#include <integration/zk_lab.hpp>
#include <support/enroll_alone.hpp>
#include <support/loopback.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The text written to standard error during its lifetime.
class standard_error {
public:
    standard_error() : former_{::dup(2)}, file_{std::tmpfile()} { ::dup2(::fileno(file_), 2); }
    standard_error(standard_error const&) = delete;
    standard_error& operator=(standard_error const&) = delete;
    ~standard_error() {
        ::dup2(former_, 2);
        ::close(former_);
        std::fclose(file_);
    }
    bool is_empty() const { return ::lseek(::fileno(file_), 0, SEEK_END) == 0; }

private:
    int former_;
    std::FILE* file_;
};

} // namespace

TEST_CASE("ZkRegistry: invalid options are refused with the field's name") {
    auto const where = [](auto change) {
        zk_options o;
        change(o);
        auto const r = ZkRegistry::connect(o);
        REQUIRE(!r);
        CHECK(r.error() == errc::invalid_argument);
        return r.error().where;
    };
    for (char const* bad : {"", "localhost", ":2181", "zk1:2181,", "zk1:0", "zk1:65536", "zk1:21x", "zk1:2181/chroot",
                            "zk 1:2181", "[::1]:2181"})
        CHECK(where([&](zk_options& o) { o.servers = bad; }) == std::string{"servers: "} + bad);
    std::string const with_nul{"zk1\0:2181", 9};
    CHECK(where([&](zk_options& o) { o.servers = with_nul; }) == "servers: " + with_nul);
    for (char const* bad : {"/a", "a/", "a//b", ".", "a/../b", "a\nb"})
        CHECK(where([&](zk_options& o) { o.name_space = bad; }) == std::string{"name_space: "} + bad);
    CHECK(where([](zk_options& o) { o.name_space = std::string(300, 'n'); }) == "name_space");
    for (char const* bad : {"user", ":password"}) CHECK(where([&](zk_options& o) { o.digest = bad; }) == "digest");
    for (auto const bad : {0ms, 1ms, std::chrono::milliseconds{1 << 30}})
        CHECK(where([&](zk_options& o) { o.session_timeout = bad; }) == "session_timeout");
    CHECK(where([](zk_options& o) { o.connection_timeout = 0ms; }) == "connection_timeout");
    CHECK(where([](zk_options& o) { o.connection_timeout = std::chrono::milliseconds::max(); }) ==
          "connection_timeout");
    CHECK(where([](zk_options& o) { o.reconnect_pause = 0ms; }) == "reconnect_pause");
    CHECK(where([](zk_options& o) { o.reconnect_pause_max = std::chrono::milliseconds::max(); }) == "reconnect_pause");
    CHECK(where([](zk_options& o) { o.reconnect_pause_max = 1ms; }) == "reconnect_pause");
}

TEST_CASE("ZkRegistry: no server answers") {
    auto o = to("127.0.0.1:1"); // reserved, and nothing listens there
    o.connection_timeout = 300ms;
    SUBCASE("at an address") {
        auto const r = ZkRegistry::connect(o);
        REQUIRE(!r);
        CHECK(r.error() == errc::unreachable);
        CHECK(r.error().what == "no ZooKeeper server answered at 127.0.0.1:1 within 300 ms: check that one runs there, "
                                "and that this machine may connect to it");
    }
    SUBCASE("because the name does not resolve") {
        o.servers = "no-such-host.invalid:2181";
        auto const r = ZkRegistry::connect(o);
        REQUIRE(!r);
        CHECK(r.error() == errc::unreachable);
        CHECK(r.error().what.find("within 300 ms (no server's name can be resolved): check") != std::string::npos);
    }
    SUBCASE("although it listens") {
        zk_server server{quick()};
        o.servers = server.endpoint();
        server.pause();
        auto const r = ZkRegistry::connect(o);
        REQUIRE(!r);
        CHECK(r.error() == errc::unreachable);
    }
}

TEST_CASE("ZkRegistry: the longest session time-out connects, and no connection takes the place of standard error") {
    shared_zk_server server;
    auto o = to(server);
    o.session_timeout = std::chrono::milliseconds{(1 << 30) - 1};
    int const former = ::dup(STDERR_FILENO);
    ::close(STDERR_FILENO); // as daemons do
    auto const r = ZkRegistry::connect(o);
    struct stat now {};
    bool const is_open = ::fstat(STDERR_FILENO, &now) == 0;
    ::dup2(former, STDERR_FILENO);
    ::close(former);
    CHECK(r);
    CHECK(is_open);
    CHECK(S_ISCHR(now.st_mode)); // /dev/null
}

TEST_CASE("ZkRegistry: a server that comes late is found") {
    zk_server server{quick()};
    server.kill();
    auto o = to(server.endpoint());
    o.digest = "alice:secret";
    std::optional<ZkRegistry> r;
    std::thread connecting{[&] { r.emplace(connected(o)); }};
    server.start();
    connecting.join();
    REQUIRE(r.has_value());
    on_loop(r->loop(), [&]() -> task<> {
        auto const made = co_await r->create(at("/mine"), "", create_mode::persistent);
        CHECK(made.has_value()); // this needs the digest, although the first attempts to connect failed
    });
}

TEST_CASE("ZkRegistry: silent servers do not keep it from one that answers") {
    zk_server server{quick()};
    auto const accepts_only = listen_anywhere(), likewise = listen_anywhere(); // the kernel accepts the connections
    zk_options o;
    o.servers = "127.0.0.1:" + std::to_string(accepts_only.second) + "," + server.endpoint() + ",127.0.0.1:" +
                std::to_string(likewise.second);
    o.connection_timeout = 4500ms; // two thirds of the session time-out would be 40 s
    for (int n = 0; n < 3; ++n) {
        auto const r = ZkRegistry::connect(o);
        CHECK_MESSAGE(r.has_value(), (r ? std::string{} : to_string(r.error())));
    }
}

TEST_CASE("ZkRegistry: the order of the servers is random at first, and each gets its turn") {
    zk_options o;
    o.servers = "a:1,b:2,c:3";
    o.connection_timeout = 12s;
    o.session_timeout = 30s;
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 50; ++seed) orders.insert(zk::server_order{o, seed}.text());
    CHECK(orders.size() == 6);

    zk::server_order servers{o, 1};
    auto const text = servers.text();
    auto const first = text.substr(0, 3), rest = text.substr(4);
    CHECK(servers.patience() == 4s);
    servers.note_failure();
    CHECK(servers.text() == rest + "," + first);
    servers.note_failure();
    CHECK(servers.patience() == 4s);
    servers.note_failure();
    CHECK(servers.text() == text);
    CHECK(servers.patience() == 8s);
    for (int n = 0; n < 100; ++n) servers.note_failure();
    CHECK(servers.patience() == 30s);
    servers.note_success();
    CHECK(servers.patience() == 4s);

    o.servers = "only:1";
    CHECK(!zk::server_order{o, 1}.has_choice());
    CHECK(zk::server_order{o, 1}.patience() == 4s); // the name may have several addresses
}

TEST_CASE("ZkRegistry: libzookeeper's log goes nowhere") {
    standard_error const captured;
    {
        zk_server server{quick()};
        auto r = connected(with_session(to(server.endpoint()), 1s));
        on_loop(r.loop(), [&]() -> task<> {
            session_thief::end_session(server.port(), r.session().id);
            co_await reach(r, session_state::connected, 2);
            server.kill();
            co_await reach(r, session_state::connecting, 3);
        });
    }
    CHECK(captured.is_empty());
}

TEST_CASE("ZkRegistry: connect on the loop would wait for itself") {
    shared_zk_server server;
    event_loop loop;
    on_loop(loop, [&]() -> task<> {
        auto o = to(server);
        o.loop = &loop;
        auto const r = ZkRegistry::connect(o);
        CHECK(!r);
        CHECK(r.error() == errc::wrong_thread);
        co_return;
    });
}

TEST_CASE("ZkRegistry: one server") {
    shared_zk_server server;

    SUBCASE("a session as negotiated") {
        auto r = connected(with_session(to(server), 1s));
        on_loop(r.loop(), [&]() -> task<> {
            auto const session = r.session();
            CHECK(session.state == session_state::connected);
            CHECK(session.generation.value == 1);
            CHECK(session.id != 0);
            CHECK(session.timeout == 1s);
            auto const made = co_await r.create(at("/e"), "", create_mode::ephemeral);
            CHECK(made.has_value());
            auto const found = co_await r.get(at("/e"));
            REQUIRE(found.has_value());
            CHECK(found->stat.owner == session.id);
        });
    }

    SUBCASE("a job is added, and removed permanently with many nodes while it has members") {
        auto r = connected(to(server));
        auto theirs = connected(to(server));
        job_config config;
        config.name = "settle";
        config.cron = "0 0 0 1 1 ? 2099";
        REQUIRE(add_job(r, config));
        auto const name = job_name::parse("settle").value();
        job_layout const job{name};
        auto const self = instance_id::parse("10.0.0.1@-@1-a").value();
        auto const anything = [](valid_config const&) -> result<void> { return success(); };
        auto const join = [&] {
            return block_on(theirs.loop(), enroll_alone(theirs, job, {.self = self, .how = arrival::first}, anything));
        };
        REQUIRE(join());
        on_loop(theirs.loop(), [&]() -> task<> {
            (void)co_await theirs.create(job.instances() / "10.0.0.2@-@4711", {}, create_mode::ephemeral); // Java's
            transaction t{theirs.session().generation};
            t.create(job.sharding(), {});
            for (item_index i = 0; i < 300; ++i)
                t.create(job.item(i), {}).create(job.item_instance(i), {}).create(job.run_record(i), {});
            auto const made = co_await theirs.commit(std::move(t));
            CHECK((made && *made));
        });
        result<void> removal = success();
        std::jthread remover{[&] { removal = remove_job(r, "settle"); }};
        on_loop(theirs.loop(), [&]() -> task<> {
            co_await until_exists(theirs, job.instances() / "10.0.0.2@-@4711", false); // it has been told to leave
        });
        CHECK(join().error() == errc::removed);
        on_loop(theirs.loop(), [&]() -> task<> {
            auto const left = co_await theirs.remove(job.instance(self));
            CHECK(left.has_value());
        });
        remover.join();
        REQUIRE(removal);
        auto const rest = block_on(r.loop(), list_below(r, job.root()));
        CHECK(rest.value() == std::vector<node_path>{job.root(), job.ext(), job.removed()});
        CHECK(add_job(r, config).error() == errc::removed);
        REQUIRE(restore_job(r, "settle"));
        CHECK(block_on(r.loop(), list_below(r, job.root())).value().empty());
        CHECK(add_job(r, config));
    }

    SUBCASE("a name space is a prefix, and is created with its parents") {
        auto inside = connected(to(server.endpoint(), "company/billing"));
        auto outside = connected(to(server.endpoint(), ""));
        on_loop(outside.loop(), [&]() -> task<> {
            for (char const* path : {"/company", "/company/billing"}) {
                auto const found = co_await outside.get(at(path));
                REQUIRE(found.has_value());
                CHECK(found->data.empty());
                CHECK(found->stat.owner == 0);
            }
            auto const listed = co_await outside.children(node_path{});
            REQUIRE(listed.has_value());
            CHECK(std::count(listed->begin(), listed->end(), "company") == 1);
            CHECK(std::count(listed->begin(), listed->end(), "zookeeper") == 0); // ZooKeeper's own node
        });
        on_loop(inside.loop(), [&]() -> task<> {
            auto const listed = co_await inside.children(node_path{});
            REQUIRE(listed.has_value());
            CHECK(listed->empty());
            auto const plain = co_await inside.create(at("/job"), "x", create_mode::persistent);
            REQUIRE(plain.has_value());
            CHECK(plain->str() == "/job");
            auto const numbered = co_await inside.create(at("/job/n-"), "", create_mode::persistent_sequential);
            REQUIRE(numbered.has_value());
            CHECK(numbered->str() == "/job/n-0000000000");
            auto const absent = co_await inside.get(at("/absent"));
            CHECK(to_string(absent.error()) == "no_node: no such node (/absent)");
        });
        on_loop(outside.loop(), [&]() -> task<> {
            auto const found = co_await outside.get(at("/company/billing/job"));
            REQUIRE(found.has_value());
            CHECK(found->data == "x");
        });
        // It exists now, and another client may connect.
        auto second = connected(to(server.endpoint(), "company/billing"));
    }

    SUBCASE("a user's nodes belong to the user") {
        auto o = to(server);
        auto bob = connected(o);
        o.digest = "alice:secret";
        auto alice = connected(o);
        o.digest = "alice:wrong";
        auto mallory = connected(o);
        on_loop(alice.loop(), [&]() -> task<> {
            auto const parent = co_await alice.create(at("/hers"), "data", create_mode::persistent);
            CHECK(parent.has_value());
            transaction t{alice.session().generation};
            t.create(at("/hers/child"), "").set(at("/hers"), "more");
            auto const committed = co_await alice.commit(std::move(t));
            REQUIRE(committed.has_value());
            CHECK(!committed->refused);
        });
        for (auto* const r : {&bob, &mallory})
            on_loop(r->loop(), [&]() -> task<> {
                auto const read = co_await r->get(at("/hers"));
                CHECK(to_string(read.error()) ==
                      "no_auth: the node belongs to another user: connect with that user's digest, or have the node's "
                      "access list changed (/hers)");
                auto const listed = co_await r->children(at("/hers"));
                CHECK(listed.error() == errc::no_auth);
                auto const written = co_await r->set(at("/hers"), "x");
                CHECK(written.error() == errc::no_auth);
                auto const made = co_await r->create(at("/hers/other"), "x", create_mode::ephemeral);
                CHECK(made.error() == errc::no_auth);
                auto const removed = co_await r->remove(at("/hers/child"));
                CHECK(removed.error() == errc::no_auth);
                transaction t{r->session().generation};
                t.create(at("/free"), "").set(at("/hers/child"), "x");
                auto const committed = co_await r->commit(std::move(t));
                REQUIRE(!committed.has_value());
                CHECK(committed.error() == errc::no_auth);
                CHECK(committed.error().where == "/hers/child");
                CHECK(r->session().state == session_state::connected);
            });
    }

    SUBCASE("a name space below another user's node") {
        auto o = to(server.endpoint(), "closed");
        o.digest = "alice:secret";
        auto alice = connected(o);
        o.name_space = "closed/open/deeper";
        auto deeper = connected(o);
        o.digest = {};
        SUBCASE("is refused when it is missing") {
            o.name_space = "closed/other/deeper";
            auto const r = ZkRegistry::connect(o);
            REQUIRE(!r);
            CHECK(r.error() == errc::no_auth);
            CHECK(r.error().where == "/closed/other");
        }
        SUBCASE("is accepted when it exists") { auto r = connected(o); }
    }

    SUBCASE("a transaction is one revision, or a refusal that names the operation") {
        auto r = connected(to(server));
        on_loop(r.loop(), [&]() -> task<> {
            auto const g = r.session().generation;
            transaction make{g};
            make.create(at("/a"), "")
                .create(at("/a/b"), "x", create_mode::ephemeral)
                .set(at("/a"), "1", 0)
                .check(at("/a"), 1);
            auto const made = co_await r.commit(std::move(make));
            REQUIRE(made.has_value());
            CHECK(!made->refused);
            auto const child = co_await r.exists(at("/a/b"));
            REQUIRE((child.has_value() && child->has_value()));
            CHECK((*child)->created == made->at);

            transaction only_check{g};
            only_check.check(at("/a")).check(at("/a/b"), 0);
            auto const checked = co_await r.commit(std::move(only_check));
            REQUIRE(checked.has_value());
            CHECK(!checked->refused);
            CHECK(checked->at == 0);

            std::vector<std::pair<errc, transaction>> refusals;
            refusals.emplace_back(errc::no_node, transaction{g}.check(at("/a")).check(at("/none")));
            refusals.emplace_back(errc::node_exists, transaction{g}.set(at("/a"), "2").create(at("/a"), ""));
            refusals.emplace_back(errc::version_conflict, transaction{g}.create(at("/c"), "").set(at("/a"), "", 7));
            refusals.emplace_back(errc::not_empty, transaction{g}.check(at("/a")).remove(at("/a")));
            refusals.emplace_back(errc::no_children_for_ephemerals,
                                  transaction{g}.check(at("/a")).create(at("/a/b/c"), ""));
            for (auto& [why, t] : refusals) {
                auto const answer = co_await r.commit(std::move(t));
                REQUIRE(answer.has_value());
                REQUIRE(answer->refused.has_value());
                CHECK(answer->refused->operation == 1);
                CHECK(answer->refused->why == why);
            }
            auto const after = co_await r.get(at("/a"));
            REQUIRE(after.has_value());
            CHECK(after->data == "1");

            transaction nothing{g};
            auto const empty = co_await r.commit(std::move(nothing));
            REQUIRE(empty.has_value());
            CHECK(!empty->refused);
        });
    }

    SUBCASE("requests for which a server would cut the connection are refused here") {
        auto o = to(server.endpoint(), "a/rather/long/name/space");
        auto r = connected(o);
        on_loop(r.loop(), [&]() -> task<> {
            auto const before = r.session();
            auto const limits = r.limits();
            transaction full{before.generation};
            operation one{operation::kind::create, at("/numbered-"), std::string(40, 'x'),
                          create_mode::persistent_sequential};
            while (full.has_room(limits, 1, one.bytes())) full.add(one);
            auto overfull = full;
            overfull.add(one);
            auto const refused = co_await r.commit(std::move(overfull));
            CHECK(refused.error() == errc::too_large);
            auto const committed = co_await r.commit(std::move(full));
            REQUIRE_MESSAGE(committed.has_value(), to_string(committed.error()));
            CHECK(!committed->refused);

            std::string const huge(limits.request_bytes_max, 'x');
            auto const made = co_await r.create(at("/huge"), huge, create_mode::persistent);
            CHECK(made.error() == errc::too_large);
            auto const read = co_await r.get(at("/" + huge));
            CHECK(read.error() == errc::too_large);
            CHECK(r.session().id == before.id);
            CHECK(r.session().state == session_state::connected);
        });
    }

    SUBCASE("two registries share a loop, and may be moved while they work") {
        event_loop loop;
        auto o = to(server);
        o.loop = &loop;
        auto one = std::make_optional(connected(o));
        auto two = connected(o);
        on_loop(loop, [&]() -> task<> {
            event_watch<event_loop> w{loop};
            auto const absent = co_await two.exists(at("/news"), &w);
            REQUIRE(absent.has_value());
            auto creating = one->create(at("/news"), "x", create_mode::ephemeral);
            ZkRegistry moved = std::move(*one);
            auto const made = co_await std::move(creating);
            CHECK(made.has_value());
            co_await w.fired();
            CHECK(moved.session().id != two.session().id);
            *one = std::move(moved);
        });
        one.reset();
        on_loop(loop, [&]() -> task<> { co_await until_exists(two, at("/news"), false); }); // an orderly close: at once
    }
}

TEST_CASE("zk_registry: the server can read its log after the largest request of a registry with a digest") {
    zk_server server;
    auto o = to(server.endpoint());
    o.digest = std::string(120, 'u') + ":secret"; // the server writes the user into each node's access list
    {
        auto r = connected(o);
        on_loop(r.loop(), [&]() -> task<> {
            transaction full{r.session().generation};
            operation const one{operation::kind::create, at("/numbered-"), "", create_mode::persistent_sequential};
            while (full.has_room(r.limits(), 1, one.bytes())) full.add(one);
            auto const committed = co_await r.commit(std::move(full));
            REQUIRE_MESSAGE(committed.has_value(), to_string(committed.error()));
            CHECK(!committed->refused);
        });
    }
    server.stop();
    server.start();
    auto r = connected(o);
    on_loop(r.loop(), [&]() -> task<> {
        auto const there = co_await r.exists(at("/numbered-0000000000"));
        CHECK(there.value());
    });
}
