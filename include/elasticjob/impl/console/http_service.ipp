// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_HTTP_SERVICE_IPP
#define ELASTICJOB_IMPL_CONSOLE_HTTP_SERVICE_IPP

#include <elasticjob/console/asio_step.hpp>
#include <elasticjob/console/browser_rules.hpp>
#include <elasticjob/console/http_service.hpp>
#include <elasticjob/console/page_reply.hpp>
#include <elasticjob/core/guarded_call.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <utility>

// g++ takes this file for a header that others could include, so it warns of the lambdas in the frames of coroutines.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace elasticjob::detail {

ELASTICJOB_DECL http_service::http_service(std::vector<console_registry> registries,
                                           std::vector<console_database> databases, zone_ref zone,
                                           console_options options, std::optional<console_certificate> certificate)
    : options_{std::move(options)},
      certificate_{std::move(certificate)},
      api_{std::move(registries), std::move(databases), zone, options_},
      own_lane_{options_.threads} {
    if (options_.authentication == console_authentication::oidc) sign_in_lane_.emplace(sign_in_threads);
    for (auto& site : api_.sites()) {
        site_lanes_.emplace_back(options_.threads);
        site.log.follow(&listener_);
    }
}

ELASTICJOB_DECL http_service::~http_service() {
    for (auto& site : api_.sites()) site.log.follow(nullptr);
    api_.gate().stop();
    std::vector<boost::asio::thread_pool*> pools{&own_lane_.pool};
    for (auto& of_site : site_lanes_) pools.push_back(&of_site.pool);
    if (sign_in_lane_) pools.push_back(&sign_in_lane_->pool);
    for (auto* pool : pools) pool->stop();
    for (auto* pool : pools) pool->join();
    connections_.cancel();
}

ELASTICJOB_DECL void http_service::run(tcp::acceptor acceptor) {
    connections_.spawn(accept(std::move(acceptor)));
    context_.run();
}

ELASTICJOB_DECL void http_service::listener::act_on(log_listener& l) noexcept {
    auto& s = static_cast<listener&>(l).service;
    if (!s.is_told_.exchange(true)) boost::asio::post(s.context_, [&s] { s.wake_streams(); });
}

ELASTICJOB_DECL task<void> http_service::accept(tcp::acceptor acceptor) {
    boost::asio::steady_timer rest{context_};
    for (;;) {
        tcp::socket socket{context_};
        if (co_await asio_step([&](auto done) { acceptor.async_accept(socket, std::move(done)); })) {
            // For example, the process has no descriptor left.
            rest.expires_after(std::chrono::milliseconds{100});
            (void)co_await asio_step([&](auto done) { rest.async_wait(std::move(done)); });
            continue;
        }
        if (open_ < options_.connections_max) connections_.spawn(serve(std::move(socket)));
    }
}

ELASTICJOB_DECL task<void> http_service::serve(tcp::socket socket) {
    struct counted {
        std::size_t& n;
        explicit counted(std::size_t& of) : n{of} { ++n; }
        ~counted() { --n; }
    };
    counted const one{open_};
    error_code unnamed;
    auto const peer = socket.remote_endpoint(unnamed);
    if (unnamed) co_return;
    (void)socket.set_option(tcp::no_delay{true}, unnamed);
    console_connection client{context_, std::move(socket), peer.address().to_string(),
                              certificate_ ? &*certificate_ : nullptr, options_};
    if (!co_await client.begin()) co_return;
    for (bool keeps_alive = true; keeps_alive;) {
        auto const next = co_await client.read();
        if (!next) co_return;
        keeps_alive = next->keeps_alive;
        auto const& r = next->request;
        console_reply reply;
        if (next->refused) {
            reply = *next->refused;
        } else if (auto* const site = api_.find_stream(r)) {
            auto who = api_.gate().identify(r, now());
            if (!who) {
                reply = problem(who.error(), 401);
            } else if (who->rights.somewhere() < console_role::viewer) {
                reply = problem(lacks_role(who->name, console_role::viewer), 403);
            } else if (streams_ >= options_.streams_max) {
                reply = problem({errc::overloaded, "too many readers follow changes: try again later"});
            } else {
                counted const followed{streams_};
                co_await follow(client, r, *site, *std::move(who));
                co_return;
            }
        } else {
            reply = co_await answer(r);
        }
        if (!co_await client.write(std::move(reply), next->has_body, keeps_alive)) co_return;
    }
    co_await client.end();
}

ELASTICJOB_DECL task<console_reply> http_service::answer(console_request const& r) {
    if (sign_in_lane_ && api_.gate().takes(r, now())) {
        auto const make = [this, &r] { return api_.gate().answer_browser(r, now()); };
        co_return co_await answer_on(*sign_in_lane_, sign_ins_max, make);
    }
    if (r.path.empty() || r.path.front() != "api") co_return page_reply(r);
    auto const make = [this, &r] { return api_.answer(r, now()); };
    auto const site = api_.site_of(r);
    co_return co_await answer_on(site ? site_lanes_[*site] : own_lane_, options_.requests_max, make);
}

/// Calls `make` on a thread of the lane, unless it has `requests_max` requests already.
template <class Make>
task<console_reply> http_service::answer_on(lane& l, std::size_t requests_max, Make make) {
    if (l.requests >= requests_max)
        co_return problem({errc::overloaded, "the console has too much to do: try again later"});
    ++l.requests;
    auto reply = co_await pool_step(l.pool, context_, [&make] {
        console_reply made;
        auto const done = guarded_call([&] { made = make(); });
        return done ? std::move(made) : problem(done.error());
    });
    --l.requests;
    co_return reply;
}

ELASTICJOB_DECL std::string http_service::stream_head() const {
    console_reply reply{200, "text/event-stream"};
    add_browser_headers(reply, options_.is_secured());
    std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n";
    for (auto const& [name, value] : reply.headers) head.append(name).append(": ").append(value).append("\r\n");
    return head + "\r\nretry: 2000\n\n";
}

ELASTICJOB_DECL std::string http_service::events_of(change_log const& log, change_log::news const& news,
                                                    console_operator const& who) {
    auto const id = "id: " + log.id_of(news.last) + "\n";
    if (news.is_reset) return id + "event: reset\ndata: {}\n\n";
    std::string text;
    for (auto const& job : news.jobs)
        if (who.rights.in_job(job) >= console_role::viewer)
            text += id + "event: job\ndata: " + json_writer{}.member("job", job).finish() + "\n\n";
    return text;
}

ELASTICJOB_DECL task<void> http_service::follow(console_connection& client, console_request const& r,
                                                console_site<event_loop>& site, console_operator who) {
    client.begin_stream();
    auto const id = r.header("last-event-id").empty() ? r.parameter("after") : r.header("last-event-id");
    auto seen = id.empty() ? site.log.last() : site.log.number_of(id);
    auto text = stream_head();
    site.index.keep();
    auto const until = now() + stream_length_max;
    while (!client.is_gone() && now() < until) {
        if (!text.empty()) {
            bool const is_sent = co_await client.send(text);
            if (!is_sent) co_return;
        }
        auto news = site.log.after(seen);
        if (news.last == seen) {
            auto const place = waiting_.insert(waiting_.end(), &client);
            co_await client.wait(ping_interval);
            waiting_.erase(place);
            site.index.keep();
            news = site.log.after(seen);
        }
        // The session may have ended meanwhile.
        auto still = api_.gate().identify(r, now());
        if (!still || still->rights.somewhere() < console_role::viewer) co_return;
        who = *std::move(still);
        text = news.last == seen ? ": still here\n\n" : events_of(site.log, news, who);
        seen = news.last;
    }
}

ELASTICJOB_DECL void http_service::wake_streams() {
    is_told_ = false;
    for (auto* const client : waiting_) client->wake();
}

} // namespace elasticjob::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif // ELASTICJOB_IMPL_CONSOLE_HTTP_SERVICE_IPP
