// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/zk/session_end.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace elasticjob;
using namespace elasticjob::zk;
using outcome = session_end::outcome;

namespace {

session_key const key{.id = 0x0102030405060708,
                      .password = {'p', 'a', 's', 's', 'w', 'o', 'r', 'd', 'P', 'A', 'S', 'S', 'W', 'O', 'R', 'D'},
                      .timeout_ms = 4000};

std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (int const v : values) text.push_back(static_cast<char>(v));
    return text;
}

/// protocol, time-out, session, password, read-only
std::string const joined =
    bytes({0, 0, 0, 37, 0, 0, 0, 0, 0, 0, 15, 160, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 16}) + std::string(16, 'x') + '\0';
std::string const expired =
    bytes({0, 0, 0, 37, 0, 0, 0, 0, 0, 0, 0, 0}) + std::string(8, '\0') + bytes({0, 0, 0, 16}) + std::string(17, '\0');

/// The reply to a request without contents: number, revision, error.
std::string reply(int xid, int error) {
    auto const number = [](int n) { return bytes({n >> 24 & 255, n >> 16 & 255, n >> 8 & 255, n & 255}); };
    return number(16) + number(xid) + number(0) + number(77) + number(error);
}

} // namespace

TEST_CASE("registry.zk.session_end: one message takes over the session, introduces itself and closes it") {
    auto const join = bytes({0, 0, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 160}) +
                      bytes({1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 16}) + "passwordPASSWORD" + '\0';
    auto const close = bytes({0, 0, 0, 8, 0, 0, 0, 1, 255, 255, 255, 245});
    CHECK(session_end::request(key, "") == join + close);
    auto const introduce = bytes({0, 0, 0, 29, 255, 255, 255, 252, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 6}) + "digest" +
                           bytes({0, 0, 0, 3}) + "u:p";
    CHECK(session_end::request(key, "u:p") == join + introduce + close);
}

TEST_CASE("registry.zk.session_end: the replies, in any pieces") {
    auto const all = joined + reply(-4, 0) + reply(1, 0);
    for (std::size_t piece = 1; piece <= all.size(); ++piece) {
        session_end end{key};
        auto so_far = outcome::pending;
        for (std::size_t i = 0; i < all.size(); i += piece) {
            REQUIRE(so_far == outcome::pending);
            so_far = end.receive(std::string_view{all}.substr(i, piece));
        }
        CHECK(so_far == outcome::over);
    }
    CHECK(session_end{key}.receive(expired) == outcome::over);
    CHECK(session_end{key}.receive(joined + reply(1, -112)) == outcome::over);
    CHECK(session_end{key}.receive(joined + reply(1, -4)) == outcome::again);
    CHECK(session_end{key}.receive(joined + reply(-4, -115)) == outcome::pending); // the close has the next reply
}

TEST_CASE("registry.zk.session_end: replies that no ZooKeeper server sends") {
    CHECK(session_end{key}.receive("HTTP/1.1 400 Bad Request\r\n") == outcome::again);
    CHECK(session_end{key}.receive(bytes({255, 255, 255, 255})) == outcome::again);
    CHECK(session_end{key}.receive(bytes({0, 0, 0, 0})) == outcome::again);
    CHECK(session_end{key}.receive(bytes({0, 0, 0, 3, 1, 2, 3})) == outcome::again);
    CHECK(session_end{key}.receive("") == outcome::pending);
}

TEST_CASE("registry.zk.guarded_sessions: a seat shows its last key, and no key after it is cleared or given back") {
    auto const all = std::make_unique<guarded_sessions>();
    all->worker = ::getpid();
    auto const& place = all->places[0];
    {
        auto seat = guard_seat::take(all.get(), {.servers = "zk1:2181", .digest = "u:p"});
        REQUIRE(seat);
        CHECK(place.last().id == 0);
        CHECK(std::string_view{place.servers} == "zk1:2181");
        CHECK(std::string_view{place.digest} == "u:p");
        seat->hold(key);
        CHECK(place.last().id == key.id);
        CHECK(place.last().timeout_ms == key.timeout_ms);
        seat->hold({.id = 9});
        CHECK(place.last().id == 9);
        seat->clear();
        CHECK(place.last().id == 0);
        seat->hold(key);
        auto const other = guard_seat::take(all.get(), {});
        CHECK(all->places[1].is_taken);
    }
    CHECK(place.last().id == 0);
    CHECK(!place.is_taken);
    CHECK(!all->places[1].is_taken);
}

TEST_CASE("registry.zk.guarded_sessions: refuses sessions that cannot be guarded") {
    auto const all = std::make_unique<guarded_sessions>();
    CHECK(guard_seat::take(nullptr, {}));
    all->worker = ::getpid() + 1;
    CHECK(guard_seat::take(all.get(), {}).error() == errc::invalid_argument); // as in a fork
    all->worker = ::getpid();
    CHECK(guard_seat::take(all.get(), {.digest = "u:" + std::string(254, 'p')}).error().where == "digest");
    CHECK(guard_seat::take(all.get(), {.servers = std::string(1020, 'h') + ":2181"}).error().where == "servers");
    {
        auto const seat = guard_seat::take(all.get(), {.servers = "zk1:2181," + std::string(1020, 'h') + ":2181"});
        REQUIRE(seat);
        CHECK(std::string_view{all->places[0].servers} == "zk1:2181");
    }
    std::vector<guard_seat> seats;
    for (std::size_t n = 0; n < guarded_sessions::seats_max; ++n)
        seats.push_back(guard_seat::take(all.get(), {}).value());
    CHECK(guard_seat::take(all.get(), {}).error() == errc::overloaded);
}

TEST_CASE("registry.zk.guarded_sessions: a fork of the worker changes nothing") {
    auto const all = std::make_unique<guarded_sessions>();
    all->worker = ::getpid();
    auto seat = guard_seat::take(all.get(), {});
    REQUIRE(seat);
    seat->hold(key);
    all->worker = ::getpid() + 1; // as a fork sees it
    seat->clear();
    CHECK(all->places[0].last().id == key.id);
    all->worker = ::getpid();
}
