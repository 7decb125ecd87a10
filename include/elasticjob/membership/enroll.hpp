// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes an instance a member of a job, with a few reads and one transaction.
#ifndef ELASTICJOB_MEMBERSHIP_ENROLL_HPP
#define ELASTICJOB_MEMBERSHIP_ENROLL_HPP

#include <elasticjob/core/algorithm.hpp> // find
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/host_name.hpp>
#include <elasticjob/membership/job_chain.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The result of joining a job.
struct enrollment {
    session_generation generation;
    valid_config config;      ///< the configuration in force
    config_decision decision; ///< the reason why it is in force
};

/// Adds nothing to the transaction that creates a job: see `enroll`.
struct adds_nothing {
    bool operator()(transaction&, valid_config const&) const noexcept { return false; }
};

/// Whether an instance joins for the first time, or is a member that returns with a new session.
enum class arrival : std::uint8_t { first, again };

namespace detail {

/// The nodes below which members find each other, each after its parent.
std::vector<node_path> base_nodes(job_layout const& at);

/// The nodes of a job that an enrollment has found, parents without their data. Threads: one at a time.
class found_nodes {
public:
    explicit found_nodes(job_layout at);
    found_nodes(found_nodes&&) noexcept;
    found_nodes& operator=(found_nodes&&) noexcept;
    ~found_nodes(); // defined in the .ipp, so that its code is compiled only once

    bool has(node_path const& path) const { return find(path) != nullptr; }
    /// Null: the node is absent.
    node const* find(node_path const& path) const;

    /// The result of a read: the node, or nothing if it is absent.
    void take(node_path path, std::optional<node> value);

    /// Takes the names below `ext`. Returns whether a C++ member has joined before. Then all base nodes count as found
    /// without a read, and the transaction must check them.
    bool take_names_below_ext(std::vector<std::string> const& names);

    /// Whether the names below `ext` show that the node is absent.
    bool is_known_absent(node_path const& path) const;

private:
    job_layout at_;
    std::map<node_path, node> nodes_;
};

/// How much an enrollment reads.
enum class enroll_look : std::uint8_t {
    whole, ///< all nodes; takes one round trip
    brief, ///< the names below `ext`; if a C++ member has joined before, only the details that may exist; otherwise all
    hopeful, ///< as `brief`; but if there is no `ext`, nothing more, because the job is probably new
};

/// Finds out which of `parents` exist, and reads `details`. After a look that is not whole, the transaction must check
/// everything. Errors: those of the registry.
template <registry Registry>
task<result<found_nodes>> find_nodes(Registry& r, job_layout at, std::vector<node_path> parents,
                                     std::vector<node_path> details, enroll_look look) {
    found_nodes found{at};
    bool has_parents = false;
    if (look != enroll_look::whole) {
        auto const names = co_await r.children(at.ext());
        if (!names && !(names.error() == errc::no_node)) co_return names.error();
        if (!names && look == enroll_look::hopeful) co_return found;
        has_parents = names && found.take_names_below_ext(*names);
    }
    std::vector<node_path> paths;
    if (has_parents)
        std::erase_if(details, [&](node_path const& p) { return found.is_known_absent(p); });
    else
        paths = std::move(parents);
    paths.insert(paths.end(), details.begin(), details.end());
    ELASTICJOB_CO_TRY(auto nodes, co_await read_all(r, paths));
    for (std::size_t i = 0; i < paths.size(); ++i) found.take(std::move(paths[i]), std::move(nodes[i]));
    co_return found;
}

} // namespace detail

/// Registers the instance. One transaction creates the missing nodes of the job and writes the configuration with its
/// schedules if CF-1 says so. It also creates the server's node, the instance's node and the request for a sharding. So
/// no member is ever half registered (ST-7, D-27).
///
/// `local` is this member's own configuration. An instance that passes one joins for the first time. Without it the job
/// must exist, and its configuration stays.
///
/// The server's node is overwritten only if the instance joins for the first time and the configuration in force says
/// overwrite. If `local` is given, it must also be the configuration in force. So a server that an operator has
/// disabled stays disabled (D-22), and a reconnect disturbs no other member (D-43). If a former session of the same
/// instance has left the instance's node, the node is replaced (D-16). But if the instance joins for the first time and
/// another session owns its name, it is refused.
///
/// A job with a tombstone, `ext/removed`, accepts no members, and no node is created for it; the transaction checks
/// that there is no tombstone. `accept`, a `result<void>(valid_config const&)`, is called with the configuration in
/// force before the write; an error from it prevents the write. A stored configuration with more items or item
/// parameters than `items_max` is refused before any other check. `traits` are the instance's own weight and labels
/// (membership/traits.hpp). If they are empty, no node is read or written for them. `host` is the name of this machine.
/// If `is_host_name(host)`, it is written unless the registry has it already; otherwise no node is read or written for
/// it. The labels that items need are written together with the configuration. If the job would follow a job that waits
/// for it, it is refused (membership/job_chain.hpp); the transaction checks the configurations of the whole chain.
///
/// If the transaction would create the job, `begin`, a `bool(transaction&, valid_config const&)`, may add the first
/// leader and the first assignment to it, if they fit. It returns whether it has added the assignment; then no sharding
/// is requested. It is called once for each attempt, and the registry may refuse that attempt.
///
/// If another client writes first or a reply is lost, this reads again and repeats, at most 20 times in all. Errors:
/// job_conflict, also if a live instance has the name; invalid_config if jobs would wait for each other; malformed_data
/// and those of `validate` for the stored configuration; no_node if the job is gone; removed if it was removed for
/// good; version_conflict if the nodes kept changing; those of the registry.
template <registry Registry, class Accept, class Begin = adds_nothing>
task<result<enrollment>> enroll(Registry& r, job_layout at, instance_id self, std::optional<valid_config> local,
                                Accept accept, std::string traits = {}, arrival how = arrival::again,
                                std::uint32_t items_max = sharding_total_count_max, std::string host = {},
                                Begin begin = {}) {
    using action = config_decision::action;
    using detail::enroll_look;
    bool const is_new = local || how == arrival::first;
    auto const bases = detail::base_nodes(at);
    auto const server = std::string{self.server()};
    bool const tells_traits = !traits.empty();
    bool const tells_host = is_host_name(host);
    bool const tells_labels = local && (!local->config().item_labels.empty() || local->config().overwrite);
    auto parents = bases;
    std::vector<node_path> details{at.removed(), at.config(), at.schedule(), at.server(server),
                                   at.sharding_necessary()};
    if (tells_traits) {
        parents.push_back(at.traits());
        details.push_back(at.traits_of(self));
    }
    if (tells_host) {
        parents.push_back(at.hosts());
        details.push_back(at.host(server));
    }
    if (tells_labels) details.push_back(at.item_labels());
    std::vector<std::int64_t> our_sessions;
    for (int attempt = 0; attempt < 20; ++attempt) {
        // The first look leaves out nodes that hardly ever decide anything. If they do, the registry refuses the
        // transaction, and the second look reads them too.
        auto look = enroll_look::whole;
        if (attempt == 0) look = local ? enroll_look::hopeful : enroll_look::brief;
        if (attempt == 1) details.push_back(at.instance(self));
        ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
        our_sessions.push_back(session.id);
        auto const reading = co_await detail::find_nodes(r, at, parents, details, look);
        if (!reading && is_transient(reading.error())) continue;
        if (!reading) co_return reading.error();
        auto const& there = *reading;
        auto const* schedule_node = there.find(at.schedule());
        auto const* server_node = there.find(at.server(server));
        auto const* instance_node = there.find(at.instance(self));

        if (there.has(at.removed())) co_return detail::removed_error(at);
        auto const* stored_node = there.find(at.config());
        auto stored = detail::read_stored(stored_node, schedule_node, at, items_max);
        if (!stored && !(local && local->config().overwrite)) co_return std::move(stored).error();
        if (!local && !(stored && *stored)) co_return error{errc::no_node, "the job has been removed", at.root().str()};
        auto const before = [&]() -> std::optional<job_config> {
            if (stored && *stored) return (*stored)->config();
            return std::nullopt;
        }();
        config_decision decision{action::keep_stored};
        if (local) {
            ELASTICJOB_CO_TRY(decision, decide_config(before, local->config()));
        }
        bool const writes_config = decision.what == action::write_local;
        bool const sets_server = local ? writes_config : is_new;
        if (tells_labels && !writes_config)
            detail::note_labels(decision, there.find(at.item_labels()), local->config().item_labels);
        valid_config in_force = writes_config ? *local : **stored;
        ELASTICJOB_CO_CHECK(accept(in_force));
        auto const chain = co_await read_job_chain(r, in_force.config());
        if (!chain && is_transient(chain.error())) continue;
        if (!chain) co_return chain.error();

        transaction t{session.generation};
        for (auto const& base : bases) {
            if (!there.has(base))
                t.create(base, {});
            else if (look != enroll_look::whole)
                t.check(base); // it may not have been read
        }
        t.check_absent(at.removed());
        if (writes_config) {
            detail::put_config(t, at, in_force.config(), stored_node, schedule_node);
        } else {
            t.check(at.config(), stored_node->stat.version);
            if (schedule_node) t.check(at.schedule(), schedule_node->stat.version);
        }
        std::string const state{in_force.config().disabled ? server_disabled : ""};
        if (!server_node)
            t.create(at.server(server), state);
        else if (sets_server && in_force.config().overwrite && server_node->data != state)
            t.set(at.server(server), state, server_node->stat.version);
        else
            t.check(at.server(server)); // meanwhile a leader that considers it unused may remove it
        bool const is_here = instance_node && instance_node->stat.owner == session.id;
        bool const is_ours =
            !is_new || !instance_node ||
            std::find(our_sessions.begin(), our_sessions.end(), instance_node->stat.owner) != our_sessions.end();
        if (!is_ours)
            co_return error{errc::job_conflict,
                            "an instance with the same name is already a member of the job: give each process another "
                            "seed, or none",
                            at.instance(self).str()};
        if (instance_node && !is_here) t.remove(at.instance(self));
        if (!is_here) t.create(at.instance(self), {}, create_mode::ephemeral);
        if (tells_traits) {
            if (!there.has(at.traits())) t.create(at.traits(), {});
            if (there.has(at.traits_of(self))) t.remove(at.traits_of(self));
            t.create(at.traits_of(self), traits, create_mode::ephemeral);
        }
        if (tells_host) {
            auto const* host_node = there.find(at.host(server));
            if (!there.has(at.hosts())) t.create(at.hosts(), {});
            if (!host_node)
                t.create(at.host(server), host);
            else if (host_node->data != host)
                t.set(at.host(server), host); // even if another process of the same address has written it meanwhile
        }
        if (tells_labels && writes_config)
            detail::put_labels(t, at.item_labels(), there.find(at.item_labels()), local->config().item_labels);

        check_job_chain(t, *chain);
        bool const is_sharded = !there.has(at.root()) && begin(t, in_force);
        if (!is_sharded && !there.has(at.sharding_necessary())) t.create(at.sharding_necessary(), {});

        auto const reply = co_await r.commit(std::move(t));
        if (reply && *reply) co_return enrollment{session.generation, std::move(in_force), std::move(decision)};
        // Refused, lost, or from a session that is over: read again. If the transaction took effect after all, the
        // instance's node belongs to one of our sessions.
        if (!reply && !is_transient(reply.error())) co_return reply.error();
    }
    co_return error{errc::version_conflict, "the job's nodes kept changing while this instance was registering",
                    at.root().str()};
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/enroll.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_ENROLL_HPP
