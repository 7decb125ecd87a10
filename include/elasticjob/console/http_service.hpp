// SPDX-License-Identifier: Apache-2.0
/// \file \brief Serves the console over HTTP: one thread for all connections, a few that answer. Needs the headers of
/// Boost.Beast.
#ifndef ELASTICJOB_CONSOLE_HTTP_SERVICE_HPP
#define ELASTICJOB_CONSOLE_HTTP_SERVICE_HPP

#include <elasticjob/console/api.hpp>
#include <elasticjob/console/asio_step.hpp>
#include <elasticjob/console/browser_rules.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/console/page_reply.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/task.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// One coroutine for each connection, all on one thread; requests are answered by the threads of a pool, because an answer waits
/// for the registry. A connection that follows changes waits on its coroutine only. Threads: `run` on one of its own.
template <registry Registry>
class http_service {
public:
    http_service(std::vector<console_registry<Registry>> registries, std::vector<console_database> databases,
                 zone_ref zone, console_options options)
        : options_{std::move(options)},
          is_local_{is_loopback(options_.address)},
          api_{std::move(registries), std::move(databases), zone, options_},
          pool_{options_.threads} {
        for (auto& site : api_.sites()) site.log.follow(&listener_);
    }
    http_service(http_service const&) = delete;
    http_service& operator=(http_service const&) = delete;

    /// After `stop`, and when `run` has returned. Waits for the answers that are being computed.
    ~http_service() {
        for (auto& site : api_.sites()) site.log.follow(nullptr);
        pool_.stop();
        pool_.join();
        connections_.cancel();
    }

    boost::asio::io_context& context() noexcept { return context_; }

    void run(boost::asio::ip::tcp::acceptor acceptor) {
        connections_.spawn(accept(std::move(acceptor)));
        context_.run();
    }
    void stop() { context_.stop(); }

private:
    using tcp = boost::asio::ip::tcp;
    using stream_type = boost::beast::tcp_stream;
    using parser_type = boost::beast::http::request_parser<boost::beast::http::string_body>;
    using error_code = boost::system::error_code;

    static constexpr std::chrono::seconds ping_interval{15};
    static constexpr std::chrono::hours stream_length_max{
        1}; ///< then the reader comes again, and is asked again who it is

    /// Has the streams woken, once for many changes.
    struct listener : change_listener {
        explicit listener(http_service& s) noexcept : change_listener{&act_on}, service{s} {}
        static void act_on(change_listener& l) noexcept {
            auto& s = static_cast<listener&>(l).service;
            if (!s.is_told_.exchange(true)) boost::asio::post(s.context_, [&s] { s.wake_streams(); });
        }
        http_service& service;
    };

    /// What the other side of a stream does, for a read that may outlive it.
    struct stream_end {
        boost::asio::steady_timer* timer; ///< null when the stream is over
        bool is_gone = false;
        std::array<char, 64> ignored{};
    };

    static mono_time now() noexcept { return SystemClock{}.now(); }

    task<void> accept(tcp::acceptor acceptor);
    task<void> serve(tcp::socket socket);
    task<console_reply> answer(console_request const& r);
    task<void> follow(stream_type& stream, console_request const& r, console_site<Registry>& site,
                      console_operator who);
    task<error_code> write(stream_type& stream, console_reply reply, bool has_body, bool keeps_alive);
    void wake_streams();

    /// Nothing in `r` if the request cannot be read; then the reply says why, if it is worth one.
    static std::optional<console_reply> fault_of(error_code failed);
    static result<void> read_request(parser_type const& parser, std::string const& client, console_request& r);
    std::string stream_head() const;
    static std::string events_of(change_log const& log, change_log::news const& news, console_operator const& who);

    console_options const options_;
    bool const is_local_;
    console_api<Registry> api_;
    boost::asio::io_context context_{1};
    boost::asio::thread_pool pool_;
    std::atomic<bool> is_told_{false};
    listener listener_{*this};
    std::list<boost::asio::steady_timer*> waiting_{}; ///< streams
    std::size_t open_ = 0, streams_ = 0, requests_ = 0;
    task_scope connections_{};
};

template <registry Registry>
task<void> http_service<Registry>::accept(tcp::acceptor acceptor) {
    boost::asio::steady_timer rest{context_};
    for (;;) {
        tcp::socket socket{context_};
        if (co_await asio_step([&](auto done) { acceptor.async_accept(socket, std::move(done)); })) {
            // For example, the process is out of descriptors.
            rest.expires_after(std::chrono::milliseconds{100});
            (void)co_await asio_step([&](auto done) { rest.async_wait(std::move(done)); });
            continue;
        }
        if (open_ < options_.connections_max) connections_.spawn(serve(std::move(socket)));
    }
}

template <registry Registry>
task<void> http_service<Registry>::serve(tcp::socket socket) {
    struct counted {
        std::size_t& n;
        explicit counted(std::size_t& of) : n{of} { ++n; }
        ~counted() { --n; }
    };
    counted const one{open_};
    error_code unnamed;
    auto const peer = socket.remote_endpoint(unnamed);
    if (unnamed) co_return;
    auto const client = peer.address().to_string();
    (void)socket.set_option(tcp::no_delay{true}, unnamed);
    stream_type stream{std::move(socket)};
    boost::beast::flat_buffer buffer{options_.head_max + 8'192};
    for (;;) {
        if (buffer.size() == 0) {
            stream.expires_after(options_.idle_timeout);
            std::size_t count = 0;
            if (co_await asio_step([&](auto done) {
                    stream.async_read_some(buffer.prepare(4'096),
                                           [&count, done = std::move(done)](error_code e, std::size_t n) mutable {
                                               count = n;
                                               done(e);
                                           });
                }))
                co_return;
            buffer.commit(count);
        }
        parser_type parser;
        parser.header_limit(static_cast<std::uint32_t>(options_.head_max));
        parser.body_limit(options_.body_max);
        stream.expires_after(options_.read_timeout);
        auto const failed = co_await asio_step(
            [&](auto done) { boost::beast::http::async_read(stream, buffer, parser, std::move(done)); });
        if (failed) {
            if (auto reply = fault_of(failed)) (void)co_await write(stream, *std::move(reply), true, false);
            co_return;
        }
        console_request r;
        auto const is_read = read_request(parser, client, r);
        bool const keeps_alive = parser.keep_alive();
        console_reply reply;
        if (auto refused = is_read ? find_intrusion(r, options_.host_names, is_local_) : problem(is_read.error())) {
            reply = *std::move(refused);
        } else if (auto* const site = api_.find_stream(r)) {
            auto who = api_.gate().identify(r, now());
            if (!who) {
                reply = problem(who.error(), 401);
            } else if (streams_ >= options_.streams_max) {
                reply = problem({errc::overloaded, "too many readers follow changes: try again later"});
            } else {
                counted const followed{streams_};
                co_await follow(stream, r, *site, *std::move(who));
                co_return;
            }
        } else {
            reply = co_await answer(r);
        }
        if (co_await write(stream, std::move(reply), r.method != "HEAD", keeps_alive) || !keeps_alive) break;
    }
    // Closing a connection with unread input would discard the answer.
    stream.socket().shutdown(tcp::socket::shutdown_send, unnamed);
    stream.expires_after(std::chrono::seconds{1});
    for (std::size_t drained = 0; drained < 65'536;) {
        std::size_t count = 0;
        std::array<char, 1'024> part;
        if (co_await asio_step([&](auto done) {
                stream.async_read_some(boost::asio::buffer(part),
                                       [&count, done = std::move(done)](error_code e, std::size_t n) mutable {
                                           count = n;
                                           done(e);
                                       });
            }))
            break;
        drained += count;
    }
}

template <registry Registry>
std::optional<console_reply> http_service<Registry>::fault_of(error_code failed) {
    namespace http = boost::beast::http;
    if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
        return problem({errc::too_large, "the head of the request is too long"}, 431);
    if (failed == http::error::body_limit)
        return problem({errc::too_large, "the body of the request is too long"}, 413);
    bool const is_of_http = failed.category() == make_error_code(http::error::bad_version).category();
    if (!is_of_http || failed == http::error::end_of_stream || failed == http::error::partial_message)
        return std::nullopt;
    return problem({errc::invalid_argument, "the request cannot be read: " + failed.message()});
}

template <registry Registry>
result<void> http_service<Registry>::read_request(parser_type const& parser, std::string const& client,
                                                  console_request& r) {
    auto const& message = parser.get();
    auto const text = [](boost::beast::string_view s) { return std::string{s.data(), s.size()}; };
    r.method = text(message.method_string());
    r.client = client;
    r.body = message.body();
    for (auto const& field : message) {
        auto name = text(field.name_string());
        for (auto& c : name)
            if ('A' <= c && c <= 'Z') c = static_cast<char>(c | 0x20);
        r.headers.emplace_back(std::move(name), text(field.value()));
    }
    return read_target(text(message.target()), r);
}

template <registry Registry>
task<console_reply> http_service<Registry>::answer(console_request const& r) {
    if (r.path.empty() || r.path.front() != "api") co_return page_reply(r);
    if (requests_ >= options_.requests_max)
        co_return problem({errc::overloaded, "the console has too much to do: try again later"});
    ++requests_;
    auto reply = co_await pool_step(pool_, context_, [this, &r] {
        console_reply made;
        auto const done = guarded_call([&] { made = api_.answer(r, now()); });
        return done ? std::move(made) : problem(done.error());
    });
    --requests_;
    co_return reply;
}

template <registry Registry>
task<boost::system::error_code> http_service<Registry>::write(stream_type& stream, console_reply reply, bool has_body,
                                                              bool keeps_alive) {
    namespace http = boost::beast::http;
    add_browser_headers(reply);
    http::response<http::string_body> response;
    response.version(11);
    response.result(static_cast<unsigned>(reply.status));
    for (auto const& [name, value] : reply.headers) response.set(name, value);
    response.keep_alive(keeps_alive);
    if (reply.status != 304) {
        response.set(http::field::content_type, reply.content_type);
        response.content_length(reply.body.size());
        if (has_body) response.body() = std::move(reply.body);
    }
    stream.expires_after(options_.write_timeout);
    http::response_serializer<http::string_body> serializer{response};
    if (!has_body) {
        serializer.split(true);
        co_return co_await asio_step([&](auto done) { http::async_write_header(stream, serializer, std::move(done)); });
    }
    co_return co_await asio_step([&](auto done) { http::async_write(stream, serializer, std::move(done)); });
}

template <registry Registry>
std::string http_service<Registry>::stream_head() const {
    console_reply reply{200, "text/event-stream"};
    add_browser_headers(reply);
    std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n";
    for (auto const& [name, value] : reply.headers) head.append(name).append(": ").append(value).append("\r\n");
    return head + "\r\nretry: 2000\n\n";
}

template <registry Registry>
std::string http_service<Registry>::events_of(change_log const& log, change_log::news const& news,
                                              console_operator const& who) {
    auto const id = "id: " + log.id_of(news.last) + "\n";
    if (news.is_reset) return id + "event: reset\ndata: {}\n\n";
    std::string text;
    for (auto const& job : news.jobs)
        if (who.rights.in_job(job) >= console_role::viewer)
            text += id + "event: job\ndata: " + json_writer{}.member("job", job).finish() + "\n\n";
    return text;
}

template <registry Registry>
task<void> http_service<Registry>::follow(stream_type& stream, console_request const& r, console_site<Registry>& site,
                                          console_operator who) {
    boost::asio::steady_timer timer{context_};
    auto const end = std::make_shared<stream_end>(stream_end{&timer});
    struct at_end {
        stream_end& e;
        ~at_end() { e.timer = nullptr; }
    } const over{*end};
    stream.expires_never();
    stream.socket().async_read_some(boost::asio::buffer(end->ignored), [end](error_code, std::size_t) {
        end->is_gone = true; // nobody has anything to say on a stream
        if (end->timer) end->timer->cancel();
    });

    auto const id = r.header("last-event-id");
    auto seen = id.empty() ? site.log.last() : site.log.number_of(id);
    auto text = stream_head();
    site.index.keep();
    auto const until = now() + stream_length_max;
    while (!end->is_gone && now() < until) {
        if (!text.empty()) {
            boost::asio::steady_timer limit{context_};
            limit.expires_after(options_.write_timeout);
            limit.async_wait([end, &stream](error_code cancelled) {
                if (!cancelled && end->timer) stream.cancel();
            });
            auto const failed = co_await asio_step([&](auto done) {
                boost::asio::async_write(stream.socket(), boost::asio::buffer(text), std::move(done));
            });
            if (failed) co_return;
        }
        auto news = site.log.after(seen);
        if (news.last == seen) {
            timer.expires_after(ping_interval);
            auto const place = waiting_.insert(waiting_.end(), &timer);
            (void)co_await asio_step([&](auto done) { timer.async_wait(std::move(done)); });
            waiting_.erase(place);
            site.index.keep();
            news = site.log.after(seen);
        }
        text = news.last == seen ? ": still here\n\n" : events_of(site.log, news, who);
        seen = news.last;
    }
}

template <registry Registry>
void http_service<Registry>::wake_streams() {
    is_told_ = false;
    for (auto* const timer : waiting_) timer->cancel();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CONSOLE_HTTP_SERVICE_HPP
