// SPDX-License-Identifier: Apache-2.0
/// \file \brief A web server on loopback. It is cpp-httplib's, which the library itself does not use.
#ifndef ELASTICJOB_TEST_SUPPORT_WEB_SERVER_HPP
#define ELASTICJOB_TEST_SUPPORT_WEB_SERVER_HPP

#include <doctest/doctest.h>

#include <httplib.h>

#include <string>
#include <thread>

namespace elasticjob::test {

/// Listens from its construction to its destruction.
template <class Server = httplib::Server>
class web_server {
public:
    /// `set_up(server)` defines its responses.
    template <class F, class... Args>
    explicit web_server(F set_up, Args const&... args) : server_{args...} {
        set_up(server_);
        port_ = server_.bind_to_any_port("127.0.0.1");
        REQUIRE(port_ > 0);
        thread_ = std::thread{[this] { server_.listen_after_bind(); }};
        while (!server_.is_running()) std::this_thread::yield();
    }
    web_server(web_server const&) = delete;
    web_server& operator=(web_server const&) = delete;
    ~web_server() {
        server_.stop();
        thread_.join();
    }

    std::string url(std::string const& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
    int port() const { return port_; }

private:
    Server server_;
    int port_ = 0;
    std::thread thread_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_WEB_SERVER_HPP
