// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/trace.hpp>

#include <events/kinds.hpp>

#include <doctest/doctest.h>

#include <cctype>
#include <set>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A tracer's rows, in order.
struct told {
    std::vector<trace::execution_event> runs{};
    std::vector<trace::status_trace_event> states{};
    std::string order{}; ///< x or s for each

    void operator()(trace::execution_event x) {
        order += 'x';
        runs.push_back(std::move(x));
    }
    void operator()(trace::status_trace_event s) {
        order += 's';
        states.push_back(std::move(s));
    }
};
template <class... E>
told trace_of(E const&... e) {
    trace::tracer const trace{"box"};
    told t;
    (trace(e, t), ...);
    return t;
}
bool is_uuid(std::string const& id) {
    if (id.size() != 36 || id[14] != '8' || std::string_view{"89ab"}.find(id[19]) == std::string_view::npos)
        return false;
    for (std::size_t n = 0; n < id.size(); ++n)
        if ((n == 8 || n == 13 || n == 18 || n == 23) ? id[n] != '-'
                                                      : !std::isxdigit(static_cast<unsigned char>(id[n])))
            return false;
    return true;
}

} // namespace

TEST_CASE("events.trace: a run that begins (EV-2, EV-3, EV-5)") {
    happenings const h;
    auto const t = trace_of(h.started());
    CHECK(t.order == "ssx");
    auto const& x = t.runs.at(0);
    CHECK(is_uuid(x.id));
    CHECK(x.hostname == "box");
    CHECK(x.ip == "10.0.0.1");
    CHECK(x.task_id == h.task);
    CHECK(x.job_name == "settle");
    CHECK(x.source == "NORMAL_TRIGGER");
    CHECK(x.sharding_item == 1);
    CHECK(x.start_time == h.begun);
    CHECK_FALSE(x.complete_time);
    CHECK_FALSE(x.is_success);
    CHECK(x.failure_cause.empty());

    for (auto const& s : t.states) {
        CHECK(is_uuid(s.id));
        CHECK(s.job_name == "settle");
        CHECK(s.original_task_id.empty());
        CHECK(s.task_id == h.task);
        CHECK(s.slave_id == "10.0.0.1");
        CHECK(s.source == "LITE_EXECUTOR");
        CHECK(s.execution_type == "READY");
        CHECK(s.sharding_items == "[1]");
        CHECK(s.creation_time == h.begun);
    }
    CHECK(t.states.at(0).state == "TASK_STAGING");
    CHECK(t.states[0].message == "Job 'settle' execute begin.");
    CHECK(t.states[1].state == "TASK_RUNNING");
    CHECK(t.states[1].message.empty());
}

TEST_CASE("events.trace: the end of a run has the id and the start of its beginning") {
    happenings const h;
    auto const begun = trace_of(h.started()).runs.at(0);
    auto const good = trace_of(h.succeeded());
    CHECK(good.order == "xs");
    CHECK(good.runs[0].id == begun.id);
    CHECK(good.runs[0].start_time == begun.start_time);
    CHECK(good.runs[0].complete_time == h.ended);
    CHECK(good.runs[0].is_success);
    CHECK(good.runs[0].failure_cause.empty());
    CHECK(good.states[0].state == "TASK_FINISHED");
    CHECK(good.states[0].message.empty());

    auto const bad = trace_of(h.failed());
    CHECK(bad.order == "xs");
    CHECK(bad.runs[0].id == begun.id);
    CHECK(bad.runs[0].complete_time == h.ended); // for failures too
    CHECK_FALSE(bad.runs[0].is_success);
    CHECK(bad.runs[0].failure_cause == to_string(*h.failure));
    CHECK(bad.states[0].state == "TASK_ERROR");
    CHECK(bad.states[0].message == "{1=" + to_string(*h.failure) + "}");
}

TEST_CASE("events.trace: events other than plain runs") {
    happenings const h;
    auto const misfired = trace_of(h.misfired());
    CHECK(misfired.order == "ss");
    CHECK(misfired.states[0].state == "TASK_STAGING");
    CHECK(misfired.states[1].state == "TASK_FINISHED");
    CHECK(misfired.states[1].message ==
          "Previous job 'settle' - shardingItems '[1]' is still running, misfired job will "
          "start after previous job completed.");
    CHECK(misfired.states[1].task_id == "settle@-@1@-@READY@-@10.0.0.1@-@7-x");

    auto const skipped = trace_of(h.skipped());
    CHECK(skipped.order == "s");
    CHECK(skipped.states[0].state == "TASK_DROPPED");
    CHECK(skipped.states[0].message == "Sharding item '1' of job 'settle' was not run: disabled, "
                                       "due 2026-01-01T00:00:00.000Z and 2 times before");

    auto const refused = trace_of(h.refused());
    CHECK(refused.order == "xs");
    CHECK(refused.runs[0].id == trace_of(h.started()).runs.at(0).id);
    CHECK(refused.runs[0].complete_time == h.ended);
    CHECK_FALSE(refused.runs[0].is_success);
    CHECK(refused.runs[0].failure_cause.find("overloaded") != std::string::npos);
    CHECK(refused.states[0].task_id == h.task);

    CHECK(trace_of(h.fenced()).order == "s");
    CHECK(trace_of(h.fenced()).states[0].state == "TASK_LOST");
    CHECK(trace_of(events::joined{h.from(h.begun), ""}, events::left{h.from(h.begun)}).order.empty());
}

TEST_CASE("events.trace: the source of a run") {
    happenings const h;
    auto const source_of = [&](run_source s) { return trace_of(h.started(5, s)).runs.at(0).source; };
    CHECK(source_of(run_source::schedule) == "NORMAL_TRIGGER");
    CHECK(source_of(run_source::trigger) == "NORMAL_TRIGGER");
    CHECK(source_of(run_source::misfire) == "MISFIRE");
    CHECK(source_of(run_source::failover) == "FAILOVER");
    CHECK(trace_of(h.started(5, run_source::failover)).states[0].execution_type == "FAILOVER");
    CHECK(trace_of(h.started(5, run_source::misfire)).states[0].execution_type == "READY");
}

TEST_CASE("events.trace: each event has its own id, which is the same each time it is traced") {
    happenings h;
    std::set<std::string> ids;
    std::size_t count = 0;
    auto const add = [&](told const& t) {
        for (auto const& x : t.runs) ids.insert(x.id);
        for (auto const& s : t.states) ids.insert(s.id);
        count += t.runs.size() + t.states.size();
    };
    for (std::uint64_t n = 1; n <= 2000; ++n) add(trace_of(h.started(n)));
    h.job = "other";
    add(trace_of(h.started(1)));
    h.job = "settle";
    h.id = instance_id::parse("10.0.0.1@-@7-y").value();
    add(trace_of(h.started(1)));
    add(trace_of(h.misfired()));
    auto later = h.misfired();
    later.due += std::chrono::seconds{5};
    add(trace_of(later));
    CHECK(ids.size() == count);
    add(trace_of(h.misfired()));
    CHECK(ids.size() == count - 2);
}

TEST_CASE("events.trace: a host without a name is identified by its address (D-42)") {
    happenings const h;
    told t;
    trace::tracer{""}(h.started(), t);
    CHECK(t.runs.at(0).hostname == "10.0.0.1");
    trace::tracer{}(h.started(), t);
    CHECK_FALSE(t.runs.at(1).hostname.empty());
}

TEST_CASE("events.trace: causes are valid text of at most 4000 UTF-16 units (DB-6)") {
    happenings h;
    auto const cause_of = [&](std::string what) {
        h.failure = error{errc::job_threw, std::move(what), ""};
        return trace_of(h.failed()).runs.at(0).failure_cause;
    };
    std::string const prefix = "job_threw: ";
    auto const room = 4000 - prefix.size();
    CHECK(cause_of(std::string(5000, 'x')) == prefix + std::string(room, 'x'));
    std::string many;
    for (int n = 0; n < 3000; ++n) many += "\xf0\x9f\x92\xa9"; // two units each
    CHECK(cause_of(many) == prefix + many.substr(0, room / 2 * 4));
    CHECK(cause_of(std::string{"a\0b\xff", 4}) == prefix + "a\xef\xbf\xbd" + "b\xef\xbf\xbd");
}
