// SPDX-License-Identifier: Apache-2.0
/// \file \brief The interface of the console, `/api/v1`: from a request to its answer, without a network.
#ifndef ELASTICJOB_CONSOLE_API_HPP
#define ELASTICJOB_CONSOLE_API_HPP

#include <elasticjob/console/database_routes.hpp>
#include <elasticjob/console/gate.hpp>
#include <elasticjob/console/item_routes.hpp>
#include <elasticjob/console/java_routes.hpp>
#include <elasticjob/console/job_routes.hpp>
#include <elasticjob/console/list_routes.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/console/server_routes.hpp>
#include <elasticjob/console/site.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The routes of the server itself: the operator, and cron expressions.
console_reply show_operator(console_options const& o, console_call const& c);
console_reply show_cron(console_call const& c, wall_time now, zone_ref zone);

/// The answer if no route fits the path and the method: 405 with the methods that the path has, or 404.
console_reply no_route(std::vector<std::string_view> const& methods);

/// Answers requests below `/api/`. `Loop`: that of all its registries. Threads: any but the registries' loops.
template <loop Loop>
class console_api {
public:
    console_api(std::vector<basic_console_registry<Loop>> registries, std::vector<console_database> databases,
                zone_ref zone, console_options const& options);

    console_gate& gate() noexcept { return gate_; }
    std::deque<console_site<Loop>>& sites() noexcept { return sites_; }
    std::vector<site_route<Loop>> const& routes() const noexcept { return routes_; }

    /// A route below `api/v1/` that belongs to no registry.
    struct own_route : console_route_shape {
        console_reply (*answer)(console_api&, console_call const&);
    };
    static std::vector<own_route> const& own_routes();

    /// The registry whose changes `GET …/stream` follows; null for any other path.
    console_site<Loop>* find_stream(console_request const& r) {
        auto const at = match_pattern("api/v1/registries/{registry}/stream", r.path);
        return at && r.method == "GET" ? find_site(find_text(*at, "registry")) : nullptr;
    }

    /// The number of the registry of which the request asks, in the order of `sites`; nothing for other requests.
    std::optional<std::size_t> site_of(console_request const& r) const;

    /// Answers a request to `/api/…`. Refuses everything that no route permits.
    console_reply answer(console_request const& r, mono_time now);

private:
    std::optional<std::size_t> number_of(std::string_view site) const;
    console_site<Loop>* find_site(std::string_view name) {
        auto const number = number_of(name);
        return number ? &sites_[*number] : nullptr;
    }
    console_reply show_registries();
    console_reply answer_operator(console_request const& r, console_operator const& who);

    console_options const& options_;
    std::vector<console_database> databases_;
    zone_ref zone_;
    console_gate gate_;
    std::deque<console_site<Loop>> sites_;
    std::vector<site_route<Loop>> routes_;
};

/// Takes the first route that matches the path and the method. Adds the methods of all routes that match the path to
/// `methods`. `begin` is the common beginning of the patterns.
template <class Route, class Answer>
std::optional<console_reply> take_route(std::string const& begin, std::vector<Route> const& routes, console_call& c,
                                        std::vector<std::string_view>& methods, Answer answer) {
    auto const& r = c.request;
    for (auto const& route : routes) {
        auto found = match_pattern(begin + std::string{route.pattern}, r.path);
        if (!found) continue;
        methods.push_back(route.method);
        if (r.method != route.method && !(r.method == "HEAD" && route.method == "GET")) continue;
        c.parameters = *std::move(found);
        if (!c.is_allowed(route)) return problem(lacks_role(c.by_whom.name, route.least), 403);
        if (auto const checked = c.check_query(); !checked) return problem(checked.error());
        console_reply reply = answer(route);
        c.tell_key(reply);
        return reply;
    }
    return std::nullopt;
}

template <loop Loop>
console_api<Loop>::console_api(std::vector<basic_console_registry<Loop>> registries,
                               std::vector<console_database> databases, zone_ref zone, console_options const& options)
    : options_{options},
      databases_{std::move(databases)},
      zone_{zone},
      gate_{options} {
    for (auto& r : registries) sites_.emplace_back(std::move(r), zone, options.strategies);
    for (auto const part : {&job_routes<Loop>, &item_routes<Loop>, &server_routes<Loop>, &list_routes<Loop>})
        for (auto const& route : part()) routes_.push_back(route);
}

template <loop Loop>
std::optional<std::size_t> console_api<Loop>::number_of(std::string_view site) const {
    for (std::size_t i = 0; i < sites_.size(); ++i)
        if (sites_[i].name == site) return i;
    return std::nullopt;
}

template <loop Loop>
std::optional<std::size_t> console_api<Loop>::site_of(console_request const& r) const {
    if (r.path.size() < 2) return std::nullopt;
    if (r.path[1] != "v1") return options_.has_java_interface ? std::optional<std::size_t>{0} : std::nullopt;
    bool const is_of_one = r.path.size() > 4 && r.path[2] == "registries";
    return is_of_one ? number_of(r.path[3]) : std::nullopt;
}

template <loop Loop>
console_reply console_api<Loop>::answer(console_request const& r, mono_time now) {
    bool const is_session = match_pattern("api/v1/session", r.path).has_value();
    if (is_session && r.method == "POST") return gate_.sign_in(r, now);
    auto const who = gate_.identify(r, now);
    if (!who) return problem(who.error(), 401);
    if (is_session && r.method == "DELETE") return gate_.sign_out(r);
    return answer_operator(r, *who);
}

template <loop Loop>
auto console_api<Loop>::own_routes() -> std::vector<own_route> const& {
    static std::vector<own_route> const all{
        {{"GET", "me", console_role::viewer},
         +[](console_api& a, console_call const& c) { return show_operator(a.options_, c); }},
        {{"GET", "registries", console_role::viewer},
         +[](console_api& a, console_call const&) { return a.show_registries(); }},
        {{"GET", "cron", console_role::viewer},
         +[](console_api& a, console_call const& c) { return show_cron(c, SystemClock{}.wall_now(), a.zone_); }},
    };
    return all;
}

template <loop Loop>
console_reply console_api<Loop>::answer_operator(console_request const& r, console_operator const& who) {
    console_call c{r, who, {}, make_key_for(r)};
    std::vector<std::string_view> methods;
    if (auto done =
            take_route("api/v1/", own_routes(), c, methods, [&](auto const& route) { return route.answer(*this, c); }))
        return *std::move(done);
    auto const in_site = [&](auto const& route) {
        auto* const site = find_site(c["registry"]);
        if (!site)
            return problem({errc::no_node, "the console has no registry of that name", std::string{c["registry"]}});
        auto const seen = site->log.id_of(site->log.last()); // the stream reports changes during the read
        auto reply = route.answer(*site, c);
        reply.headers.emplace_back("Elasticjob-Change", seen);
        return reply;
    };
    if (auto done = take_route("api/v1/registries/{registry}/", routes_, c, methods, in_site)) return *std::move(done);
    auto const in_database = [&](auto const& route) {
        for (auto const& d : databases_)
            if (d.name() == c["database"]) return route.answer(d, c);
        return problem({errc::no_node, "the console has no database of that name", std::string{c["database"]}});
    };
    if (auto done = take_route("api/v1/databases/{database}/", database_routes(), c, methods, in_database))
        return *std::move(done);
    if (options_.has_java_interface) {
        java_console<Loop> const java{sites_.front(), databases_.empty() ? nullptr : &databases_.front()};
        auto const in_java = [&](auto const& route) { return route.answer(java, c); };
        if (auto done = take_route("api/", java_routes<Loop>(), c, methods, in_java)) return *std::move(done);
    }
    return no_route(methods);
}

template <loop Loop>
console_reply console_api<Loop>::show_registries() {
    json_writer out;
    out.open_list("registries");
    for (auto& s : sites_) {
        auto const ask = [](registry_ref<Loop>& r) -> task<result<bool>> {
            co_return r.session().state == session_state::connected;
        };
        auto const is_connected = wait_within(s.registry.loop(), std::chrono::seconds{2}, ask(s.registry));
        out.open().member("name", s.name).member("name_space", s.name_space);
        out.member("is_connected", is_connected && *is_connected).close();
    }
    out.close().open_list("databases");
    for (auto const& d : databases_) out.element(d.name());
    return json_reply(out.close().finish());
}

#if defined(ELASTICJOB_COMPILED)
extern template class console_api<event_loop>; // src_console.hpp defines it
#endif

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/api.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_API_HPP
