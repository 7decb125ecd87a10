// SPDX-License-Identifier: Apache-2.0
/// \file \brief How an instance becomes a member of a job: one reading, one transaction.
#ifndef ELASTICJOB_MEMBERSHIP_ENROLL_HPP
#define ELASTICJOB_MEMBERSHIP_ENROLL_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/stored_config.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/algorithm.hpp> // find
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// What an instance has joined.
template <class Config = valid_config, class Decision = config_decision>
struct basic_enrollment {
    session_generation generation;
    Config config;     ///< that is in force
    Decision decision; ///< how it came to be so
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using enrollment = basic_enrollment<>;

namespace detail {

/// The nodes that members find their way by. Each stands behind its parent.
template <class Path = node_path>
std::vector<Path> base_nodes(job_layout const& at) {
    return {at.root(),    at.leader(),    at.election(), at.election_latch(), at.sharding_flags(),
            at.servers(), at.instances(), at.ext(),      at.run_records(),   at.orders()};
}

/// The stored configuration, checked as strictly as our own: a member must not start what it cannot run. Both nodes of
/// it; null is one that is not there.
template <job_configuration Config = job_config>
result<std::optional<basic_valid_config<Config>>> read_stored(deferred<node, Config> const* stored,
                                                              deferred<node, Config> const* schedule,
                                                              job_layout const& at) {
    if (!stored) return std::optional<basic_valid_config<Config>>{};
    auto in_registry = [](error e, node_path const& path) {
        e.what = "the configuration in the registry cannot be used: " + e.what +
                 "; mend or remove the node, or start with overwrite";
        e.where = path.str() + (e.where.empty() ? "" : ", " + e.where);
        return e;
    };
    auto config = from_json<Config>(stored->data);
    if (!config) return in_registry(std::move(config).error(), at.config());
    if (!*config) return std::optional<basic_valid_config<Config>>{};
    auto whole = with_schedule_text(**std::move(config), schedule ? std::string_view{schedule->data} : "");
    if (!whole) return in_registry(std::move(whole).error(), at.schedule());
    auto checked = validate(*std::move(whole));
    if (!checked) return in_registry(std::move(checked).error(), at.config());
    return std::optional{*std::move(checked)};
}

/// The labels that items need are not in the configuration's node, but go with it.
template <class Node, class Transaction>
void put_labels(Transaction& t, node_path path, std::optional<Node> const& stored, std::string const& labels) {
    if (!stored && !labels.empty()) t.create(std::move(path), labels);
    if (stored && labels.empty()) t.remove(std::move(path), stored->stat.version);
    if (stored && !labels.empty() && stored->data != labels) t.set(std::move(path), labels, stored->stat.version);
}
template <class Node, class Decision>
void note_labels(Decision& decision, std::optional<Node> const& stored, std::string const& labels) {
    auto const theirs = stored ? stored->data : std::string{};
    if (theirs != labels) decision.differences.push_back({"itemLabels", in_quotes(theirs), in_quotes(labels)});
}

} // namespace detail

/// Registers the instance: whatever is missing of the job's nodes, the configuration as CF-1 decides with its schedules,
/// the server, the instance, and the request for a sharding, all in one transaction, so that nothing is ever half registered (ST-7,
/// D-27). `local` is this member's own configuration; without it the job must exist, and its configuration stays: that
/// is how a member comes back with a new session. The server's node is only created, not written over, unless the
/// configuration says overwrite: what an operator has disabled stays disabled (D-22), and a reconnect disturbs nobody
/// (D-43). What a former session of the same instance has left behind is replaced (D-16); but who joins for the first time,
/// which is with a `local`, and finds somebody else's session under its own name is refused.
/// `accept`, a `result<void>(valid_config const&)`, has the last word on the configuration, before anything is written.
/// `traits` is what the instance says of itself (membership/traits.hpp); if empty, it says nothing, and no node is read or
/// written for it. The labels that items need are written where the configuration is.
/// Repeated with fresh readings, a bounded number of times, when somebody else was quicker or a reply was lost.
/// Errors: job_conflict, also for the name of an instance that lives; malformed_data and those of `validate` for what is stored; no_node if the job is gone;
/// version_conflict if it never came to rest; those of the registry.
template <registry Registry, class Accept>
task<result<enrollment>> enroll(Registry& r, job_layout at, instance_id self,
                                deferred<std::optional<valid_config>, Registry> local, Accept accept,
                                deferred<std::string, Registry> traits = {}) {
    using action = typename deferred<config_decision, Registry>::action;
    auto bases = detail::base_nodes<deferred<node_path, Registry>>(at);
    auto const server = std::string{self.server()};
    bool const tells_traits = !traits.empty();
    bool const tells_labels = local && (!local->config().item_labels.empty() || local->config().overwrite);
    deferred<std::vector<std::int64_t>, Registry> our_sessions;
    for (int attempt = 0; attempt < 20; ++attempt) {
        ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
        our_sessions.push_back(session.id);
        auto paths = bases;
        paths.insert(paths.end(), {at.config(), at.server(server), at.instance(self), at.sharding_necessary(), at.schedule()});
        auto const traits_at = paths.size();
        if (tells_traits) paths.insert(paths.end(), {at.traits(), at.traits_of(self)});
        auto const labels_at = paths.size();
        if (tells_labels) paths.push_back(at.item_labels());
        auto reading = co_await read_all(r, std::move(paths));
        if (!reading && (is_connection(reading.error().code) || reading.error() == errc::session_lost)) continue;
        if (!reading) co_return std::move(reading).error();
        auto const& nodes = *reading;
        auto const& config_node = nodes[bases.size()];
        auto const& server_node = nodes[bases.size() + 1];
        auto const& instance_node = nodes[bases.size() + 2];
        auto const& necessary_node = nodes[bases.size() + 3];

        auto const& schedule_node = nodes[bases.size() + 4];

        auto stored = detail::read_stored(config_node ? &*config_node : nullptr,
                                          schedule_node ? &*schedule_node : nullptr, at);
        if (!stored && !(local && local->config().overwrite)) co_return std::move(stored).error();
        if (!local && !(stored && *stored)) co_return error{errc::no_node, "the job has been removed", at.root().str()};
        auto const before = [&]() -> deferred<std::optional<job_config>, Registry> {
            if (stored && *stored) return (*stored)->config();
            return std::nullopt;
        }();
        deferred<config_decision, Registry> decision{action::keep_stored};
        if (local) {
            ELASTICJOB_CO_TRY(decision, decide_config(before, local->config()));
        }
        bool const writes_config = decision.what == action::write_local;
        if (tells_labels && !writes_config)
            detail::note_labels(decision, nodes[labels_at], local->config().item_labels);
        deferred<valid_config, Registry> in_force = writes_config ? *local : **stored;
        ELASTICJOB_CO_CHECK(accept(in_force));

        deferred<transaction, Registry> t{session.generation};
        for (std::size_t i = 0; i < bases.size(); ++i)
            if (!nodes[i]) t.create(bases[i], {});
        if (writes_config && config_node)
            t.set(at.config(), to_json(in_force.config()), config_node->stat.version);
        else if (writes_config)
            t.create(at.config(), to_json(in_force.config()));
        else
            t.check(at.config(), config_node->stat.version);
        // One that says the same is left as it is: what is to be run once now has been.
        auto schedule = writes_config ? to_schedule_text(in_force.config()) : std::string{};
        if (!schedule_node && !schedule.empty())
            t.create(at.schedule(), std::move(schedule));
        else if (schedule_node && writes_config && schedule.empty())
            t.remove(at.schedule(), schedule_node->stat.version);
        else if (schedule_node && writes_config && schedule != schedule_node->data)
            t.set(at.schedule(), std::move(schedule), schedule_node->stat.version);
        else if (schedule_node)
            t.check(at.schedule(), schedule_node->stat.version);
        std::string const state{in_force.config().disabled ? server_disabled : ""};
        if (!server_node)
            t.create(at.server(server), state);
        else if (writes_config && in_force.config().overwrite && server_node->data != state)
            t.set(at.server(server), state, server_node->stat.version);
        bool const is_here = instance_node && instance_node->stat.owner == session.id;
        bool const is_ours =
            !local || !instance_node ||
            std::find(our_sessions.begin(), our_sessions.end(), instance_node->stat.owner) != our_sessions.end();
        if (!is_ours)
            co_return error{errc::job_conflict,
                            "an instance of this very name is a member of the job already: give each process another "
                            "seed, or none",
                            at.instance(self).str()};
        if (instance_node && !is_here) t.remove(at.instance(self));
        if (!is_here) t.create(at.instance(self), {}, create_mode::ephemeral);
        if (!necessary_node) t.create(at.sharding_necessary(), {});
        if (tells_traits) {
            if (!nodes[traits_at]) t.create(at.traits(), {});
            if (nodes[traits_at + 1]) t.remove(at.traits_of(self));
            t.create(at.traits_of(self), traits, create_mode::ephemeral);
        }
        if (tells_labels && writes_config)
            detail::put_labels(t, at.item_labels(), nodes[labels_at], local->config().item_labels);

        auto const reply = co_await r.commit(std::move(t));
        if (reply && *reply)
            co_return deferred<enrollment, Registry>{session.generation, std::move(in_force), std::move(decision)};
        // Refused, lost, or of a session that is over: read again what is there now. Our own session shows as such.
        if (!reply && !is_connection(reply.error().code) && !(reply.error() == errc::session_lost))
            co_return reply.error();
    }
    co_return error{errc::version_conflict, "the job's nodes kept changing while this instance was registering",
                    at.root().str()};
}

} // namespace elasticjob
#endif // ELASTICJOB_MEMBERSHIP_ENROLL_HPP
