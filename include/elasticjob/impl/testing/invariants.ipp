// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_INVARIANTS_IPP
#define ELASTICJOB_IMPL_TESTING_INVARIANTS_IPP

#include <elasticjob/sharding/item_nodes.hpp>
#include <elasticjob/testing/invariants.hpp>

namespace elasticjob::testing::detail {

ELASTICJOB_DECL std::optional<std::uint32_t> item_count(cluster_view const& v, std::string const& job) {
    auto const* stored = v.find(cluster_view::layout(job).config());
    if (!stored) return std::nullopt;
    auto const config = from_json(stored->data);
    if (!config || !*config) return std::nullopt;
    return static_cast<std::uint32_t>((*config)->sharding_total_count);
}

ELASTICJOB_DECL std::optional<record_place> record_place_of(std::string_view path) {
    static constexpr std::string_view records = "/ext/run/";
    auto const at = path.find(records);
    if (at == path.npos) return std::nullopt;
    record_place found{std::string{job_of(path)}, 0};
    if (!elasticjob::detail::read_number(path.substr(at + records.size()), found.item)) return std::nullopt;
    return found;
}

ELASTICJOB_DECL std::string_view job_of(std::string_view path) {
    path.remove_prefix(path.empty() ? 0 : 1);
    return path.substr(0, path.find('/'));
}

ELASTICJOB_DECL std::optional<node> copy_of(cluster_view const& v, node_path const& path) {
    auto const* there = v.find(path);
    return there ? std::optional{*there} : std::nullopt;
}

ELASTICJOB_DECL std::optional<assignment> assignment_in_force(cluster_view const& v, std::string const& job) {
    auto const at = cluster_view::layout(job);
    auto in_force = elasticjob::assignment_in_force(copy_of(v, at.assignment()), copy_of(v, at.item_instance(0)));
    return in_force ? *std::move(in_force) : std::nullopt;
}

ELASTICJOB_DECL std::string owner_of(cluster_view const& v, std::string const& job, item_index i) {
    auto const named = copy_of(v, cluster_view::layout(job).item_instance(i));
    return elasticjob::owner_of(assignment_in_force(v, job), named, i);
}

ELASTICJOB_DECL bool is_left(cluster_view const& v, std::string const& job, item_index i) {
    auto const a = assignment_in_force(v, job);
    return a && i < a->items() && a->owner(i) == no_slot;
}

ELASTICJOB_DECL bool has_members(cluster_view const& v, std::string const& job) {
    for (auto const& [id, n] : v.live_instances(job))
        if (v.is_enabled(job, *n)) return true;
    return false;
}

} // namespace elasticjob::testing::detail

namespace elasticjob::testing {

ELASTICJOB_DECL std::string no_two_runs_of_one_item::on(observation const& o, cluster_view const& v) {
    if (o.what == observation::kind::finished && o.failure && *o.failure == errc::timed_out)
        given_up_.insert({o.job, o.item, o.token});
    // The run enters the view only after this check, so all runs in it are other runs.
    if (o.what != observation::kind::body_began) return {};
    auto& last_token = last_tokens_[{o.job, o.item}];
    auto const before = std::exchange(last_token, std::max(last_token, o.token));
    auto const* mark = v.find(cluster_view::layout(o.job).item_running(o.item));
    if (!mark) return {};
    auto const mine = v.nodes[o.node].session;
    for (auto const& r : v.runs) {
        if (r.job != o.job || r.item != o.item) continue;
        if (given_up_.contains({o.job, o.item, r.token})) continue;
        if (r.token < before) continue; // another run has begun since, so this one no longer counts
        auto const theirs = v.nodes[r.node].process == r.process ? v.nodes[r.node].session : r.session;
        bool const other_lives = r.process != o.process && v.server.is_alive(r.session);
        bool const i_hold = mark->stat.owner == mine;
        bool const other_holds = mark->stat.owner == theirs && theirs != mine;
        if (r.process == o.process || (i_hold && other_lives) || (other_holds && v.server.is_alive(mine)))
            return detail::item_text(o.job, o.item) + " begins on node " + std::to_string(o.node) +
                   " while it runs on node " + std::to_string(r.node);
    }
    return {};
}

ELASTICJOB_DECL std::string tokens_are_unique::on(observation const& o, cluster_view const&) {
    if (o.what != observation::kind::body_began || o.token == 0) return {};
    if (seen_[{o.job, o.item}].insert(o.token).second) return {};
    return detail::item_text(o.job, o.item) + " has two runs with the token " + std::to_string(o.token);
}

ELASTICJOB_DECL std::string stopped_runs_are_not_called::on(observation const& o, cluster_view const&) const {
    bool const is_late = o.what == observation::kind::body_began && !o.text.empty();
    return is_late ? detail::item_text(o.job, o.item) + " begins on node " + std::to_string(o.node) + ", " + o.text
                   : "";
}

ELASTICJOB_DECL std::string what_is_skipped_stays_skipped::on(observation const& o, cluster_view const&) {
    using why = events::skip_reason;
    bool const is_final = o.why == why::disabled || o.why == why::paused || o.why == why::too_late;
    if (o.what == observation::kind::skipped && is_final) skipped_.insert({o.job, o.item, o.due});
    bool const is_for_instant = o.source == run_source::schedule || o.source == run_source::misfire;
    if (o.what != observation::kind::started || !is_for_instant) return {};
    if (!skipped_.contains({o.job, o.item, o.due})) return {};
    return detail::item_text(o.job, o.item) + " is run for an instant that was reported as skipped";
}

ELASTICJOB_DECL std::string what_is_skipped_stays_skipped::changed(tree_event const& e, cluster_view const& v) {
    auto const at = detail::record_place_of(e.path);
    if (e.kind != watch_kind::data || !at || v.find(*node_path::parse(e.path))) return {};
    std::erase_if(skipped_, [&](auto const& s) { return std::get<0>(s) == at->job && std::get<1>(s) == at->item; });
    return {};
}

ELASTICJOB_DECL std::string only_the_owner_starts::on(observation const& o, cluster_view const& v) {
    if (o.what == observation::kind::joined) joined_.insert({o.job, v.nodes[o.node].session});
    return {};
}

ELASTICJOB_DECL std::string only_the_owner_starts::changed(tree_event const& e, cluster_view const& v) {
    static constexpr std::string_view suffix = "/running";
    if (e.kind != watch_kind::data || !e.path.ends_with(suffix)) return {};
    auto const* mark = v.find(*node_path::parse(e.path));
    if (!mark || mark->stat.modified == std::exchange(last_[e.path], mark->stat.modified)) return {};
    auto const item_path = node_path::parse(e.path)->parent();
    std::string const job{detail::job_of(e.path)};
    if (!joined_.contains({job, mark->stat.owner})) return {};
    auto const item = static_cast<item_index>(std::strtoul(std::string{item_path.name()}.c_str(), nullptr, 10));
    auto const owner = detail::owner_of(v, job, item);
    auto const* instance = v.find(cluster_view::layout(job).instances() / (owner.empty() ? "nobody" : owner));
    if (instance && instance->stat.owner == mark->stat.owner) return {};
    return "item " + std::string{item_path.name()} + " of " + job +
           " was started by another instance than its owner, '" + owner + "'";
}

ELASTICJOB_DECL std::string items_agree_with_assignment::changed(tree_event const& e, cluster_view const& v) const {
    if (e.kind != watch_kind::data) return {};
    if (e.path.find("/ext/assignment") == e.path.npos && e.path.find("/instance") == e.path.npos) return {};
    std::string const job{detail::job_of(e.path)};
    auto const at = cluster_view::layout(job);
    auto const a = detail::assignment_in_force(v, job);
    if (!a || !a->is_published()) return {};
    // If no instance can own items, the nodes of removed items may be removed before the assignment changes.
    auto const count = std::min(a->items(), detail::item_count(v, job).value_or(0));
    for (item_index i = 0; i < count; ++i)
        if (auto const owner = owner_in(v.data(at.item_instance(i))); owner != a->owner_id(i).str())
            return detail::item_text(job, i) + " shows '" + owner + "', but the assignment says '" +
                   a->owner_id(i).str() + "'";
    return {};
}

ELASTICJOB_DECL std::string one_owner_for_each_item::on(observation const& o, cluster_view const&) {
    if (o.what == observation::kind::command && o.text == "join" && o.failure) refused_[o.job] = to_string(*o.failure);
    if (o.what == observation::kind::joined) refused_.erase(o.job);
    return {};
}

ELASTICJOB_DECL std::string one_owner_for_each_item::reached(stage s, cluster_view const& v) const {
    if (s != stage::settled && s != stage::watched) return {};
    for (auto const& job : v.jobs)
        if (auto wrong = look(job, v); !wrong.empty()) return job + ": " + wrong;
    return {};
}

ELASTICJOB_DECL std::string one_owner_for_each_item::look(std::string const& job, cluster_view const& v) const {
    auto const at = cluster_view::layout(job);
    auto const alive = v.live_instances(job);
    auto const refused = refused_.find(job);
    if (alive.empty() && refused != refused_.end()) return "no instance could join: " + refused->second;
    auto const enabled = [&](std::string const& id) {
        auto const found = alive.find(id);
        return found != alive.end() && v.is_enabled(job, *found->second);
    };
    if (!detail::has_members(v, job)) return {};
    for (auto const& id : v.server.tree().children(at.instances()))
        if (!alive.contains(id)) return "an instance that has gone is still there: " + id;
    if (!enabled(v.data(at.leader_instance()))) return "there is no live leader";
    if (v.find(at.sharding_necessary())) return "a sharding is still requested";
    if (v.find(at.election_latch())->stat.children != 0) return "a candidate has been left behind";
    auto const count = detail::item_count(v, job).value_or(0);
    for (item_index i = 0; i < count; ++i) {
        auto const owner = owner_in(v.data(at.item_instance(i)));
        bool const is_nobodys = owner.empty() && detail::is_left(v, job, i);
        if (!is_nobodys && !enabled(owner)) return "item " + item_name(i) + " has no live owner, but '" + owner + "'";
    }
    auto const* items = v.find(at.sharding());
    if (items && items->stat.children != static_cast<std::int32_t>(count)) return "cut items were left behind";
    return {};
}

ELASTICJOB_DECL std::string orders_are_obeyed::on(observation const& o, cluster_view const& v) {
    if (v.now_at != stage::settled) return {};
    // Some items run before the client that gave the order receives its reply.
    if (o.what == observation::kind::command && o.text == "trigger" && !o.failure) ordered_.insert(o.job);
    bool const is_obeyed = o.what == observation::kind::started && o.source == run_source::trigger;
    if (is_obeyed || (accepts_skips_ && o.what == observation::kind::skipped)) obeyed_[o.job].insert(o.item);
    return {};
}

ELASTICJOB_DECL std::string orders_are_obeyed::reached(stage s, cluster_view const& v) {
    if (s == stage::settled) {
        ordered_.clear();
        obeyed_.clear();
    }
    if (s != stage::settled && s != stage::watched) return {};
    for (auto const& job : v.jobs) {
        auto const at = cluster_view::layout(job);
        auto const alive = v.live_instances(job);
        for (auto const& [id, n] : alive) {
            if (v.data(at.instances() / id) == trigger_order) return job + ": " + id + " has not obeyed a trigger";
        }
        if (!detail::has_members(v, job)) continue;
        auto const count = detail::item_count(v, job).value_or(0);
        for (item_index i = 0; i < count; ++i)
            if (v.find(at.stop_order(i))) return detail::item_text(job, i) + " has not obeyed an order to stop";
        for (item_index i = 0; i < count; ++i) {
            auto const owner = alive.find(v.data(at.item_instance(i)));
            if (owner != alive.end() && !v.is_enabled(job, *owner->second))
                return detail::item_text(job, i) + " belongs to a disabled server";
        }
        if (s == stage::settled) continue;
        if (auto wrong = find_untriggered(job, count, v); !wrong.empty()) return wrong;
    }
    return {};
}

ELASTICJOB_DECL std::string orders_are_obeyed::find_untriggered(std::string const& job, item_index count,
                                                                cluster_view const& v) {
    if (!ordered_.contains(job)) return {};
    auto const& obeyed = obeyed_[job];
    for (item_index i = 0; i < count; ++i) {
        if (v.find(cluster_view::layout(job).item_disabled(i)) || detail::is_left(v, job, i)) continue;
        if (!obeyed.contains(i)) return detail::item_text(job, i) + " has not run though it was triggered";
    }
    return {};
}

ELASTICJOB_DECL std::string every_mark_has_a_run::on(observation const& o, cluster_view const& v) {
    if (o.what == observation::kind::body_began || o.what == observation::kind::body_ended)
        stray_since_[cluster_view::layout(o.job).item_running(o.item).str()].reset();
    return find_stray(v);
}

ELASTICJOB_DECL std::string every_mark_has_a_run::changed(tree_event const& e, cluster_view const& v) {
    static constexpr std::string_view suffix = "/running";
    if (e.kind == watch_kind::data && e.path.ends_with(suffix)) stray_since_[e.path].reset();
    return find_stray(v);
}

ELASTICJOB_DECL std::string every_mark_has_a_run::find_stray(cluster_view const& v) {
    auto const now = v.server.world().now();
    if (now - looked_at_ < std::chrono::seconds{1}) return {};
    looked_at_ = now;
    for (auto at = stray_since_.begin(); at != stray_since_.end();) {
        auto const path = *node_path::parse(at->first);
        if (!v.find(path)) {
            at = stray_since_.erase(at);
            continue;
        }
        std::string const job{detail::job_of(at->first)};
        auto const item = static_cast<item_index>(std::strtoul(std::string{path.parent().name()}.c_str(), nullptr, 10));
        auto const runs_it = [&](live_run const& r) { return r.job == job && r.item == item; };
        bool const is_owed = v.server.tree().is_read_only(cluster_view::layout(job).run_record(item).str());
        auto& since = at->second;
        if (is_owed || std::any_of(v.runs.begin(), v.runs.end(), runs_it))
            since.reset();
        else if (!since)
            since = now;
        if (since && now - *since > limit) return "no run has belonged to " + at->first + " for a minute";
        ++at;
    }
    return {};
}

ELASTICJOB_DECL std::string every_instance_has_a_scheduler::on(observation const& o, cluster_view const& v) {
    if (o.what == observation::kind::joined) alone_since_.clear();
    return find_ghost(v);
}

ELASTICJOB_DECL std::string every_instance_has_a_scheduler::find_ghost(cluster_view const& v) {
    auto const now = v.server.world().now();
    if (now - looked_at_ < std::chrono::seconds{1}) return {};
    looked_at_ = now;
    std::map<std::string, mono_time> alone;
    for (auto const& job : v.jobs) {
        auto const instances = cluster_view::layout(job).instances();
        if (!v.find(instances)) continue;
        for (auto const& id : v.server.tree().children(instances)) {
            auto const is_its = [&](node_view const& n) {
                auto const at = n.instances.find(job);
                return at != n.instances.end() && at->second == id;
            };
            if (std::any_of(v.nodes.begin(), v.nodes.end(), is_its)) continue;
            auto const who = instance_id::parse(id);
            if (who && who->is_java()) continue; // from a test
            auto const path = (instances / id).str();
            auto const before = alone_since_.find(path);
            auto const since = before == alone_since_.end() ? now : before->second;
            if (now - since > limit) return "no scheduler has belonged to " + path + " for a minute";
            alone.emplace(path, since);
        }
    }
    alone_since_ = std::move(alone);
    return {};
}

ELASTICJOB_DECL std::string nothing_is_left_behind::reached(stage s, cluster_view const& v) const {
    if (s != stage::left) return {};
    if (!v.runs.empty()) return detail::item_text(v.runs.front().job, v.runs.front().item) + " still runs";
    std::string orphans;
    v.server.tree().for_each([&](std::string const& path, node const& n) {
        if (n.stat.owner != 0) orphans += " " + path;
    });
    return orphans.empty() ? orphans : "there are ephemeral nodes:" + orphans;
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_INVARIANTS_IPP
