// SPDX-License-Identifier: Apache-2.0
// As vtable_probe.cpp: what stands on libraries that are no dependency, as far as they are there. Dispatch at run time
// is theirs, if it is.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/events/metrics_events.hpp>
#include <elasticjob/events/sinks.hpp>
#include <elasticjob/events/sql_events.hpp>
#ifdef PROBE_SQLITE
#include <elasticjob/events/sqlite_database.hpp>
#endif
#ifdef PROBE_POSTGRES
#include <elasticjob/events/postgres_database.hpp>
#endif
#ifdef PROBE_HTTP
#include <elasticjob/events/metrics_endpoint.hpp>
#include <elasticjob/execution/http_executor.hpp>
#include <elasticjob/execution/webhook.hpp>
#endif

using namespace elasticjob;

template <class Executor, class Handlers, class Body>
bool use_sinks(Handlers handlers, Body body) {
    Sinks all{NoEvents{}
#ifdef PROBE_SQLITE
              ,
              SqlEvents{SqliteDatabase{"probe.db"}}
#endif
#ifdef PROBE_POSTGRES
              ,
              SqlEvents{PostgresDatabase{"dbname=probe"}}
#endif
    };
    MemoryRegistry memory;
    job_scheduler<MemoryRegistry, AverageAllocation, Executor, decltype(all), Handlers> scheduler{
        memory, {}, std::move(all), std::move(handlers)};
    return scheduler.schedule({.name = "probe", .cron = "0/5 * * * * ?"}, std::move(body)).has_value();
}

int main() {
#ifdef PROBE_HTTP
    auto const request = http_request::make("http://127.0.0.1/");
    auto hook = Webhook<>::start(*request);
    auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
    return hook && endpoint && use_sinks<HttpExecutor>(ErrorHandlers{*std::move(hook)}, *request) ? 0 : 1;
#else
    return use_sinks<SimpleExecutor>(ErrorHandlers{LogErrors{}}, [] {}) ? 0 : 1;
#endif
}
