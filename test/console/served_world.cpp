// SPDX-License-Identifier: Apache-2.0
#include <console/served_world.hpp>

#include <elasticjob/console/api.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/operations/switches.hpp>

#include <doctest/doctest.h>

namespace elasticjob::test {

served_world::served_world(console_options options) {
    job_config config;
    config.name = "settle";
    config.cron = "0 0 0 1 1 ? 2099";
    REQUIRE(add_job(registry, config));
    auto started = console_server::start({{"main", "", registry}}, std::move(options));
    REQUIRE_MESSAGE(started, (started ? "" : to_string(started.error())));
    server_.emplace(*std::move(started));
}

error served_world::refusal(console_options options) {
    MemoryRegistry registry;
    auto const started = console_server::start({{"main", "", registry}}, std::move(options));
    REQUIRE_FALSE(started);
    return started.error();
}

void served_world::change() { REQUIRE(switch_item(registry, "settle", 0, switched::off, {"ann"})); }

std::vector<route> served_world::routes() const {
    console_options const options;
    UtcZone zone;
    MemoryRegistry empty;
    return routes_of(detail::console_api<event_loop>{{{"main", "", empty}}, {}, zone, options});
}

} // namespace elasticjob::test
