// SPDX-License-Identifier: Apache-2.0
// Instances with labels, and items that need them: registration, runs, deaths and operators' changes.
#include <elasticjob/operations/explain.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

job_config labelled_job(int count, std::string labels) {
    auto c = make_job("settle", "0/5 * * * * ?", count);
    c.item_labels = std::move(labels);
    return c;
}

using names = std::vector<std::string>;

assignment in_force(cluster const& c) { return assignment::parse(c.data("/settle/ext/assignment")).value(); }

} // namespace

TEST_CASE("labels: one transaction registers an instance, its traits and the items' needs") {
    cluster c;
    auto& m = c.add_labelled("gpu zone=a", 3);
    REQUIRE(m.schedule(labelled_job(2, "0=gpu")));
    CHECK(c.data("/settle/ext/instances/" + m.id("settle")) == "weight 3\nlabels gpu zone=a\n");
    CHECK(c.find("/settle/ext/instances/" + m.id("settle"))->stat.owner == m.registry.session().id);
    CHECK(c.data("/settle/ext/labels") == "0=gpu");
    auto const* self = c.find("/settle/instances/" + m.id("settle"));
    auto const* traits = c.find("/settle/ext/instances/" + m.id("settle"));
    REQUIRE(self);
    CHECK(self->stat.created == traits->stat.created); // one revision, one transaction
    CHECK(c.find("/settle/ext/labels")->stat.created == self->stat.created);
}

TEST_CASE("labels: an instance with default traits writes no traits") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    CHECK_FALSE(c.has("/settle/ext/instances"));
    CHECK_FALSE(c.has("/settle/ext/labels"));
    CHECK(in_force(c).traits_print() == 0);
    REQUIRE(m.shutdown("settle"));
}

TEST_CASE("labels: items go to instances with the labels that they need, and run there") {
    cluster c;
    auto& plain = c.add();
    REQUIRE(plain.schedule(labelled_job(4, "0-1=gpu")));
    c.run_for(1s);
    CHECK(c.owners("settle", 4) == names{"", "", plain.id("settle"), plain.id("settle")});
    REQUIRE(c.last_trouble());
    CHECK(*c.last_trouble() == errc::nobody_fits);
    CHECK(c.last_trouble()->what.find("2 of the job's items wait") == 0);
    CHECK(c.last_trouble()->what.find(": 0, 1") != std::string::npos);
    c.run_for(10s);
    CHECK(c.count(heard::kind::started, 0) == 0);
    CHECK(c.count(heard::kind::started, 2) == 2); // the other items have not waited
    CHECK(explain(c.by_hand, "settle", 1)->text == "It waits: no instance has the labels that it needs (gpu).");

    auto& gpu = c.add_labelled("gpu");
    REQUIRE(gpu.schedule(labelled_job(4, "0-1=gpu")));
    c.run_for(5s);
    CHECK(c.owners("settle", 4) == names{gpu.id("settle"), gpu.id("settle"), plain.id("settle"), plain.id("settle")});
    CHECK(c.count(heard::kind::started, 0) == 1);
    CHECK(c.violations.empty());
}

TEST_CASE("labels: when the last suitable instance dies, its items wait for the next one, and the others' items stay") {
    cluster c;
    auto const job = labelled_job(4, "0-1=gpu");
    auto& gpu = c.add_labelled("gpu");
    auto& plain = c.add();
    REQUIRE(gpu.schedule(job));
    REQUIRE(plain.schedule(job));
    c.run_for(1s);
    CHECK(c.owners("settle", 4) == names{gpu.id("settle"), gpu.id("settle"), plain.id("settle"), plain.id("settle")});
    auto const gone = gpu.id("settle");
    post(c.loop, [&] { gpu.registry.disconnect(); });
    c.run_for(30s);
    CHECK_FALSE(c.has("/settle/ext/instances/" + gone)); // removed with its session
    CHECK(c.owners("settle", 4) == names{"", "", plain.id("settle"), plain.id("settle")});
    CHECK(in_force(c).count_left() == 2);

    auto& next = c.add_labelled("gpu");
    REQUIRE(next.schedule(job));
    c.run_for(1s);
    CHECK(c.owners("settle", 4) == names{next.id("settle"), next.id("settle"), plain.id("settle"), plain.id("settle")});
    CHECK(c.violations.empty());
}

TEST_CASE("labels: a new session writes the instance's traits again") {
    cluster c;
    auto const job = labelled_job(2, "0=gpu");
    auto& m = c.add_labelled("gpu");
    REQUIRE(m.schedule(job));
    c.run_for(1s);
    post(c.loop, [&] { m.registry.expire(); });
    c.run_for(10s);
    CHECK(c.data("/settle/ext/instances/" + m.id("settle")) == "weight 1\nlabels gpu\n");
    CHECK(c.find("/settle/ext/instances/" + m.id("settle"))->stat.owner == m.registry.session().id);
    CHECK(c.owners("settle", 2) == names{m.id("settle"), m.id("settle")});
}

TEST_CASE("labels: an instance that leaves in order removes its traits, although its session lives") {
    cluster c;
    auto const job = labelled_job(2, "0=gpu");
    auto& m = c.add_labelled("gpu");
    auto& other = c.add_labelled("gpu");
    REQUIRE(m.schedule(job));
    REQUIRE(other.schedule(job));
    c.run_for(1s);
    REQUIRE(m.shutdown("settle"));
    CHECK_FALSE(c.has("/settle/ext/instances/" + m.id("settle")));
    c.run_for(1s);
    CHECK(c.owners("settle", 2) == names{other.id("settle"), other.id("settle")});

    // Also if an operator has shut it down before.
    c.remove("/settle/instances/" + other.id("settle"));
    c.run_for(1s);
    CHECK_FALSE(c.has("/settle/ext/instances/" + other.id("settle")));
}

TEST_CASE("labels: operators' changes take effect, and unreadable texts are reported") {
    cluster c;
    auto const job = labelled_job(4, "0-1=gpu");
    auto& gpu = c.add_labelled("gpu");
    auto& plain = c.add();
    REQUIRE(gpu.schedule(job));
    REQUIRE(plain.schedule(job));
    c.run_for(1s);

    c.set("/settle/ext/labels", "*=gpu");
    c.run_for(1s);
    CHECK(c.owners("settle", 4) == names(4, gpu.id("settle")));

    c.set("/settle/ext/labels", "all of them");
    c.run_for(1s);
    REQUIRE(c.last_trouble());
    CHECK(*c.last_trouble() == errc::invalid_config);
    CHECK(c.last_trouble()->where == "/settle/ext/labels");
    CHECK(c.owners("settle", 4) == names(4, gpu.id("settle"))); // as it was

    c.set("/settle/ext/labels", "0=gpu");
    c.run_for(10s);
    CHECK(c.owners("settle", 4) == names{gpu.id("settle"), gpu.id("settle"), plain.id("settle"), plain.id("settle")});

    c.set("/settle/ext/instances/" + gpu.id("settle"), "weight 1\nlabels none\n");
    c.run_for(1s);
    CHECK(in_force(c).count_left() == 1);
    c.set("/settle/ext/instances/" + gpu.id("settle"), "nonsense"); // counts as no traits
    c.run_for(1s);
    CHECK(in_force(c).count_left() == 1);
    CHECK(c.owner("settle", 0) == "");
    c.set("/settle/ext/instances/" + gpu.id("settle"), "weight 1\nlabels gpu\n");
    c.run_for(1s);
    CHECK(in_force(c).count_left() == 0);
    c.remove("/settle/ext/labels"); // no item needs a label
    c.run_for(1s);
    CHECK(in_force(c).count_left() == 0);
}

TEST_CASE("labels: an idle job sends no requests, and its leader watches only once") {
    cluster c;
    auto const job = labelled_job(4, "0-1=gpu");
    REQUIRE(c.add_labelled("gpu").schedule(job));
    REQUIRE(c.add_labelled("gpu").schedule(job));
    c.run_for(2s);
    c.server.counts() = {};
    c.run_for(2s);
    CHECK(c.server.counts().reads == 0);
    CHECK(c.server.counts().writes == 0);
}

TEST_CASE("labels: the registry's needs count; with overwrite, the member's") {
    cluster c;
    REQUIRE(c.add_labelled("gpu").schedule(labelled_job(2, "0=gpu")));
    auto job = labelled_job(2, "1=gpu");
    auto& second = c.add_labelled("gpu");
    REQUIRE(second.schedule(job));
    CHECK(c.data("/settle/ext/labels") == "0=gpu");
    bool is_told = false;
    for (auto const& h : c.log)
        is_told |=
            h.what == heard::kind::joined && h.text.find("itemLabels is '0=gpu', not '1=gpu'") != std::string::npos;
    CHECK(is_told);

    job.overwrite = true;
    REQUIRE(c.add_labelled("gpu").schedule(job));
    CHECK(c.data("/settle/ext/labels") == "1=gpu");
    job.item_labels = {};
    REQUIRE(c.add_labelled("gpu").schedule(job));
    CHECK_FALSE(c.has("/settle/ext/labels"));
}

TEST_CASE("labels: labels that have no text form are refused before anything is written") {
    cluster c;
    CHECK(c.add_labelled("gpu,ssd").schedule(labelled_job(2, "")).error() == errc::invalid_argument);
    CHECK(c.add().schedule(labelled_job(2, "0=gpu,0=ssd")).error() == errc::invalid_config);
    CHECK(c.add().schedule(labelled_job(2, "gpu")).error() == errc::invalid_config);
    CHECK_FALSE(c.has("/settle"));
}
