// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_TREE_HEALTH_IPP
#define ELASTICJOB_IMPL_OPERATIONS_TREE_HEALTH_IPP

#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/stop_request.hpp>
#include <elasticjob/operations/tree_health.hpp>

#include <array>
#include <set>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(tree_fault f) noexcept {
    constexpr std::array<std::string_view, 6> names{"ghost", "orphan", "abandoned", "surplus", "damaged", "leftover"};
    return names[static_cast<std::size_t>(f)];
}

namespace detail {

inline std::string tag_of(node const& n) {
    return std::to_string(n.stat.created) + "-" + std::to_string(n.stat.modified);
}

/// Examines the nodes of one job.
class tree_inspector {
public:
    tree_inspector(job_layout const& at, job_tree const& tree) : at_{at}, tree_{tree} {}

    std::vector<tree_finding> inspect() && {
        if (auto const* config = find("config"); !config || config->data.empty()) {
            inspect_leftovers();
            return std::move(found_);
        }
        inspect_config();
        inspect_instances();
        inspect_leader();
        inspect_servers();
        for (auto const& [path, n] : tree_) inspect_item_node(path, n);
        inspect_assignment();
        if (auto const* trail = find("ext/audit")) {
            if (auto const read = audit_trail::parse(trail->data); !read)
                report("ext/audit", tree_fault::damaged, unreadable("audit trail", read.error()),
                       "remove the node to begin a new trail: until then no command is carried out");
        }
        std::sort(found_.begin(), found_.end(), [](auto const& a, auto const& b) { return a.path < b.path; });
        return std::move(found_);
    }

private:
    node const* find(std::string_view path) const {
        auto const there = tree_.find(path);
        return there == tree_.end() ? nullptr : &there->second;
    }

    /// Calls `f(name, node)` for each child.
    template <class F>
    void for_children(std::string const& parent, F f) const {
        auto const begin = parent + "/";
        for (auto at = tree_.lower_bound(begin); at != tree_.end() && at->first.starts_with(begin); ++at) {
            auto const name = std::string_view{at->first}.substr(begin.size());
            if (name.find('/') == name.npos) f(name, at->second);
        }
    }

    static std::string unreadable(std::string const& what, error const& why) {
        return "the " + what + " cannot be read: " + to_string(why);
    }

    /// Adds a finding that an operator must handle.
    tree_finding& report(std::string_view path, tree_fault what, std::string text, std::string advice) {
        auto const full = path.empty() ? at_.root().str() : at_.root().str() + "/" + std::string{path};
        found_.push_back({std::string{at_.root().name()}, full, what, std::move(text), false, std::move(advice),
                          tag_of(*find(path))});
        return found_.back();
    }
    /// Adds a finding that `repair` can handle.
    void offer(std::string_view path, tree_fault what, std::string text, std::string repair) {
        report(path, what, std::move(text), std::move(repair)).is_repairable = true;
    }
    /// Whether the node is persistent although it must be ephemeral. If so, adds a finding.
    bool is_ghost(std::string_view path, node const& n, std::string const& what) {
        if (n.stat.owner != 0) return false;
        offer(path, tree_fault::ghost, what + " is persistent, so no process owns it", "the node is removed");
        return true;
    }

    void inspect_leftovers() {
        bool const is_removed = find("ext/removed") != nullptr;
        std::size_t count = 0;
        bool is_live = false, shows_job = is_removed;
        for (auto const& [path, n] : tree_) {
            bool const stays = path.empty() || path == "ext" || path == "ext/removed" || path == "ext/audit";
            count += !stays;
            is_live |= path.starts_with("instances/") && n.stat.owner != 0;
            for (auto const* part : {"servers", "instances", "sharding", "leader", "ext/run", "ext/assignment"})
                shows_job |= path == part;
        }
        if (count == 0 || is_live || !shows_job) return;
        if (is_removed)
            report("", tree_fault::leftover, std::to_string(count) + " nodes of a removed job are left",
                   "remove_job removes them");
        else
            report("", tree_fault::leftover, std::to_string(count) + " nodes exist without a configuration",
                   "add_job adds the job again, remove_job removes it for good");
    }

    void inspect_config() {
        std::string const advice = "change_settings replaces it";
        auto config = from_json(find("config")->data);
        if (!config) {
            report("config", tree_fault::damaged, unreadable("configuration", config.error()), advice);
            return;
        }
        auto whole = **config;
        auto const count = static_cast<std::uint32_t>(std::max(whole.sharding_total_count, 0));
        if (auto const* schedule = find("ext/schedule")) {
            auto const read = with_schedule_text(whole, schedule->data);
            if (!read) {
                report("ext/schedule", tree_fault::damaged, unreadable("schedule", read.error()), advice);
                return;
            }
            whole = *read;
        }
        if (auto const valid = validate(std::move(whole)); valid)
            count_ = count;
        else
            report("config", tree_fault::damaged, "the job cannot run: " + to_string(valid.error()), advice);
        if (auto const* labels = find("ext/labels"))
            if (auto const read = parse_item_labels(labels->data); !read)
                report("ext/labels", tree_fault::damaged, unreadable("labels", read.error()), advice);
    }

    void inspect_instances() {
        for_children("instances", [&](std::string_view name, node const& n) {
            auto const path = "instances/" + std::string{name};
            if (is_ghost(path, n, "the instance")) return;
            sessions_.insert(n.stat.owner);
            servers_.emplace(name.substr(0, name.find(identity_delimiter)));
        });
        for_children("ext/instances", [&](std::string_view name, node const& n) {
            auto const path = "ext/instances/" + std::string{name};
            if (is_ghost(path, n, "the node of an instance's traits")) return;
            if (auto const read = stored_traits::parse(n.data); !read)
                report(path, tree_fault::damaged, unreadable("text of the traits", read.error()),
                       "the instance owns it: start its process again");
        });
    }

    void inspect_leader() {
        if (auto const* n = find("leader/sharding/processing"))
            (void)is_ghost("leader/sharding/processing", *n, "the mark of a sharding");
        auto const inspect_one = [&](std::string const& path, node const& n, std::string const& what) {
            if (is_ghost(path, n, what) || sessions_.contains(n.stat.owner)) return;
            offer(path, tree_fault::orphan, what + " belongs to a process that has no instance in the job",
                  "the node is removed, so that the instances elect their leader");
        };
        if (auto const* n = find("leader/election/instance")) inspect_one("leader/election/instance", *n, "the leader");
        for_children("leader/election/latch", [&](std::string_view name, node const& n) {
            inspect_one("leader/election/latch/" + std::string{name}, n, "the candidate");
        });
    }

    void inspect_servers() {
        if (servers_.empty()) return; // no instance runs the job, so all servers are without one
        for_children("servers", [&](std::string_view name, node const& n) {
            if (servers_.contains(name) || !check_server(name)) return;
            auto const path = "servers/" + std::string{name};
            if (n.data == server_disabled)
                report(path, tree_fault::abandoned, "the server has no instance, and an operator has disabled it",
                       "remove_server removes it, and forgets that it is disabled");
            else if (find("leader/sharding/necessary"))
                report(path, tree_fault::abandoned, "the server has no instance", "wait for the next sharding");
            else
                offer(path, tree_fault::abandoned, "the server has no instance", "the node is removed");
        });
    }

    /// The item of that name, if the job has it.
    std::optional<item_index> item_of(std::string_view name) const {
        auto const item = parse_number<item_index>(name);
        return item && (!count_ || *item < *count_) ? item : std::nullopt;
    }

    /// Whether the items are still to be divided anew. Until then a member may own an item that the job no longer has.
    bool is_to_be_sharded(std::string_view name) const {
        auto const* assigned = find("ext/assignment");
        auto const a = assigned ? assignment::parse(assigned->data) : result<assignment>{assignment{}};
        auto const item = parse_number<item_index>(name);
        return (item && a && *item < a->items()) || find("leader/sharding/necessary");
    }

    void inspect_item_node(std::string const& path, node const& n) {
        std::string_view const text{path};
        auto const name_below = [&](std::string_view parent) {
            auto const name = text.starts_with(parent) ? text.substr(parent.size()) : std::string_view{};
            return name.find('/') == name.npos ? name : std::string_view{};
        };
        if (text.starts_with("sharding/")) return inspect_sharding(path, n);
        for (std::string_view const parent : {"ext/run/", "ext/counts/", "leader/failover/items/"})
            if (auto const name = name_below(parent); !name.empty() && !item_of(name)) {
                if (find("sharding/" + std::string{name} + "/running"))
                    report(path, tree_fault::surplus, "the job has no such item, but it runs",
                           "wait for the end of the run");
                else if (is_to_be_sharded(name))
                    report(path, tree_fault::surplus, "the job has no such item", "wait for the next sharding");
                else
                    offer(path, tree_fault::surplus, "the job has no such item", "the node is removed");
                return;
            }
        if (auto const name = name_below("ext/run/"); !name.empty()) inspect_record(path, name, n);
        if (auto const name = name_below("ext/orders/"); !name.empty()) inspect_order(path, name, n);
    }

    void inspect_sharding(std::string const& path, node const& n) {
        auto const rest = std::string_view{path}.substr(std::string_view{"sharding/"}.size());
        auto const slash = rest.find('/');
        auto const item = rest.substr(0, slash);
        auto const part = slash == rest.npos ? std::string_view{} : rest.substr(slash + 1);
        if (part == "running" || part == "failover") {
            if (is_ghost(path, n, part == "running" ? "the mark of a run" : "the mark of a failover")) return;
            if (!sessions_.contains(n.stat.owner))
                report(path, tree_fault::orphan, "the mark belongs to a process that has no instance in the job",
                       "it goes when the run ends, or with the process: end it if it hangs");
        }
        if (slash != rest.npos || item_of(item)) return;
        bool is_live = false;
        for_children(path, [&](std::string_view, node const& child) { is_live |= child.stat.owner != 0; });
        if (is_live)
            report(path, tree_fault::surplus, "the job has no such item, but it runs", "wait for the end of the run");
        else if (is_to_be_sharded(item))
            report(path, tree_fault::surplus, "the job has no such item", "wait for the next sharding");
        else
            offer(path, tree_fault::surplus, "the job has no such item", "the node and what is below it are removed");
    }

    void inspect_record(std::string const& path, std::string_view name, node const& n) {
        auto const read = run_record::parse(n.data);
        if (read) return;
        auto const mark = "sharding/" + std::string{name} + "/running";
        if (find(mark))
            report(path, tree_fault::damaged, unreadable("run record", read.error()), "wait for the end of the run");
        else
            offer(path, tree_fault::damaged, unreadable("run record", read.error()),
                  "the record is removed, with the item's history and dead letters; the item begins anew");
    }

    void inspect_order(std::string const& path, std::string_view name, node const& n) {
        if (name == "pause") {
            if (auto const read = job_pauses::parse(n.data); !read)
                offer(path, tree_fault::damaged, unreadable("list of pauses", read.error()),
                      "the node is removed, with all pauses");
            return;
        }
        for (std::string_view const kind : {"stop-", "look-"}) {
            if (!name.starts_with(kind)) continue;
            if (!item_of(name.substr(kind.size())))
                offer(path, tree_fault::surplus, "the job has no such item", "the order is removed");
            else if (kind == "stop-" && !parse_stop_request(n.data))
                offer(path, tree_fault::damaged, "the order to stop a run names no due instant",
                      "the order is removed");
            return;
        }
        offer(path, tree_fault::surplus, "there is no such kind of order", "the order is removed");
    }

    void inspect_assignment() {
        auto const* n = find("ext/assignment");
        if (!n) return;
        if (auto const read = assignment::parse(n->data); !read)
            offer("ext/assignment", tree_fault::damaged, unreadable("assignment", read.error()),
                  "the node is removed, and a sharding requested");
    }

    job_layout const& at_;
    job_tree const& tree_;
    std::vector<tree_finding> found_;
    std::optional<std::uint32_t> count_; ///< of the items; nothing if the members cannot use the configuration
    std::set<std::int64_t> sessions_;    ///< of the live instances
    std::set<std::string, std::less<>> servers_{}; ///< of the live instances
};

ELASTICJOB_DECL std::vector<tree_finding> find_faults(job_layout const& at, job_tree const& tree) {
    return tree_inspector{at, tree}.inspect();
}

ELASTICJOB_DECL void put_repair(transaction& t, job_layout const& at, job_tree const& tree,
                                tree_finding const& finding) {
    auto const path = *node_path::parse(finding.path);
    std::string const below = finding.path.substr(at.root().str().size() + 1);
    auto const version_of = [&](std::string const& p) { return tree.find(p)->second.stat.version; };
    auto const has = [&](node_path const& p) { return tree.contains(p.str().substr(at.root().str().size() + 1)); };
    if (finding.what == tree_fault::ghost) {
        t.remove_persistent(path, version_of(below));
        return;
    }
    if (finding.what == tree_fault::surplus && below.starts_with("sharding/")) {
        check_no_sharding(t, at, has(at.leader()), has(at.sharding_flags()));
        if (has(at.assignment())) t.check(at.assignment(), version_of("ext/assignment"));
        std::vector<std::string> doomed;
        for (auto const& [p, n] : tree)
            if (p.starts_with(below + "/")) doomed.push_back(p);
        for (; !doomed.empty(); doomed.pop_back()) // children before their parents
            t.remove_persistent(*node_path::parse(at.root().str() + "/" + doomed.back()), version_of(doomed.back()));
    }
    t.remove(path, version_of(below));
    constexpr std::string_view records = "ext/run/";
    std::optional<item_index> item;
    if (below.starts_with(records)) item = parse_number<item_index>(std::string_view{below}.substr(records.size()));
    if (item && has(at.item(*item))) t.check_absent(at.item_running(*item));
    if (finding.what != tree_fault::damaged) return;
    if (below == "ext/assignment" && !has(at.sharding_necessary())) {
        if (!has(at.leader())) t.create(at.leader(), {});
        if (!has(at.sharding_flags())) t.create(at.sharding_flags(), {});
        t.create(at.sharding_necessary(), {});
    }
    if (!item) return;
    auto const order = tree.find("ext/orders/look-" + item_name(*item));
    if (!has(at.orders())) t.create(at.orders(), {});
    put_look_order(t, at, *item, order == tree.end() ? std::optional<node>{} : order->second);
}

ELASTICJOB_DECL std::string subject_of(job_layout const& at, std::string_view path) {
    auto const root = at.root().str();
    if (path.starts_with(root + "/")) path.remove_prefix(root.size() + 1);
    return audit_trail::word(path);
}

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_IMPL_OPERATIONS_TREE_HEALTH_IPP
