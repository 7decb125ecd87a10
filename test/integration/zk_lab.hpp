// SPDX-License-Identifier: Apache-2.0
/// \file \brief Shared by the tests of `ZkRegistry`: coroutines with a time limit, and a way to end another client's
/// session.
#ifndef ELASTICJOB_TEST_INTEGRATION_ZK_LAB_HPP
#define ELASTICJOB_TEST_INTEGRATION_ZK_LAB_HPP

#include <elasticjob/core/within.hpp>
#include <elasticjob/registry/zk_registry.hpp>
#include <support/zk_server.hpp>

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace elasticjob::test {

using namespace std::chrono_literals;

/// Short ticks, which allow short sessions.
inline zk_server_options quick() {
    zk_server_options o;
    o.tick_ms = 100;
    o.session_timeout_min_ms = 200;
    return o;
}

/// Short pauses. The session survives on a slow machine: a test of a lost or silent session asks for a shorter one.
inline zk_options to(std::string servers, std::string name_space = "test") {
    zk_options o;
    o.servers = std::move(servers);
    o.name_space = std::move(name_space);
    o.session_timeout = 30s;
    o.connection_timeout = 10s;
    o.reconnect_pause = 10ms;
    o.reconnect_pause_max = 100ms;
    return o;
}

/// One server for all tests of a program that neither stop it nor count what it holds, because a server takes half a
/// second to start. Each test has its own name space. Threads: the first call is on the main thread, because the server
/// lives as long as the thread that starts it.
inline zk_server& common_server() {
    static zk_server server{quick()};
    return server;
}

/// A new name space on the common server. Threads: construct it on the main thread.
class shared_zk_server {
public:
    shared_zk_server() { common_server(); }
    std::string endpoint() const { return common_server().endpoint(); }
    std::uint16_t port() const noexcept { return common_server().port(); }
    std::string const& name_space() const noexcept { return name_space_; }

private:
    static std::string new_name() {
        static int names = 0;
        return "test-" + std::to_string(++names);
    }

    std::string name_space_ = new_name();
};

inline zk_options to(shared_zk_server const& server) { return to(server.endpoint(), server.name_space()); }

/// With another time-out of the session. If another client ends the session, its owner learns that from its next ping, up
/// to a third of the time-out later.
inline zk_options with_session(zk_options o, std::chrono::milliseconds session_timeout) {
    o.session_timeout = session_timeout;
    return o;
}

inline ZkRegistry connected(zk_options o) {
    auto r = ZkRegistry::connect(std::move(o));
    REQUIRE_MESSAGE(r.has_value(), (r ? std::string{} : to_string(r.error())));
    return std::move(*r);
}

inline node_path at(std::string_view text) { return node_path::parse(text).value(); }

/// Runs the coroutine `f()` on the loop and waits for it here, up to the limit. Rethrows its exception here.
template <class F>
void on_loop(event_loop& l, F f, std::chrono::milliseconds limit = 30s) {
    std::exception_ptr thrown;
    auto guarded = [&f, &thrown]() -> task<result<void>> {
        try {
            co_await f();
        } catch (...) {
            thrown = std::current_exception();
        }
        co_return success();
    };
    auto const outcome = block_on(l, within(l, l.now() + limit, guarded()));
    if (thrown) std::rethrow_exception(thrown);
    REQUIRE_MESSAGE(outcome.has_value(), "the coroutine did not end within its limit");
}

/// Resumes once the session is in that state, in that generation.
inline task<> reach(ZkRegistry& r, session_state state, std::uint64_t generation) {
    for (;;) {
        auto const seen = r.session_changed().edition();
        auto const now = r.session();
        if (now.state == state && now.generation.value == generation) co_return;
        co_await r.session_changed().newer_than(seen);
    }
}

/// Resumes once the node exists, or does not.
inline task<> until_exists(ZkRegistry& r, node_path path, bool wanted) {
    for (;;) {
        event_watch<event_loop> w{r.loop()};
        auto const seen = co_await r.exists(path, &w);
        if (seen && seen->has_value() == wanted) co_return;
        if (!seen) throw std::runtime_error{to_string(seen.error())};
        co_await w.fired();
    }
}

/// Whether the catalog ends the job within a limit. `remove_job` returns when the instance has left the job in the
/// registry, perhaps before the instance's own process has heard the reply. Each question waits for the loop.
template <class Catalog>
bool ends_job(Catalog& catalog, std::string const& job, std::chrono::milliseconds limit = 30s) {
    for (auto const end = std::chrono::steady_clock::now() + limit; std::chrono::steady_clock::now() < end;) {
        auto const running = catalog.running().value();
        if (std::find(running.begin(), running.end(), job) == running.end()) return true;
    }
    return false;
}

/// Ends a session permanently, in its owner's name. Servers derive a session's password from its id alone, with Java's
/// random numbers, so any client that knows the id can do this.
class session_thief {
public:
    static void end_session(std::uint16_t port, std::int64_t id) {
        // The owner notices and takes its session back, perhaps before the close: try until the server has dropped it.
        for (int attempts_left = 100; attempts_left > 0; --attempts_left)
            if (!session_thief{port}.was_alive(id)) return;
        throw std::runtime_error{"session_thief: the owner was faster, many times"};
    }

private:
    explicit session_thief(std::uint16_t port) : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0)
            throw std::runtime_error{"session_thief: no connection"};
    }
    session_thief(session_thief const&) = delete;
    session_thief& operator=(session_thief const&) = delete;
    ~session_thief() { ::close(socket_); }

    static std::string big_endian(std::uint64_t value, int bytes) {
        std::string text;
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
            text.push_back(static_cast<char>(value >> shift & 0xff));
        return text;
    }

    static std::string password_of(std::int64_t id) {
        constexpr std::uint64_t mask = (1ULL << 48) - 1;
        constexpr std::uint64_t factor = 0x5DEECE66DULL;
        auto state = ((static_cast<std::uint64_t>(id) ^ 0xB3415C00ULL) ^ factor) & mask;
        std::string password;
        for (int i = 0; i < 4; ++i) {
            state = (state * factor + 0xB) & mask;
            auto word = static_cast<std::uint32_t>(state >> 16);
            for (int k = 0; k < 4; ++k, word >>= 8) password.push_back(static_cast<char>(word & 0xff));
        }
        return password;
    }

    /// Takes it over and closes it without a pause.
    bool was_alive(std::int64_t id) {
        auto const session = big_endian(static_cast<std::uint64_t>(id), 8);
        auto const version_zxid_timeout = big_endian(0, 4) + big_endian(0, 8) + big_endian(4000, 4);
        auto const xid_close = big_endian(1, 4) + big_endian(static_cast<std::uint32_t>(-11), 4);
        send(packet(version_zxid_timeout + session + big_endian(16, 4) + password_of(id) + '\0') + packet(xid_close));
        auto const reply =
            receive(); // version, time-out, session; another session when it is over, nothing when lost again
        auto const is_over = reply.size() >= 16 && reply.substr(8, 8) != session;
        (void)receive();
        return !is_over;
    }

    static std::string packet(std::string const& body) { return big_endian(body.size(), 4) + body; }

    void send(std::string const& bytes) {
        if (::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
            throw std::runtime_error{"session_thief: send"};
    }

    /// One packet; less when the server closes the connection, or forgets it over two owners who come at once.
    std::string receive() {
        auto const head = receive(4);
        std::size_t size = 0;
        for (char const c : head) size = size << 8 | static_cast<unsigned char>(c);
        return receive(size);
    }
    std::string receive(std::size_t size) {
        std::string text;
        while (text.size() < size) {
            pollfd readable{socket_, POLLIN, 0};
            if (::poll(&readable, 1, 500) <= 0) break;
            char buffer[512];
            auto const n = ::recv(socket_, buffer, std::min(sizeof buffer, size - text.size()), 0);
            if (n <= 0) break;
            text.append(buffer, static_cast<std::size_t>(n));
        }
        return text;
    }

    int socket_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_INTEGRATION_ZK_LAB_HPP
