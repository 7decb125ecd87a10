// SPDX-License-Identifier: Apache-2.0
// Our process beside a member that imitates 2.1.5, node by node.
#include <cluster/cluster.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr unsigned items = 4;

/// The writes of a 2.1.5 instance, in its order. It shards in steps, and between them there are no owners.
class java_member {
public:
    java_member(zk_options options, job_config const& job, std::string const& ip)
        : at_{*job_name::parse(job.name)}, ip_{ip}, id_{ip + "@-@4711"}, registry_{connected(std::move(options))},
          config_{to_json(job)} {}

    std::string const& id() const noexcept { return id_; }

    void start_up() {
        persist(at_.root());
        persist(at_.config(), config_);
        for (auto const& path : {at_.leader(), at_.election(), at_.election_latch()}) persist(path);
        auto const candidate =
            must(registry_.create(at_.election_latch() / "_c_0f8b5c1e-3b59-4f6f-9a1e-6d2f3f6f0a11-latch-", "",
                                  create_mode::ephemeral_sequential));
        if (!exists(at_.leader_instance())) must(registry_.create(at_.leader_instance(), id_, create_mode::ephemeral));
        must(registry_.remove(candidate));
        for (auto const& path : {at_.servers(), at_.server(ip_), at_.instances()}) persist(path);
        must(registry_.create(at_.instances() / id_, "", create_mode::ephemeral));
        ask_for_sharding();
    }

    void ask_for_sharding() {
        persist(at_.sharding_flags());
        persist(at_.sharding_necessary());
    }

    void begin_sharding() {
        must(registry_.create(at_.sharding_processing(), "", create_mode::ephemeral));
        persist(at_.sharding());
        for (unsigned i = 0; i < items; ++i) {
            if (exists(at_.item_instance(i))) must(registry_.remove(at_.item_instance(i)));
            persist(at_.item(i));
        }
    }

    void finish_sharding(std::map<unsigned, std::string> const& owners) {
        transaction t{registry_.session().generation};
        t.check(node_path{});
        for (auto const& [i, id] : owners) t.create(at_.item_instance(i), id);
        t.remove(at_.sharding_necessary()).remove(at_.sharding_processing());
        auto const reply = must(registry_.commit(std::move(t)));
        REQUIRE(!reply.refused);
    }

private:
    template <class T>
    result<T> ask(task<result<T>> t) {
        auto& l = registry_.loop();
        auto done = block_on(l, within(l, l.now() + 10s, std::move(t)));
        REQUIRE_MESSAGE(done.has_value(), (done ? std::string{} : to_string(done.error())));
        return done;
    }
    template <class T>
    T must(task<result<T>> t) {
        return *ask(std::move(t));
    }
    void must(task<result<void>> t) { (void)ask(std::move(t)); }
    bool exists(node_path path) { return must(registry_.exists(std::move(path))).has_value(); }
    void persist(node_path path, std::string data = {}) {
        if (!exists(path)) must(registry_.create(std::move(path), std::move(data), create_mode::persistent));
    }

    job_layout at_;
    std::string ip_, id_;
    ZkRegistry registry_;
    std::string config_;
};

std::int64_t now_us() {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/// The items that were run for that due instant.
std::set<unsigned> items_run(member const& m, cluster::wall_clock::time_point due) {
    std::set<unsigned> found;
    for (auto const& l : m.all("runs"))
        if (l.due_ms() == cluster::ms(due)) found.insert(l.item());
    return found;
}

job_config java_job() {
    auto job = every(2, items, "shared");
    job.job_class = "com.example.NodeJob";
    return job;
}

zk_options options_of(cluster& all, std::string name_space) {
    return to(all.server().endpoint(), std::move(name_space));
}

} // namespace

TEST_CASE("cluster: under a Java leader a process runs only the items that the leader gives it") {
    cluster all{common_server(), "java-leads"};
    INFO(all.transcript());
    auto const job = java_job();
    job_layout const at{*job_name::parse(job.name)};
    std::optional<java_member> java{std::in_place, options_of(all, "java-leads"), job, "10.0.0.9"};
    java->start_up();
    java->begin_sharding();
    java->finish_sharding({{0, java->id()}, {1, java->id()}, {2, java->id()}, {3, java->id()}});

    all.wait_for_a_break(2s);
    auto& ours = all.start("ours", {.jobs = {job}, .more = {"--look-at-marks", "1", "--server-ip", "10.0.0.1"}});
    all.wait_for("it to join", [&] { return ours.has("ready"); });
    CHECK(all.read(at.sharding_necessary()).has_value()); // it asks the leader
    auto const id = ours.id();

    // The leader shards when it fires itself, some time after the due instant; our process waits for it.
    auto due = cluster::last_due(2s) + 2s;
    all.wait_until(due + 300ms);
    java->begin_sharding();
    all.wait_until(due + 600ms);
    CHECK(ours.count("runs") == 0);
    java->finish_sharding({{0, java->id()}, {1, java->id()}, {2, id}, {3, id}});
    all.wait_for("two items to run", [&] { return items_run(ours, due).size() == 2; });
    CHECK(items_run(ours, due) == std::set<unsigned>{2, 3});

    // Another assignment, begun between two firings and finished after the next one is due.
    all.wait_for_a_break(2s);
    all.wait_until_idle({&ours});
    java->ask_for_sharding();
    java->begin_sharding();
    auto const begun_at_us = now_us();
    due = cluster::last_due(2s) + 2s;
    all.wait_until(due + 400ms);
    auto const finished_at_us = now_us();
    java->finish_sharding({{0, java->id()}, {1, id}, {2, java->id()}, {3, id}});
    all.wait_for("two items to run", [&] { return items_run(ours, due).size() == 2; });
    for (auto const& l : ours.all("runs"))
        CHECK_MESSAGE((l.at_us < begun_at_us || l.at_us > finished_at_us), "between two assignments: " << l.text);
    CHECK(items_run(ours, due) == std::set<unsigned>{1, 3});

    // From now on nothing changes.
    due += 2s;
    all.wait_for("two items to run", [&] { return items_run(ours, due).size() == 2; });
    all.wait_for_a_break(2s);
    CHECK(items_run(ours, due) == std::set<unsigned>{1, 3});
    CHECK(!ours.leads());
    CHECK(!ours.has("sharded"));

    // The Java member leaves, and our process takes over.
    java.reset();
    all.wait_until_shared(job, {&ours});
    CHECK(ours.leads());
    due = cluster::last_due(2s) + 2s;
    all.wait_for_runs(due, items);
    all.wait_until_idle({&ours});
    all.check_nothing_ran_twice();
    all.check_all_marked();
    all.check_no_trouble();
}

TEST_CASE("cluster: a process that leads gives a Java member its share, and leaves it alone") {
    cluster all{common_server(), "java-follows"};
    INFO(all.transcript());
    auto const job = java_job();
    job_layout const at{*job_name::parse(job.name)};
    auto& ours = all.start("ours", {.jobs = {job}, .more = {"--look-at-marks", "1", "--server-ip", "10.0.0.1"}});
    all.wait_until_shared(job, {&ours});
    all.wait_for_a_break(2s);
    java_member java{options_of(all, "java-follows"), job, "10.0.0.9"};
    java.start_up();
    all.wait_for("the items to be shared", [&] {
        auto const owners = all.owners(at, items);
        return owners ==
               std::map<unsigned, std::string>{{0, java.id()}, {1, java.id()}, {2, ours.id()}, {3, ours.id()}};
    });
    all.wait_for("nobody to ask for more", [&] { return !all.read(at.sharding_necessary()); });
    CHECK(ours.leads());

    auto const due = cluster::last_due(2s) + 2s;
    all.wait_for("two items to run", [&] { return items_run(ours, due).size() == 2; });
    all.wait_for_a_break(2s);
    CHECK(items_run(ours, due) == std::set<unsigned>{2, 3});
    all.check_nothing_ran_twice();
    all.check_all_marked();
    all.check_no_trouble();
}
