// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_OBSERVATORY_IPP
#define ELASTICJOB_IMPL_TESTING_OBSERVATORY_IPP

#include <elasticjob/testing/observatory.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL wall_time cluster_view::wall_of(node_view const& n) const {
    return server.world().wall_now() + std::chrono::duration_cast<wall_time::duration>(n.wall_offset);
}

ELASTICJOB_DECL std::string cluster_view::data(node_path const& path) const {
    auto const* n = find(path);
    return n ? n->data : std::string{};
}

ELASTICJOB_DECL std::map<std::string, node_view const*> cluster_view::live_instances(std::string const& job) const {
    std::map<std::string, node_view const*> alive;
    auto const at = layout(job);
    for (auto const& n : nodes) {
        auto const id = n.instances.find(job);
        if (n.process == 0 || id == n.instances.end()) continue;
        auto const* there = find(at.instances() / id->second);
        if (there && there->stat.owner == n.session) alive.emplace(id->second, &n);
    }
    return alive;
}

ELASTICJOB_DECL bool cluster_view::is_enabled(std::string const& job, node_view const& n) const {
    return data(layout(job).server(n.ip)) != server_disabled;
}

ELASTICJOB_DECL std::string to_string(violation const& v) {
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(v.at.time_since_epoch()).count();
    return v.invariant + ": " + v.what + " (at " + std::to_string(ms) + " ms)";
}

ELASTICJOB_DECL observatory::~observatory() {
    for (auto& i : invariants_) i.destroy(i.self);
}

ELASTICJOB_DECL void observatory::note(observation o) {
    o.at = view.server.world().now();
    view.log.push_back(std::move(o));
    auto const copy = view.log.back();
    for (auto& i : invariants_) judge(i.name, i.on(i.self, copy, view));
}

ELASTICJOB_DECL void observatory::look_at_changes() {
    if (changes_.empty()) return;
    auto const changes = std::exchange(changes_, {});
    for (auto& i : invariants_)
        for (auto const& e : changes) judge(i.name, i.changed(i.self, e, view));
}

ELASTICJOB_DECL void observatory::reach(stage s) {
    view.now_at = s;
    observation o;
    o.what = observation::kind::stage;
    o.text = name_of(s);
    note(std::move(o));
    for (auto& i : invariants_) judge(i.name, i.reached(i.self, s, view));
}

ELASTICJOB_DECL void observatory::judge(std::string_view name, std::string what) {
    if (!what.empty()) violations.push_back({std::string{name}, std::move(what), view.server.world().now()});
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_OBSERVATORY_IPP
