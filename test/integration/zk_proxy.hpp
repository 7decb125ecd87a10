// SPDX-License-Identifier: Apache-2.0
/// \file \brief `tcp_proxy`: a loopback connection that a test can cut, slow down, or make lossy in one direction. It can
/// also put an error of ZooKeeper's into replies.
#ifndef ELASTICJOB_TEST_INTEGRATION_ZK_PROXY_HPP
#define ELASTICJOB_TEST_INTEGRATION_ZK_PROXY_HPP

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace elasticjob::test {

/// The treatment of the bytes in one direction.
enum class wire {
    whole, ///< passed on
    held,  ///< kept until the wire is whole again
    lossy, ///< read and thrown away: cut the connection before the wire is whole again
};

/// Listens on its own free port and forwards everything to another port. Threads: any.
class tcp_proxy {
public:
    /// A connection waits this long for a target that refuses it, and is closed then. A ZooKeeper server repeats a
    /// connection that its leader refuses, but gives up on one that the leader closes.
    explicit tcp_proxy(std::uint16_t target, std::chrono::milliseconds patience = {})
        : target_{target},
          patience_{patience} {
        listener_ = make_socket();
        auto address = loopback(0);
        socklen_t size = sizeof address;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
            ::pipe2(wake_, O_NONBLOCK | O_CLOEXEC) != 0)
            throw std::runtime_error{"tcp_proxy: no port"};
        port_ = ntohs(address.sin_port);
        thread_ = std::thread{[this] { work(); }};
    }
    tcp_proxy(tcp_proxy const&) = delete;
    tcp_proxy& operator=(tcp_proxy const&) = delete;
    ~tcp_proxy() {
        change([this] { closing_ = true; });
        thread_.join();
        for (auto& l : lines_) l.close();
        for (auto const& w : waiting_) ::close(w.client);
        for (int const fd : {listener_, wake_[0], wake_[1]}) ::close(fd);
    }

    std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
    std::uint16_t port() const noexcept { return port_; }

    void set_requests(wire w) {
        change([&] { requests_ = w; });
    }
    void set_replies(wire w) {
        change([&] { replies_ = w; });
    }

    /// Puts this error code of ZooKeeper's into the next replies to requests, with the zxid and the results as they
    /// are.
    void set_error(std::int32_t code, std::size_t replies) {
        change([&] {
            error_ = code;
            errors_left_ = replies;
        });
    }
    std::size_t errors_left() {
        std::lock_guard const lock{mutex_};
        return errors_left_;
    }

    /// Delays everything by this much, in both directions. Bytes already on their way are not delayed further.
    void set_delay(std::chrono::milliseconds delay) {
        change([&] { delay_ = delay; });
    }

    /// Breaks all connections, and accepts new ones.
    void cut() {
        change([&] { cut_everything(); });
    }

    /// Breaks all connections, and forwards the next ones without loss or delay.
    void cut_and_repair() {
        change([&] {
            cut_everything();
            requests_ = replies_ = wire::whole;
            delay_ = {};
        });
    }

    /// The number of bytes forwarded, in both directions.
    std::uint64_t bytes() const noexcept { return bytes_; }

    /// Blocks until this many connections have been made in total; false if that takes longer than the limit.
    bool wait_for_connections(std::size_t count, std::chrono::milliseconds limit) {
        std::unique_lock lock{mutex_};
        return was_connected_.wait_for(lock, limit, [&] { return connections_ >= count; });
    }

private:
    using clock = std::chrono::steady_clock;

    struct chunk {
        clock::time_point due;
        std::string bytes;
    };
    struct flow {
        int from;
        int to;
        bool has_replies;           ///< from a server
        std::size_t frame_left = 0; ///< bytes of the present frame that are still to come
        bool has_begun = false;     ///< the first frame, which answers the connection, has come
        std::deque<chunk> on_its_way{};
        std::size_t size = 0; ///< bytes on their way
    };
    static constexpr std::size_t on_its_way_max = 1 << 20;
    struct line {
        flow requests;
        flow replies;
        void close() const {
            ::close(requests.from);
            ::close(requests.to);
        }
        void reset() const {
            linger const at_once{1, 0};
            ::setsockopt(requests.from, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            ::setsockopt(requests.to, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            close();
        }
    };

    struct waiting {
        int client;
        clock::time_point until;
    };

    static int make_socket() {
        int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) throw std::runtime_error{"tcp_proxy: no socket"};
        pass_on_at_once(fd);
        return fd;
    }
    /// libzookeeper sends the length of a request before the request. If the proxy has read it alone, the kernel would
    /// keep the request until the receiver confirms the length, which takes 40 ms.
    static void pass_on_at_once(int socket) {
        int const yes = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

    template <class F>
    void change(F f) {
        std::lock_guard const lock{mutex_};
        f();
        (void)!::write(wake_[1], "", 1);
    }

    void cut_everything() {
        for (auto& l : lines_) l.reset();
        lines_.clear();
        accept_all();
        for (auto const& w : waiting_) ::close(w.client);
        waiting_.clear();
    }

    void work() {
        std::vector<pollfd> watched;
        for (;;) {
            auto next = clock::time_point::max();
            {
                std::lock_guard const lock{mutex_};
                if (closing_) return;
                serve();
                watched = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
                if (!waiting_.empty()) next = clock::now() + between_attempts;
                for (auto const& l : lines_) {
                    want(watched, l.requests, requests_, next);
                    want(watched, l.replies, replies_, next);
                }
            }
            ::poll(watched.data(), watched.size(), ms_until(next));
        }
    }

    static int ms_until(clock::time_point t) {
        if (t == clock::time_point::max()) return -1;
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(t - clock::now()).count();
        return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left, 0));
    }

    /// Polls the sockets that can be moved, and finds out when the next bytes are due.
    void want(std::vector<pollfd>& watched, flow const& f, wire w, clock::time_point& next) const {
        if (w == wire::held) return;
        bool const is_delayed = delay_.count() > 0 && f.size < on_its_way_max;
        if (f.on_its_way.empty() || is_delayed) watched.push_back({f.from, POLLIN, 0});
        if (f.on_its_way.empty()) return;
        if (auto const due = f.on_its_way.front().due; due > clock::now())
            next = std::min(next, due);
        else
            watched.push_back({f.to, POLLOUT, 0});
    }

    void serve() {
        for (char drained[64]; ::read(wake_[0], drained, sizeof drained) > 0;) {
        }
        accept_all();
        connect_all();
        for (auto at = lines_.begin(); at != lines_.end();) {
            if (move(at->requests, requests_) && move(at->replies, replies_)) {
                ++at;
            } else {
                at->close();
                at = lines_.erase(at);
            }
        }
    }

    void accept_all() {
        for (int client; (client = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
            pass_on_at_once(client);
            waiting_.push_back({client, clock::now() + patience_});
        }
    }

    /// Connects the accepted clients. If the target refuses, their bytes wait in the kernel until the next attempt.
    void connect_all() {
        waiting_.remove_if([this](waiting const& w) {
            bool const is_connected = join_up(w.client);
            if (is_connected || clock::now() < w.until) return is_connected;
            ::close(w.client);
            return true;
        });
    }

    bool join_up(int client) {
        int const server = make_socket();
        if (!connects(server)) return ::close(server), false;
        lines_.push_back({{client, server, false}, {server, client, true}});
        ++connections_;
        was_connected_.notify_all();
        return true;
    }

    /// Begins to connect; false if the target refuses, which loopback tells at once.
    bool connects(int server) const {
        auto const address = loopback(target_);
        (void)::connect(server, reinterpret_cast<sockaddr const*>(&address), sizeof address);
        int error = 0;
        socklen_t size = sizeof error;
        return ::getsockopt(server, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }

    /// Moves all bytes that it can without waiting; false when either side is gone.
    bool move(flow& f, wire w) {
        while (w != wire::held) {
            if (f.on_its_way.empty() || (delay_.count() > 0 && f.size < on_its_way_max)) {
                char bytes[65536];
                auto const n = ::recv(f.from, bytes, sizeof bytes, 0);
                if (n == 0) return false;
                if (n < 0 && !is_patient()) return false;
                if (n < 0 && f.on_its_way.empty()) return true;
                if (n > 0 && w == wire::whole) {
                    if (f.has_replies) put_errors(f, bytes, static_cast<std::size_t>(n));
                    f.on_its_way.push_back({clock::now() + delay_, {bytes, static_cast<std::size_t>(n)}});
                    f.size += static_cast<std::size_t>(n);
                }
            }
            while (!f.on_its_way.empty()) {
                auto& [due, bytes] = f.on_its_way.front();
                if (due > clock::now()) return true;
                auto const n = ::send(f.to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
                if (n < 0) return is_patient();
                bytes.erase(0, static_cast<std::size_t>(n));
                bytes_ += static_cast<std::uint64_t>(n);
                f.size -= static_cast<std::size_t>(n);
                if (bytes.empty()) f.on_its_way.pop_front();
            }
        }
        return true;
    }
    /// Each frame is its length, and a header of xid, zxid and error. The server writes the header at once.
    void put_errors(flow& f, char* bytes, std::size_t size) {
        for (std::size_t at = 0; at < size;) {
            auto const passed = std::min(f.frame_left, size - at);
            f.frame_left -= passed;
            at += passed;
            if (at + 4 > size) return;
            f.frame_left = 4 + static_cast<std::size_t>(number_at(bytes + at));
            bool const is_reply = f.has_begun && at + 20 <= size && number_at(bytes + at + 4) > 0; // no ping, no event
            f.has_begun = true;
            if (!is_reply || errors_left_ == 0) continue;
            --errors_left_;
            auto const code = htonl(static_cast<std::uint32_t>(error_));
            std::memcpy(bytes + at + 16, &code, sizeof code);
        }
    }
    static std::int32_t number_at(char const* bytes) {
        std::uint32_t number = 0;
        std::memcpy(&number, bytes, sizeof number);
        return static_cast<std::int32_t>(ntohl(number));
    }

    static bool is_patient() {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOTCONN || errno == EINPROGRESS;
    }

    static constexpr std::chrono::milliseconds between_attempts{20};

    std::uint16_t const target_;
    std::chrono::milliseconds const patience_;
    std::uint16_t port_ = 0;
    int listener_ = -1;
    int wake_[2] = {-1, -1};
    std::mutex mutex_;
    std::condition_variable was_connected_;
    std::size_t connections_ = 0;
    std::atomic<std::uint64_t> bytes_{0};
    bool closing_ = false;
    wire requests_ = wire::whole;
    wire replies_ = wire::whole;
    std::chrono::milliseconds delay_{0};
    std::int32_t error_ = 0; ///< of the next `errors_left_` replies
    std::size_t errors_left_ = 0;
    std::list<waiting> waiting_; ///< clients for whom the target has to be connected
    std::list<line> lines_;
    std::thread thread_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_INTEGRATION_ZK_PROXY_HPP
