// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/dump_port.hpp>

#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// A client that waits ten seconds for anything, and then gives up.
class client {
public:
    explicit client(int port, char const* address = "127.0.0.1") : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        ::inet_pton(AF_INET, address, &to.sin_addr);
        timeval const patience{10, 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        is_connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0;
    }
    bool is_connected() const { return is_connected_; }
    bool say(std::string const& text) const {
        return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
    }
    void say_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }
    bool hears_nothing_for(std::chrono::milliseconds span) const {
        pollfd on{socket_.get(), POLLIN, 0};
        return ::poll(&on, 1, static_cast<int>(span.count())) == 0;
    }

    /// Everything received until the other side hangs up; `(no end)` if it does not.
    std::string hear() const {
        std::string all;
        char part[4096];
        for (;;) {
            auto const n = ::recv(socket_.get(), part, sizeof part, 0);
            if (n == 0 || (n < 0 && errno == ECONNRESET)) return all;
            if (n < 0) return "(no end)";
            all.append(part, static_cast<std::size_t>(n));
        }
    }

private:
    detail::descriptor socket_;
    bool is_connected_ = false;
};

struct world {
    MemoryRegistry registry;

    world() {
        create("/settle");
        create("/settle/servers");
        create("/settle/servers/10.0.0.17", "DISABLED");
        create("/settle/config", "{}");
    }
    void create(std::string const& path, std::string data = {}) {
        auto const at = node_path::parse(path).value();
        REQUIRE(block_on(registry.loop(), registry.create(at, std::move(data), create_mode::persistent)));
    }
    dump_port open(dump_port_options options = {}) {
        auto port = dump_port::start(registry, "settle", std::move(options));
        REQUIRE(port);
        return *std::move(port);
    }
};

std::string const answer = "/settle/servers | \n/settle/servers/ip1 | DISABLED\n/settle/config | {}\n";

std::string ask(int port, std::string const& text) {
    client const c{port};
    REQUIRE(c.say(text));
    return c.hear();
}

} // namespace

TEST_CASE("operations.dump_port: answers the line dump, in any letter case, and nothing else") {
    world w;
    auto const port = w.open({.client_limit = 1h}); // longer than a client here waits
    REQUIRE(port.port() > 0);
    for (char const* line : {"dump\n", "DUMP\r\n", "dUmP\r", "dump\nmore"}) CHECK(ask(port.port(), line) == answer);
    for (char const* line : {"\n", " dump\n", "dump \n", "dumps\n", "dum\n", "\r\ndump\n"})
        CHECK(ask(port.port(), line).empty());
    CHECK(ask(port.port(), std::string(100'000, 'x')).empty()); // without an end of line
    CHECK(ask(port.port(), std::string(257, 'x') + "\n").empty());
    CHECK(ask(port.port(), std::string("dump\0\n", 6)).empty());

    client const half{port.port()}; // the end of what it says is an end of a line
    REQUIRE(half.say("dump"));
    half.say_no_more();
    CHECK(half.hear() == answer);
    client const mute{port.port()};
    mute.say_no_more();
    CHECK(mute.hear().empty());
}

TEST_CASE("operations.dump_port: sends the current nodes, or the reason why there are none") {
    world w;
    auto const port = w.open({.dump = {.addresses = address_masking::none, .nodes_max = 21}});
    std::string const large(1'000'000, 'x');
    for (int i = 0; i != 16; ++i)
        w.create("/settle/leader-" + std::to_string(i), large); // more than a socket takes at once
    // The server ignores further input, and must still deliver its answer.
    auto const all = ask(port.port(), "dump\n" + std::string(10'000, 'x'));
    CHECK(all.size() > 16'000'000);
    CHECK(ask(port.port(), "dump\n") == all);
    CHECK(all.ends_with("/settle/leader-0 | " + large + "\n/settle/config | {}\n"));
    CHECK(all.starts_with("/settle/servers | \n/settle/servers/10.0.0.17 | DISABLED\n"));
    w.create("/settle/instances");
    w.create("/settle/sharding");
    CHECK(ask(port.port(), "dump\n").starts_with("error: too_large: "));
}

TEST_CASE("operations.dump_port: clients that are silent, slow or do not read keep no other client waiting") {
    world w;
    SUBCASE("others meanwhile") {
        auto const port = w.open();
        client const silent{port.port()}, half{port.port()};
        REQUIRE(half.say("du"));
        CHECK(ask(port.port(), "dump\n") == answer);
        REQUIRE(half.say("mp\n"));
        CHECK(half.hear() == answer);
        REQUIRE(silent.say("dump\n"));
        CHECK(silent.hear() == answer);
    }
    SUBCASE("not for ever") {
        auto const port = w.open({.client_limit = 100ms, .clients_max = 2});
        client const silent{port.port()}, half{port.port()};
        REQUIRE(half.say("du"));
        CHECK(silent.hear().empty());
        CHECK(half.hear().empty());
    }
    SUBCASE("a byte at a time") {
        auto const port = w.open({.client_limit = 100ms});
        client const slow{port.port()};
        int said = 0;
        while (said < 200 && slow.hears_nothing_for(5ms) && slow.say("x")) ++said;
        CHECK(said < 200); // fewer than a line may have
        CHECK(slow.hear().empty());
    }
    SUBCASE("those beyond the limit come when others have gone") {
        auto const port = w.open({.clients_max = 1, .idle_limit = 1h});
        client const first{port.port()};
        client const second{port.port()};
        REQUIRE(first.is_connected());
        REQUIRE(second.is_connected()); // but not accepted
        REQUIRE(second.say("dump\n"));
        CHECK(second.hears_nothing_for(50ms));
        first.say_no_more();
        CHECK(second.hear() == answer);
    }
    SUBCASE("one that does not read, and holds the only place") {
        for (int i = 0; i != 8; ++i) w.create("/settle/" + std::to_string(i), std::string(1'000'000, 'x'));
        auto const port = w.open({.client_limit = 1s, .clients_max = 1});
        client const deaf{port.port()};
        REQUIRE(deaf.say("dump\n"));
        CHECK(ask(port.port(), "no\n").empty());
    }
}

TEST_CASE("operations.dump_port: idle clients cannot keep all places") {
    world w;
    for (int i = 0; i != 8; ++i) w.create("/settle/" + std::to_string(i), std::string(1'000'000, 'x'));
    auto const port = w.open({.client_limit = 1h, .clients_max = 2, .idle_limit = 100ms});
    client const one{port.port()}, other{port.port()};
    SUBCASE("that say nothing") {}
    SUBCASE("that do not end their line") {
        REQUIRE(one.say("du"));
        REQUIRE(other.say("no"));
    }
    SUBCASE("that have been answered, and do not hang up") {
        REQUIRE(one.say("no\n"));
        REQUIRE(other.say("no\n"));
    }
    SUBCASE("that do not read the dump") {
        REQUIRE(one.say("dump\n"));
        REQUIRE(other.say("dump\n"));
    }
    for (int n = 0; n != 3; ++n) CHECK(ask(port.port(), "dump\n").size() > 8'000'000);
}

TEST_CASE("operations.dump_port: an idle client stays while no other client needs its place") {
    world w;
    auto const port = w.open({.client_limit = 1h, .clients_max = 1, .idle_limit = 1ms});
    client const slow{port.port()};
    REQUIRE(slow.say("du"));
    CHECK(slow.hears_nothing_for(100ms));
    REQUIRE(slow.say("mp\n"));
    CHECK(slow.hear() == answer);
}

TEST_CASE("operations.dump_port: a missing thread is an error") {
    world w;
    pthread_attr_t before, huge;
    pthread_getattr_default_np(&before);
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 46); // no process has room for it
    REQUIRE(pthread_setattr_default_np(&huge) == 0);
    auto const port = dump_port::start(w.registry, "settle");
    pthread_setattr_default_np(&before);
    REQUIRE_FALSE(port);
    CHECK(port.error() == errc::unreachable);
    CHECK(port.error().what.starts_with("the port cannot start a thread: "));
}

TEST_CASE("operations.dump_port: on this machine only, no longer than it lives, and somebody is told if not at all") {
    world w;
    int number = 0;
    {
        auto port = w.open({.client_limit = 1h});
        number = port.port();
        CHECK_FALSE(client{number, "127.0.0.2"}.is_connected()); // a listener on all addresses would answer
        auto const taken = dump_port::start(w.registry, "settle", {.port = number});
        REQUIRE_FALSE(taken);
        CHECK(taken.error() == errc::unreachable);
        CHECK(taken.error().where == "127.0.0.1:" + std::to_string(number));
        client const silent{number};
        auto const moved = std::move(port);
        CHECK(ask(moved.port(), "dump\n") == answer);
    } // does not wait for the silent one
    CHECK_FALSE(client{number}.is_connected());
    CHECK(w.open({.port = number}).port() == number); // though a client has been hung up on

    for (auto const& [address, port] : {std::pair{"localhost", 0}, {"", 0}, {"127.0.0.1", 65536}, {"127.0.0.1", -1}}) {
        auto const no = dump_port::start(w.registry, "settle", {.address = address, .port = port});
        CHECK(no.error() == errc::unreachable);
    }
    CHECK(dump_port::start(w.registry, "a/b").error() == errc::invalid_argument);
}

TEST_CASE("operations.dump_port: opens if the configuration asks for it") {
    world w;
    job_config config{.name = "settle"};
    CHECK_FALSE(open_monitor_port(w.registry, config).value());
    config.monitor_port = 0;
    auto const port = open_monitor_port(w.registry, config);
    REQUIRE(port.value());
    CHECK(ask(port.value()->port(), "dump\n") == answer);
    config.monitor_port = port.value()->port();
    CHECK(open_monitor_port(w.registry, config).error() == errc::unreachable);
}
