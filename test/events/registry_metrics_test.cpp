// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/registry_metrics.hpp>

#include <elasticjob/events/metrics_events.hpp>

#include <events/kinds.hpp>
#include <events/openmetrics_parser.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

TEST_CASE("events.registry_metrics: counts requests by operation and outcome, and measures their durations") {
    RegistryMetrics const m{{.duration_buckets = {0.5, 2}}};
    auto const registry_s = m;
    registry_s({registry_operation::get, "success", 100ms});
    registry_s({registry_operation::get, "no_node", 1s});
    registry_s({registry_operation::get, "no_node", 3s});
    registry_s({registry_operation::commit, "refused", -1s});
    auto const e = exposition::parse(expose(m));
    CHECK(e.types.size() == 2);
    CHECK(e.at("elasticjob_registry_requests_total{operation=\"get\",outcome=\"success\"}") == 1);
    CHECK(e.at("elasticjob_registry_requests_total{operation=\"get\",outcome=\"no_node\"}") == 2);
    CHECK(e.at("elasticjob_registry_requests_total{operation=\"commit\",outcome=\"refused\"}") == 1);
    auto const of_get = [&](std::string const& what) {
        return e.at("elasticjob_registry_request_duration_seconds" + what);
    };
    CHECK(of_get("_bucket{operation=\"get\",le=\"0.5\"}") == 1);
    CHECK(of_get("_bucket{operation=\"get\",le=\"2.0\"}") == 2);
    CHECK(of_get("_bucket{operation=\"get\",le=\"+Inf\"}") == 3);
    CHECK(of_get("_count{operation=\"get\"}") == 3);
    CHECK(of_get("_sum{operation=\"get\"}") == doctest::Approx(4.1));
    CHECK(of_get("_sum{operation=\"commit\"}") == 0);
    CHECK(of_get("_count{operation=\"set\"}") == -1); // not used yet
}

TEST_CASE("events.metrics_source: several sources form one exposition") {
    happenings const h;
    MetricsEvents const events;
    RegistryMetrics const requests;
    events(h.started());
    requests({registry_operation::set, "success", 1ms});
    AllMetrics const all{events, requests};
    auto const e = exposition::parse(expose(all));
    CHECK(e.types.size() == exposition::parse(expose(events)).types.size() + 2);
    CHECK(e.at("elasticjob_runs_started_total{job=\"settle\",source=\"schedule\"}") == 1);
    CHECK(e.at("elasticjob_registry_requests_total{operation=\"set\",outcome=\"success\"}") == 1);
    requests({registry_operation::set, "success", 1ms}); // a copy shares the numbers
    CHECK(exposition::parse(expose(all)).at("elasticjob_registry_requests_total{operation=\"set\",outcome=\"success\"}") == 2);
}

TEST_CASE("events.registry_metrics: can be read from another thread while it counts requests") {
    RegistryMetrics const m;
    std::thread loop{[m] {
        for (int i = 0; i != 1000; ++i) m({registry_operation::exists, i % 2 ? "success" : "not_sent", 1ms});
    }};
    for (int i = 0; i != 20; ++i) (void)exposition::parse(expose(m));
    loop.join();
    CHECK(exposition::parse(expose(m)).at("elasticjob_registry_requests_total{operation=\"exists\",outcome=\"success\"}") == 500);
}
