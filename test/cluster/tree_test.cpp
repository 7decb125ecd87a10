// SPDX-License-Identifier: Apache-2.0
// The nodes that two instances leave on a server, compared with those of two instances of ElasticJob-Lite 2.1.5. The
// expected nodes were recorded from 2.1.5 with the same job and servers.
#include <cluster/cluster.hpp>

#include <elasticjob/operations/dump.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// As 2.1.5 writes it, down to the byte.
constexpr char const* config_of_java =
    R"({"jobName":"interop","jobClass":"NodeJob","jobType":"SIMPLE","cron":"0 0 0 1 1 ? 2099","shardingTotalCount":4,)"
    R"("shardingItemParameters":"0\u003dalpha,1\u003dbeta,2\u003dgamma,3\u003ddelta","jobParameter":"","failover":true,)"
    R"("misfire":true,"description":"","jobProperties":{"job_exception_handler":)"
    R"("com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":)"
    R"("com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"monitorExecution":true,)"
    R"("maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,)"
    R"("disabled":false,"overwrite":true})";

/// A node: its data, and the session that it ends with; 0 for a persistent one.
struct entry {
    std::string data{};
    std::int64_t owner = 0;
    friend bool operator==(entry const&, entry const&) = default;
};
using picture = std::map<std::string, entry>;

doctest::String text_of(entry const& e) {
    return doctest::String((e.data + (e.owner ? " | ephemeral " + std::to_string(e.owner) : " | persistent")).c_str());
}

/// The nodes below the job's node, without `ext`.
picture picture_of(cluster& all, job_layout const& at) {
    picture seen;
    auto const skip = at.root().str().size() + 1;
    for (auto const& [path, n] : all.tree(at.root()))
        if (auto const name = path.substr(skip); name != "ext" && !name.starts_with("ext/"))
            seen[name] = {n.data, n.stat.owner};
    return seen;
}

void check_same(picture const& seen, picture const& expected) {
    for (auto const& [path, e] : expected) {
        auto const at = seen.find(path);
        CHECK_MESSAGE(at != seen.end(), "missing: " << path);
        if (at != seen.end())
            CHECK_MESSAGE(at->second == e, path << ": " << text_of(at->second) << ", not " << text_of(e));
    }
    for (auto const& [path, e] : seen) CHECK_MESSAGE(expected.contains(path), "2.1.5 has no " << path);
}

} // namespace

TEST_CASE("cluster: registering, sharding and running leave the nodes that 2.1.5 leaves") {
    cluster all{common_server(), "tree"};
    INFO(all.transcript());
    auto const job = from_json(config_of_java).value().value();
    job_layout const at{*job_name::parse(job.name)};
    auto const on = [&](char const* ip) { return worker_options{.jobs = {job}, .more = {"--server-ip", ip}}; };
    auto& one = all.start("one", on("10.0.0.1"));
    all.wait_for("the first to lead", [&] { return one.leads(); });
    auto& two = all.start("two", on("10.0.0.2"));
    all.wait_until_shared(job, {&one, &two});
    for (auto* m : {&one, &two}) all.slow_down(*m);
    CHECK(one.id().starts_with("10.0.0.1@-@"));
    CHECK(two.id().starts_with("10.0.0.2@-@"));

    // After the first sharding, idle. The highest instance gets the first items.
    picture idle{{"config", {config_of_java}},
                 {"instances", {}},
                 {"instances/" + one.id(), {"", one.session()}},
                 {"instances/" + two.id(), {"", two.session()}},
                 {"leader", {}},
                 {"leader/election", {}},
                 {"leader/election/instance", {one.id(), one.session()}},
                 {"leader/election/latch", {}},
                 {"leader/sharding", {}},
                 {"servers", {}},
                 {"servers/10.0.0.1", {}},
                 {"servers/10.0.0.2", {}},
                 {"sharding", {}},
                 {"sharding/0", {}},
                 {"sharding/0/instance", {two.id()}},
                 {"sharding/1", {}},
                 {"sharding/1/instance", {two.id()}},
                 {"sharding/2", {}},
                 {"sharding/2/instance", {one.id()}},
                 {"sharding/3", {}},
                 {"sharding/3/instance", {one.id()}}};
    check_same(picture_of(all, at), idle);

    // A dump has a line for each node, `ext` with them.
    auto const lines = dump(all.observer(), job.name, {.addresses = address_masking::none});
    REQUIRE(lines);
    for (auto const& [name, e] : idle) {
        CAPTURE(name);
        CHECK(std::ranges::count(lines.value(), at.root().str() + "/" + name + " | " + e.data) == 1);
    }
    CHECK(lines.value().size() == all.tree(at.root()).size());
    CHECK(lines.value().back() == "/interop/config | " + std::string{config_of_java});

    // The job's node itself, and the name space.
    for (auto const& path : {at.root(), node_path{}}) {
        auto const n = all.read(path);
        REQUIRE(n.has_value());
        CHECK(n->data.empty());
        CHECK(n->stat.owner == 0);
    }

    // While it runs, by an operator's order.
    for (auto* m : {&one, &two}) {
        auto const ordered = all.ask(all.observer().set(at.instances() / m->id(), std::string{trigger_order}));
        REQUIRE(ordered.has_value());
    }
    all.wait_for("all items to run", [&] { return one.count("runs") == 2 && two.count("runs") == 2; });
    auto running = idle;
    running["sharding/0/running"] = running["sharding/1/running"] = {two.id(), two.session()}; // Java's are empty
    running["sharding/2/running"] = running["sharding/3/running"] = {one.id(), one.session()};
    check_same(picture_of(all, at), running);
}

TEST_CASE("cluster: after the last instance has left, the same permanent nodes stay as with 2.1.5") {
    cluster all{common_server(), "tree-left"};
    INFO(all.transcript());
    auto const job = from_json(config_of_java).value().value();
    job_layout const at{*job_name::parse(job.name)};
    auto& last = all.start("last", {.jobs = {job}, .more = {"--server-ip", "10.0.0.1"}});
    all.wait_until_shared(job, {&last});
    last.terminate();
    all.wait_for("its end", [&] { return last.has_ended(); });

    // Two differences, on purpose: with 2.1.5 the items go on naming the instance that has left, by which the others
    // take it for crashed; and nobody has asked for a sharding.
    check_same(picture_of(all, at), {{"config", {config_of_java}},
                                     {"instances", {}},
                                     {"leader", {}},
                                     {"leader/election", {}},
                                     {"leader/election/latch", {}},
                                     {"leader/sharding", {}},
                                     {"leader/sharding/necessary", {}},
                                     {"servers", {}},
                                     {"servers/10.0.0.1", {}},
                                     {"sharding", {}},
                                     {"sharding/0", {}},
                                     {"sharding/0/instance", {"-@-@-"}},
                                     {"sharding/1", {}},
                                     {"sharding/1/instance", {"-@-@-"}},
                                     {"sharding/2", {}},
                                     {"sharding/2/instance", {"-@-@-"}},
                                     {"sharding/3", {}},
                                     {"sharding/3/instance", {"-@-@-"}}});
}
