// SPDX-License-Identifier: Apache-2.0
/// \file \brief Serves the console over HTTP, with TLS if it has a certificate: one thread for all connections, and a
/// few threads that answer. Needs the headers of Boost.Beast.
#ifndef ELASTICJOB_CONSOLE_HTTP_SERVICE_HPP
#define ELASTICJOB_CONSOLE_HTTP_SERVICE_HPP

#include <elasticjob/console/api.hpp>
#include <elasticjob/console/certificate.hpp>
#include <elasticjob/console/connection.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/task.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob::detail {

/// One coroutine for each connection, all on one thread. The threads of a pool answer the requests, because an answer
/// waits for the registry. A connection that follows changes uses only its coroutine while it waits. Threads: `run` on
/// one of its own.
class http_service {
public:
    http_service(std::vector<console_registry> registries, std::vector<console_database> databases, zone_ref zone,
                 console_options options, std::optional<console_certificate> certificate);
    http_service(http_service const&) = delete;
    http_service& operator=(http_service const&) = delete;

    /// Call it after `stop`, when `run` has returned. Waits for the answers that are being computed.
    ~http_service();

    boost::asio::io_context& context() noexcept { return context_; }

    void run(boost::asio::ip::tcp::acceptor acceptor);
    void stop() { context_.stop(); }

private:
    using tcp = boost::asio::ip::tcp;
    using error_code = boost::system::error_code;

    /// Sign-ins wait for the identity provider on threads of their own, so that no other request waits for it.
    static constexpr std::size_t sign_in_threads = 2, sign_ins_max = 16;
    static constexpr std::chrono::seconds ping_interval{15};
    static constexpr std::chrono::hours stream_length_max{1}; ///< then the reader connects and is identified again

    /// Wakes the streams, once for many changes.
    struct listener : log_listener {
        explicit listener(http_service& s) noexcept : log_listener{&act_on}, service{s} {}
        static void act_on(log_listener& l) noexcept;
        http_service& service;
    };

    static mono_time now() noexcept { return SystemClock{}.now(); }

    task<void> accept(tcp::acceptor acceptor);
    task<void> serve(tcp::socket socket);
    /// Threads for requests that have to wait, and the number of requests that they have or that wait for them.
    struct lane {
        explicit lane(std::size_t threads) : pool{threads} {}
        boost::asio::thread_pool pool;
        std::size_t requests = 0;
    };

    task<console_reply> answer(console_request const& r);
    template <class Make>
    task<console_reply> answer_on(lane& l, std::size_t requests_max, Make make);
    task<void> follow(console_connection& client, console_request const& r, console_site<event_loop>& site,
                      console_operator who);
    void wake_streams();

    std::string stream_head() const;
    static std::string events_of(change_log const& log, change_log::news const& news, console_operator const& who);

    console_options const options_;
    std::optional<console_certificate> certificate_; ///< with TLS
    console_api<event_loop> api_;
    boost::asio::io_context context_{1};
    lane own_lane_;
    std::deque<lane> site_lanes_{}; ///< for each registry, because one that does not answer must not hold up the others
    std::optional<lane> sign_in_lane_{};
    std::atomic<bool> is_told_{false};
    listener listener_{*this};
    std::list<console_connection*> waiting_{}; ///< streams without news
    std::size_t open_ = 0, streams_ = 0;
    task_scope connections_{};
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/http_service.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_HTTP_SERVICE_HPP
