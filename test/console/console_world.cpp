// SPDX-License-Identifier: Apache-2.0
#include <console/console_world.hpp>

#include <elasticjob/console/api.hpp>
#include <elasticjob/cron/time_zone.hpp>

#include <doctest/doctest.h>
#include <rapidjson/pointer.h>

namespace elasticjob::test {

struct console_world::interface {
    interface(cluster& c, std::vector<console_database> databases, console_options const& options)
        : api{{{"main", "billing", c.by_hand}}, std::move(databases), zone, options} {}
    UtcZone zone{};
    detail::console_api<virtual_loop> api;
};

std::string told::at(char const* pointer) const {
    auto const* const v = rapidjson::Pointer{pointer}.Get(json);
    REQUIRE_MESSAGE(v, (std::string{pointer} + " in " + body));
    if (v->IsString()) return v->GetString();
    if (v->IsBool()) return v->GetBool() ? "true" : "false";
    return v->IsInt64() ? std::to_string(v->GetInt64()) : "?";
}

std::size_t told::rows() const {
    REQUIRE_MESSAGE((json.IsObject() && json.HasMember("rows")), body);
    return json["rows"].Size();
}

console_world::console_world(std::vector<console_database> databases, bool has_job) {
    options.local_operator = "ann";
    interface_ = std::make_unique<interface>(c, std::move(databases), options);
    if (has_job) REQUIRE(m.schedule(make_job("settle", "0 0 * * * ?", 2)));
    c.run_for(1s);
}

console_world::~console_world() = default;

told console_world::send_to(std::string_view method, std::string const& target, std::string body,
                            detail::text_pairs headers) {
    detail::console_request r;
    r.method = method;
    r.body = std::move(body);
    r.headers = std::move(headers);
    r.client = "127.0.0.1";
    REQUIRE(detail::read_target(target, r));
    auto reply = interface_->api.answer(r, c.loop.now());
    told t{reply.status, std::move(reply.content_type), std::move(reply.body), std::move(reply.headers)};
    t.json.Parse(t.body.c_str(), t.body.size());
    CHECK_MESSAGE((t.body.empty() || !t.json.HasParseError()), t.body);
    return t;
}

std::vector<route> console_world::routes() const { return routes_of(interface_->api); }

std::vector<detail::console_route_shape> console_world::java_routes() {
    auto const& all = detail::java_routes<virtual_loop>();
    return {all.begin(), all.end()};
}

std::vector<std::string> console_world::changes(std::uint64_t since) const {
    return interface_->api.sites().front().log.after(since).jobs;
}
std::uint64_t console_world::last_change() const { return interface_->api.sites().front().log.last(); }

} // namespace elasticjob::test
