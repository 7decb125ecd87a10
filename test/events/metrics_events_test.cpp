// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/metrics_events.hpp>

#include <events/kinds.hpp>
#include <events/openmetrics_parser.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

exposition read(MetricsEvents const& m) { return exposition::parse(m.expose()); }

} // namespace

TEST_CASE("events.openmetrics: the parser of these tests is strict") {
    std::string const good = "# TYPE a counter\n# HELP a b \\\" c\na_total{x=\"y\"} 1\n# TYPE h histogram\n"
                             "h_bucket{le=\"1.0\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_count 2\nh_sum 3.5\n# EOF\n";
    CHECK(exposition::parse(good).at("a_total{x=\"y\"}") == 1);
    auto const bad = [&](std::string_view what, std::string_view instead) {
        auto text = good;
        CAPTURE(instead);
        REQUIRE(text.find(what) != text.npos);
        text.replace(text.find(what), what.size(), instead);
        CHECK_THROWS(exposition::parse(text));
    };
    bad("# EOF\n", "");
    bad("# EOF\n", "x 1\n# EOF\n");
    bad("a_total{", "a{");
    bad("a_total{", "b_total{");
    bad("\"y\"", "\"y\"\"");
    bad("\"y\"", "\"y\\x\"");
    bad("x=\"y\"", "x=\"y\",x=\"z\"");
    bad(" 1\n", " 1 \n");
    bad(" 1\n", " -1\n");
    bad(" 1\n", " one\n");
    bad("\\\" c", "\" c");
    bad("1.0", "1");
    bad("h_count 2", "h_count 3");
    bad("\"} 2", "\"} 0");
    bad("h_bucket{le=\"+Inf\"} 2\n", "");
    bad("h_sum 3.5\n", "");
    bad("# TYPE h histogram\n", "");
    bad("# TYPE h histogram\n", "\n# TYPE h histogram\n");
    bad("# HELP a b \\\" c\na_total{x=\"y\"} 1\n", "a_total{x=\"y\"} 1\n# HELP a b\n");
    bad("\"y\"", "\"\xff\"");
}

TEST_CASE("events.metrics_events: counts events by job and reason") {
    happenings const h;
    MetricsEvents const m;
    auto const scheduler_s = m;
    h.tell(scheduler_s); // ends with the instance leaving
    auto const e = read(m);
    auto const total = [&](std::string const& name, std::string const& more = "") {
        return e.at(name + "_total{job=\"settle\"" + (more.empty() ? "" : "," + more) + "}");
    };
    CHECK(total("elasticjob_runs_started", "source=\"schedule\"") == 1);
    CHECK(total("elasticjob_runs_started", "source=\"failover\"") == 0);
    CHECK(total("elasticjob_runs", "outcome=\"success\"") == 1);
    CHECK(total("elasticjob_runs", "outcome=\"job_threw\"") == 1);
    CHECK(total("elasticjob_failures") == 1);
    CHECK(total("elasticjob_retries") == 0);
    CHECK(total("elasticjob_runs_fenced") == 1);
    CHECK(total("elasticjob_misfired") == 1);
    CHECK(total("elasticjob_skipped", "reason=\"disabled\"") == 3); // instants
    CHECK(total("elasticjob_skipped", "reason=\"overloaded\"") == 1);
    CHECK(total("elasticjob_reshards") == 1);
    CHECK(total("elasticjob_items_moved") == 2);
    CHECK(total("elasticjob_sessions") == 1);
    CHECK(total("elasticjob_troubles", "reason=\"job_threw\"") == 1);
    CHECK(e.at("elasticjob_instances{job=\"settle\"}") == 0);
    CHECK(e.at("elasticjob_items{job=\"settle\"}") == 0);
    CHECK(total("elasticjob_session_changes", "state=\"suspended\"") == 1);
    CHECK(e.types.size() == 21);
}

TEST_CASE("events.metrics_events: gauges show the current state, summed over the instances of the process") {
    happenings h;
    MetricsEvents const m;
    auto const is = [&](std::string const& name) { return read(m).at("elasticjob_" + name + "{job=\"settle\"}"); };
    m(events::joined{h.from(h.begun), ""});
    m(events::leadership_changed{h.from(h.begun), true});
    m(events::share_changed{h.from(h.begun), h.items});
    m(h.started(1));
    m(h.started(2));
    happenings other;
    other.id = instance_id::parse("10.0.0.1@-@7-y").value();
    m(events::joined{other.from(h.begun), ""});
    m(events::share_changed{other.from(h.begun), other.items});
    CHECK(is("instances") == 2);
    CHECK(is("items") == 4);
    CHECK(is("leads") == 1);
    CHECK(is("running") == 2);
    CHECK(is("connected") == 2);
    m(events::session_changed{h.from(h.begun), session_state::suspended});
    CHECK(is("connected") == 1);
    m(events::session_changed{h.from(h.begun), session_state::connected});
    CHECK(is("connected") == 2);
    CHECK(is("progress_done") == 0);
    auto two = h.progressed();
    two.item = 2;
    for (auto const& e : {h.progressed(), two, other.progressed(), events::item_progressed{h.progressed()}}) m(e);
    CHECK(is("progress_done") == 120); // the latest value of each run
    CHECK(is("progress_expected") == 300);
    m(h.succeeded(1));
    CHECK(is("running") == 1);
    CHECK(is("progress_done") == 80);
    m(h.refused());
    CHECK(is("running") == 0);
    m(other.succeeded(1));
    CHECK(is("progress_expected") == 100);
    m(events::left{h.from(h.ended)});
    CHECK(is("instances") == 1);
    CHECK(is("leads") == 0);
    CHECK(is("items") == 2);
}

TEST_CASE("events.metrics_events: histograms count a value equal to a bound in that bound's bucket") {
    happenings h;
    MetricsEvents const m{{.lateness_buckets = {0.01, 0.025, 1}, .duration_buckets = {1, 2}}};
    m(h.started());                       // 25 ms late
    m(h.started(6, run_source::trigger)); // an ordered run is never late
    h.begun = h.due - std::chrono::seconds{1};
    m(h.started()); // the clock was set back
    h.begun = h.due + std::chrono::hours{1};
    m(h.started());
    m(h.succeeded()); // 1.25 s
    auto const e = read(m);
    auto const late = [&](std::string const& le) {
        return e.at("elasticjob_lateness_seconds_bucket{job=\"settle\",le=\"" + le + "\"}");
    };
    CHECK(late("0.01") == 1);
    CHECK(late("0.025") == 2);
    CHECK(late("1.0") == 2);
    CHECK(late("+Inf") == 3);
    CHECK(e.at("elasticjob_lateness_seconds_count{job=\"settle\"}") == 3);
    CHECK(e.at("elasticjob_lateness_seconds_sum{job=\"settle\"}") == doctest::Approx(3600.025));
    CHECK(e.at("elasticjob_duration_seconds_bucket{job=\"settle\",le=\"1.0\"}") == 0);
    CHECK(e.at("elasticjob_duration_seconds_bucket{job=\"settle\",le=\"2.0\"}") == 1);
}

TEST_CASE("events.metrics_events: any job name is one label") {
    happenings h;
    MetricsEvents const m;
    h.job = "a\"b\\c\xff{}=,\xe2\x82\xac";
    m(h.started());
    CHECK(read(m).at("elasticjob_runs_fenced_total{job=\"a\"b\\c\xef\xbf\xbd{}=,\xe2\x82\xac\"}") == 0);
    CHECK(openmetrics_writer{}.family("x", "gauge", "two\nlines").sample("", {{"l", "a\nb"}}, 0.5).finish() ==
          "# TYPE x gauge\n# HELP x two\\nlines\nx{l=\"a\\nb\"} 0.5\n# EOF\n");
}

TEST_CASE("events.metrics_events: jobs beyond the limit are counted together") {
    happenings h;
    MetricsEvents const m{{.jobs_max = 3}};
    auto lines = std::string::npos;
    for (int n = 0; n < 50; ++n) {
        h.job = "job" + std::to_string(n);
        m(h.started());
        if (n == 3) lines = read(m).samples.size();
    }
    auto const e = read(m);
    CHECK(e.samples.size() == lines);
    CHECK(e.at("elasticjob_runs_started_total{job=\"job2\",source=\"schedule\"}") == 1);
    CHECK(e.at("elasticjob_runs_started_total{job=\"(others)\",source=\"schedule\"}") == 47);
    CHECK(read(MetricsEvents{}).samples.empty());

    h.job = "(others)"; // read() refuses series that occur twice
    MetricsEvents const all{{.jobs_max = 1}};
    all(h.started());
    h.job = "job0";
    all(h.started());
    h.job = "job1";
    all(h.started());
    CHECK(read(all).at("elasticjob_runs_started_total{job=\"(others)\",source=\"schedule\"}") == 2);
}

TEST_CASE("events.metrics_events: can be read while it receives events") {
    happenings const h;
    MetricsEvents const m;
    std::thread teller{[&] {
        for (int n = 0; n < 300; ++n) h.tell(m);
    }};
    auto const name = "elasticjob_reshards_total{job=\"settle\"}";
    for (double last = 0; last < 300;) {
        auto const n = read(m).at(name);
        CHECK((n == -1 || n >= last));
        last = n;
    }
    teller.join();
}
