// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP

#include <elasticjob/core/algorithm.hpp> // find
#include <elasticjob/core/host_name.hpp>
#include <elasticjob/membership/enroll.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::vector<node_path> base_nodes(job_layout const& at) {
    return {at.root(),    at.leader(),    at.election(), at.election_latch(), at.sharding_flags(),
            at.servers(), at.instances(), at.ext(),      at.run_records(),    at.orders()};
}

ELASTICJOB_DECL found_nodes::found_nodes(job_layout at) : at_{std::move(at)} {}
ELASTICJOB_DECL found_nodes::found_nodes(found_nodes&&) noexcept = default;
ELASTICJOB_DECL found_nodes& found_nodes::operator=(found_nodes&&) noexcept = default;
ELASTICJOB_DECL found_nodes::~found_nodes() = default;

ELASTICJOB_DECL node const* found_nodes::find(node_path const& path) const {
    auto const at = nodes_.find(path);
    return at == nodes_.end() ? nullptr : &at->second;
}

ELASTICJOB_DECL void found_nodes::take(node_path path, std::optional<node> value) {
    if (value)
        nodes_.insert_or_assign(std::move(path), *std::move(value));
    else
        nodes_.erase(path); // removed after its name was listed
}

ELASTICJOB_DECL bool found_nodes::take_names_below_ext(std::vector<std::string> const& names) {
    std::map<node_path, node> listed;
    for (auto const& name : names)
        if (!node_path::element_fault(name)) listed.emplace(at_.ext() / name, node{});
    if (!listed.contains(at_.run_records()) || !listed.contains(at_.orders())) return false;
    nodes_ = std::move(listed);
    for (auto& base : base_nodes(at_)) nodes_.emplace(std::move(base), node{});
    return true;
}

ELASTICJOB_DECL bool found_nodes::is_known_absent(node_path const& path) const {
    for (auto here = path; !here.is_root(); here = here.parent())
        if (here.parent() == at_.ext()) return !has(here);
    return false;
}

// ---- The decisions.

/// Whether the configuration in force may bring labels of items.
inline bool may_write_labels(enroll_request const& what) {
    return what.local && (!what.local->config().item_labels.empty() || what.local->config().overwrite);
}

ELASTICJOB_DECL enroll_reads nodes_to_read(job_layout const& at, enroll_request const& what) {
    std::string const server{what.self.server()};
    enroll_reads all{base_nodes(at),
                     {at.removed(), at.config(), at.schedule(), at.server(server), at.sharding_necessary()}};
    if (!what.traits.empty()) {
        all.parents.push_back(at.traits());
        all.details.push_back(at.traits_of(what.self));
    }
    if (is_host_name(what.host)) {
        all.parents.push_back(at.hosts());
        all.details.push_back(at.host(server));
    }
    if (may_write_labels(what)) all.details.push_back(at.item_labels());
    return all;
}

ELASTICJOB_DECL result<enroll_decision> decide_enrollment(job_layout const& at, enroll_request const& what,
                                                          found_nodes const& there) {
    auto const& local = what.local;
    if (there.has(at.removed())) return removed_error(at);
    auto stored = read_stored(there.find(at.config()), there.find(at.schedule()), at, what.items_max);
    if (!stored && !(local && local->config().overwrite)) return std::move(stored).error();
    bool const is_stored = stored && *stored;
    if (!local && !is_stored) return error{errc::no_node, "the job has been removed", at.root().str()};
    if (!local) return enroll_decision{**stored, {config_decision::action::keep_stored}};
    std::optional<job_config> before;
    if (is_stored) before = (*stored)->config();
    ELASTICJOB_TRY(auto why, decide_config(before, local->config()));
    bool const writes_config = why.what == config_decision::action::write_local;
    if (!writes_config && may_write_labels(what))
        note_labels(why, there.find(at.item_labels()), local->config().item_labels);
    return enroll_decision{writes_config ? *local : **stored, std::move(why), writes_config};
}

// ---- The transaction.

/// Creates the missing parents. Checks those that may not have been read.
inline void add_parents(transaction& t, job_layout const& at, found_nodes const& there, enroll_look look) {
    for (auto const& base : base_nodes(at)) {
        if (!there.has(base))
            t.create(base, {});
        else if (look != enroll_look::whole)
            t.check(base);
    }
}

inline void add_config(transaction& t, job_layout const& at, enroll_decision const& decision,
                       found_nodes const& there) {
    auto const* stored = there.find(at.config());
    auto const* schedule = there.find(at.schedule());
    if (decision.writes_config) return put_config(t, at, decision.in_force.config(), stored, schedule);
    t.check(at.config(), stored->stat.version);
    if (schedule) t.check(at.schedule(), schedule->stat.version);
}

inline void add_server(transaction& t, job_layout const& at, enroll_request const& what,
                       enroll_decision const& decision, found_nodes const& there) {
    auto const path = at.server(std::string{what.self.server()});
    auto const* node = there.find(path);
    auto const& config = decision.in_force.config();
    std::string const state{config.disabled ? server_disabled : ""};
    bool const may_overwrite = what.local ? decision.writes_config : what.is_new();
    if (!node)
        t.create(path, state);
    else if (may_overwrite && config.overwrite && node->data != state)
        t.set(path, state, node->stat.version);
    else
        t.check(path); // meanwhile a leader that considers it unused may remove it
}

inline result<void> add_instance(transaction& t, job_layout const& at, enroll_request const& what,
                                 found_nodes const& there, enroll_attempt const& now) {
    auto const path = at.instance(what.self);
    auto const* node = there.find(path);
    if (node && node->stat.owner == now.session.id) return success();
    auto const& ours = now.our_sessions;
    bool const is_ours = !node || std::find(ours.begin(), ours.end(), node->stat.owner) != ours.end();
    if (what.is_new() && !is_ours)
        return error{errc::job_conflict,
                     "an instance with the same name is already a member of the job: give each process another seed, "
                     "or none",
                     path.str()};
    if (node) t.remove(path);
    t.create(path, {}, create_mode::ephemeral);
    return success();
}

inline void add_traits(transaction& t, job_layout const& at, enroll_request const& what, found_nodes const& there) {
    if (what.traits.empty()) return;
    auto const path = at.traits_of(what.self);
    if (!there.has(at.traits())) t.create(at.traits(), {});
    if (there.has(path)) t.remove(path);
    t.create(path, what.traits, create_mode::ephemeral);
}

inline void add_host(transaction& t, job_layout const& at, enroll_request const& what, found_nodes const& there) {
    if (!is_host_name(what.host)) return;
    auto const path = at.host(std::string{what.self.server()});
    auto const* node = there.find(path);
    if (!there.has(at.hosts())) t.create(at.hosts(), {});
    if (!node)
        t.create(path, what.host);
    else if (node->data != what.host)
        t.set(path, what.host); // even if another process of the same address has written it meanwhile
}

ELASTICJOB_DECL result<transaction> enrollment_transaction(job_layout const& at, enroll_request const& what,
                                                           enroll_decision const& decision, found_nodes const& there,
                                                           enroll_attempt const& now) {
    transaction t{now.session.generation};
    add_parents(t, at, there, now.look);
    t.check_absent(at.removed());
    add_config(t, at, decision, there);
    add_server(t, at, what, decision, there);
    ELASTICJOB_CHECK(add_instance(t, at, what, there, now));
    add_traits(t, at, what, there);
    add_host(t, at, what, there);
    if (decision.writes_config && may_write_labels(what))
        put_labels(t, at.item_labels(), there.find(at.item_labels()), what.local->config().item_labels);
    return t;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP
