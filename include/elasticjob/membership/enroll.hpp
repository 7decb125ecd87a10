// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes an instance a member of a job, with a few reads and one transaction.
#ifndef ELASTICJOB_MEMBERSHIP_ENROLL_HPP
#define ELASTICJOB_MEMBERSHIP_ENROLL_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/membership/job_chain.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/registry/change_attempts.hpp>
#include <elasticjob/registry/joint_commits.hpp>
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
    /// The revision in which this instance has created the job, with the assignment that `begin` has added. Nothing:
    /// somebody else has created the job, or this is unknown, because a reply was lost.
    std::optional<revision> founded{};
    bool is_new_job = false; ///< this instance has created it, with or without an assignment
};

/// Adds nothing to the transaction that creates a job: see `enroll`.
struct adds_nothing {
    bool operator()(transaction&, valid_config const&) const noexcept { return false; }
};

/// Whether an instance joins for the first time, or is a member that returns with a new session.
enum class arrival : std::uint8_t { first, again };

/// An instance that joins a job, and what it brings.
struct enroll_request {
    instance_id self;

    /// Its own configuration. An instance that brings one joins for the first time. Without one the job must exist, and
    /// its configuration stays.
    std::optional<valid_config> local{};

    arrival how = arrival::again;

    /// Its weight and labels (membership/traits.hpp). If they are empty, no node is read or written for them.
    std::string traits{};

    /// The name of its machine. If `is_host_name(host)`, it is written unless the registry has it already; otherwise no
    /// node is read or written for it.
    std::string host{};

    /// Whether the job is probably new: then the first attempt does not look whether it exists. If it does, the registry
    /// refuses that attempt. Only for an instance that brings a configuration.
    bool expects_new = false;

    /// A stored configuration with more items or item parameters is refused before any other check.
    std::uint32_t items_max = sharding_total_count_max;

    bool is_new() const noexcept { return local || how == arrival::first; }
};

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
    none,  ///< nothing, because the job is probably new
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
    if (look == enroll_look::none) co_return found;
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

/// The nodes that an enrollment reads.
struct enroll_reads {
    std::vector<node_path> parents, details; ///< as for `find_nodes`
};
enroll_reads nodes_to_read(job_layout const& at, enroll_request const& what);

/// The configuration in force after the transaction.
struct enroll_decision {
    valid_config in_force;
    config_decision why;
    bool writes_config = false;
};

/// Errors: removed; no_node if the job is gone; those of `read_stored` and `decide_config`.
result<enroll_decision> decide_enrollment(job_layout const& at, enroll_request const& what, found_nodes const& there);

/// The conditions of one attempt.
struct enroll_attempt {
    session_view session;
    enroll_look look = enroll_look::whole;
    std::vector<std::int64_t> const& our_sessions; ///< of all attempts
};

/// Everything except the first assignment, or the request for one. Errors: job_conflict if another process has the name
/// of the instance.
result<transaction> enrollment_transaction(job_layout const& at, enroll_request const& what,
                                           enroll_decision const& decision, found_nodes const& there,
                                           enroll_attempt const& now);

} // namespace detail

/// Registers the instance. One transaction creates the missing nodes of the job and writes the configuration with its
/// schedules if CF-1 says so. It also creates the server's node, the instance's node and the request for a sharding. So
/// no member is ever half registered (ST-7, D-27).
///
/// The server's node is overwritten only if the instance joins for the first time and the configuration in force says
/// overwrite. If there is a `local`, it must also be the configuration in force. So a server that an operator has
/// disabled stays disabled (D-22), and a reconnect disturbs no other member (D-43). If a former session of the same
/// instance has left the instance's node, the node is replaced (D-16). But if the instance joins for the first time and
/// another session owns its name, it is refused.
///
/// A job with a tombstone, `ext/removed`, accepts no members, and no node is created for it; the transaction checks
/// that there is no tombstone. `accept`, a `result<void>(valid_config const&)`, is called with the configuration in
/// force before the write; an error from it prevents the write. The labels that items need are written together with
/// the configuration. If the job would follow a job that waits for it, it is refused (membership/job_chain.hpp); the
/// transaction checks the configurations of the whole chain.
///
/// If the transaction would create the job, `begin`, a `bool(transaction&, valid_config const&)`, may add the first
/// leader and the first assignment to it, if they fit. It returns whether it has added the assignment; then no sharding
/// is requested. It is called once for each attempt, and the registry may refuse that attempt.
///
/// If another client writes first or a reply is lost, this reads again and repeats, at most 20 times in all. Errors:
/// job_conflict, also if a live instance has the name; invalid_config if jobs would wait for each other; malformed_data
/// and those of `validate` for the stored configuration; no_node if the job is gone; removed if it was removed for
/// good; version_conflict if the nodes kept changing; unknown_outcome if the instance may be registered; those of the
/// registry. After any error the instance may be registered by an earlier attempt, whose reply was lost: withdraw it.
///
/// `commits` sends the transaction, so jobs that are joined at the same moment share requests.
template <registry Registry, class Accept, class Begin = adds_nothing>
task<result<enrollment>> enroll(joint_commits<Registry>& commits, job_layout at, enroll_request what, Accept accept,
                                Begin begin = {}) {
    using detail::enroll_look;
    auto& r = commits.registry();
    auto [parents, details] = detail::nodes_to_read(at, what);
    std::vector<std::int64_t> our_sessions;
    detail::change_attempts attempts{20};
    int const is_guess = what.expects_new && what.local ? 1 : 0;
    while (attempts.next()) {
        // The first look leaves out nodes that hardly ever decide anything. If they do, the registry refuses the
        // transaction, and the second look reads them too.
        auto const looks = attempts.number() - is_guess; // before this attempt
        auto look = enroll_look::whole;
        if (looks < 0) look = enroll_look::none;
        if (looks == 0) look = what.local ? enroll_look::hopeful : enroll_look::brief;
        if (looks == 1) details.push_back(at.instance(what.self));
        ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
        our_sessions.push_back(session.id);
        auto const reading = co_await detail::find_nodes(r, at, parents, details, look);
        if (!reading && attempts.note_read(reading.error())) continue;
        if (!reading) co_return reading.error();
        auto const& there = *reading;
        bool const may_be_stored = look != enroll_look::whole && !there.has(at.root());
        auto decided = detail::decide_enrollment(at, what, there);
        auto const accepted = decided ? accept(decided->in_force) : result<void>{decided.error()};
        if (!accepted && may_be_stored) continue; // another configuration may be in force
        if (!accepted) co_return accepted.error();
        auto& decision = *decided;
        auto const chain = co_await read_job_chain(r, decision.in_force.config());
        if (!chain && (may_be_stored || attempts.note_read(chain.error()))) continue;
        if (!chain) co_return chain.error();

        detail::enroll_attempt const now{session, look, our_sessions};
        ELASTICJOB_CO_TRY(auto t, detail::enrollment_transaction(at, what, decision, there, now));
        check_job_chain(t, *chain);
        bool const is_sharded = !there.has(at.root()) && begin(t, decision.in_force);
        if (!is_sharded && !there.has(at.sharding_necessary())) t.create(at.sharding_necessary(), {});
        auto const reply = co_await commits.commit(std::move(t));
        if (reply && *reply) {
            enrollment done{session.generation, std::move(decision.in_force), std::move(decision.why)};
            done.is_new_job = !there.has(at.root());
            if (is_sharded) done.founded = reply->at;
            co_return done;
        }
        // Refused, lost, or from a session that is over: read again. If the transaction took effect after all, the
        // instance's node belongs to one of our sessions.
        if (!reply && !attempts.note_write(reply.error())) co_return reply.error();
    }
    co_return attempts.failure("the job's nodes kept changing while this instance was registering", at.root().str());
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/enroll.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_ENROLL_HPP
