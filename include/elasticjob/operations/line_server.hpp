// SPDX-License-Identifier: Apache-2.0
/// \file \brief A TCP port that answers one line with a text, as the monitor port of 2.1.5 does.
#ifndef ELASTICJOB_OPERATIONS_LINE_SERVER_HPP
#define ELASTICJOB_OPERATIONS_LINE_SERVER_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/descriptor.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace elasticjob::detail {

struct listening_socket {
    descriptor socket;
    int port = 0; ///< the actual port, even if any free port was requested
};

/// The address is numeric, IPv4 or IPv6. Errors: unreachable, with the system's reason.
result<listening_socket> listen_on(std::string const& address, int port);

struct line_server_limits {
    std::chrono::milliseconds client; ///< from the acceptance of a client to the end of its connection
    std::size_t clients_max;          ///< the maximum number of simultaneous clients; at least 1
    std::chrono::milliseconds idle;   ///< after this time an idle client makes room if another client waits
    std::size_t line_max = 256;       ///< bytes
};

/// Reads a line from each client, up to LF, CR or the end of the input, sends the answer, and closes the connection.
/// `answer(line, due)` returns the text; an empty text is not sent. The server polls its sockets, so no silent client
/// delays the others. It computes one answer at a time. If the maximum of clients is reached and another client waits,
/// the server disconnects the client that has been idle longest, if that is longer than `idle`. A client is idle if it
/// has not completed its line, does not read its answer, or has read all of it. A networking library would add its own
/// loop to replace one page of POSIX code.
/// Threads: one.
template <class Answer>
class line_server {
public:
    line_server(descriptor listener, line_server_limits limits, Answer answer)
        : listener_{std::move(listener)},
          limits_{limits},
          answer_{std::move(answer)} {}

    void run_until(event_descriptor const& stop) {
        for (std::vector<pollfd> on;;) {
            bool const has_room = clients_.size() < std::max(limits_.clients_max, std::size_t{1});
            bool const is_open = (has_room || has_idle(now())) && !is_resting();
            on.assign({{stop.get(), POLLIN, 0}, {is_open ? listener_.get() : -1, POLLIN, 0}});
            for (auto const& c : clients_)
                on.push_back({c.socket.get(), static_cast<short>(c.doing == step::writing ? POLLOUT : POLLIN), 0});
            if (::poll(on.data(), on.size(), timeout_ms()) < 0) continue;
            if (on[0].revents) return;
            for (std::size_t n = 0; n != clients_.size(); ++n)
                if (on[n + 2].revents) serve(clients_[n]);
            std::erase_if(clients_, [now = now()](client const& c) { return c.doing == step::gone || now >= c.due; });
            if (on[1].revents && make_room()) accept_one();
        }
    }

private:
    enum class step {
        reading,
        writing,
        leaving, ///< the answer is sent; closing a socket with unread input would discard the answer
        gone,
    };
    struct client {
        descriptor socket;
        mono_time due, idle_since;
        step doing = step::reading;
        std::string heard{}, answer{};
        std::size_t sent = 0;
    };

    static mono_time now() noexcept { return SystemClock{}.now(); }
    bool is_resting() const noexcept { return now() < accept_again_; }

    int timeout_ms() const {
        auto due = is_resting() ? accept_again_ : mono_time::max();
        bool const is_full = clients_.size() >= limits_.clients_max;
        for (auto const& c : clients_) {
            due = std::min(due, c.due);
            auto const idle_at = c.idle_since + limits_.idle;
            if (is_full && idle_at > now())
                due = std::min(due, idle_at); // if that has passed, waiting clients have already been accepted
        }
        if (due == mono_time::max()) return -1;
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(due - now()).count();
        return static_cast<int>(std::clamp<decltype(left)>(left, 0, 60'000));
    }

    bool is_idle(client const& c, mono_time at) const { return at >= c.idle_since + limits_.idle; }
    bool has_idle(mono_time at) const {
        return std::any_of(clients_.begin(), clients_.end(), [&](client const& c) { return is_idle(c, at); });
    }

    /// Disconnects an idle client. Returns false if there is none.
    bool make_room() {
        if (clients_.size() < std::max(limits_.clients_max, std::size_t{1})) return true;
        auto const oldest = std::min_element(clients_.begin(), clients_.end(), [](client const& a, client const& b) {
            return a.idle_since < b.idle_since;
        });
        if (!is_idle(*oldest, now())) return false;
        clients_.erase(oldest);
        return true;
    }

    void accept_one() {
        descriptor s{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (s)
            clients_.push_back({std::move(s), now() + limits_.client, now()});
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            accept_again_ = now() + std::chrono::milliseconds{100}; // the socket stays readable, so wait a little
    }

    void serve(client& c) {
        if (c.doing == step::writing)
            write(c);
        else
            read(c);
    }

    void read(client& c) {
        char part[512];
        auto const count = ::recv(c.socket.get(), part, sizeof part, 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count < 0 || (count == 0 && (c.doing == step::leaving || c.heard.empty()))) {
            c.doing = step::gone;
            return;
        }
        if (c.doing == step::leaving) return;
        c.heard.append(part, static_cast<std::size_t>(count));
        auto const end = c.heard.find_first_of("\r\n");
        if (std::min(end, c.heard.size()) > limits_.line_max) {
            c.doing = step::gone;
        } else if (end != c.heard.npos || count == 0) {
            c.answer = answer_(std::string_view{c.heard}.substr(0, end), c.due);
            c.idle_since = now();
            c.doing = step::writing;
            write(c);
        }
    }

    void write(client& c) {
        while (c.sent != c.answer.size()) {
            auto const count = ::send(c.socket.get(), c.answer.data() + c.sent, c.answer.size() - c.sent, MSG_NOSIGNAL);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) {
                if (errno != EAGAIN) c.doing = step::gone;
                return;
            }
            c.sent += static_cast<std::size_t>(count);
            c.idle_since = now();
        }
        c.answer = {};
        c.sent = 0;
        ::shutdown(c.socket.get(), SHUT_WR);
        c.doing = step::leaving;
    }

    descriptor listener_;
    line_server_limits limits_;
    Answer answer_;
    std::vector<client> clients_;
    mono_time accept_again_ = mono_time::min();
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/line_server.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_LINE_SERVER_HPP
