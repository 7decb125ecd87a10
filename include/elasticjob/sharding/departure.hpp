// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides how an instance leaves its job, without a registry.
#ifndef ELASTICJOB_SHARDING_DEPARTURE_HPP
#define ELASTICJOB_SHARDING_DEPARTURE_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/abandoned_nodes.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob {

/// The next request of an instance that leaves, or the end of its departure.
struct departure_step {
    enum class kind : std::uint8_t {
        read,       ///< reads `paths` at once; reply to `nodes_read`
        read_items, ///< reads the nodes of all items; reply to `items_read`
        commit,     ///< commits `changes`; reply to `committed`
        pause,      ///< waits a moment, or until the session changes; then `resumed`
        finished,   ///< the result is `outcome`
    };
    kind what = kind::finished;
    std::vector<node_path> paths{};
    transaction changes{session_generation::current()};
    result<void> outcome = success();
};

/// Removes the instance's node, its leadership and its name from its items, and requests a sharding, all in one
/// transaction. Decides on a fresh read instead of a view: a node that the view does not show yet would otherwise stay
/// as long as the session lives.
///
/// If many instances leave at once, each writes the whole assignment, and all but one are refused. A refused instance
/// leaves its items to the leader, which shards anyway. Beside Java members, the instance tries the whole transaction
/// more often. The reason is that a Java member takes a vanished instance for a crash and runs its items at once,
/// unless no item names the instance (D-1, JV-4). If a Java leader has named the owners, only the items' nodes tell
/// which these are, so the instance reads them, with one request per item.
///
/// A read that finds no node of the instance may be out of date: the server behind it may not know yet a node whose
/// creation had no reply. Such a read counts only after the registry has answered a write of this session. So a write
/// that changes nothing goes first.
///
/// A value: `begin` begins. Pass each reply to the function that the step names; each call returns the next step. Only
/// one step is pending at a time. Threads: one at a time.
class departure {
public:
    enum class phase : std::uint8_t {
        reading,       ///< reads the nodes to remove
        reading_items, ///< reads the owners that a Java leader has named
        removing,      ///< the removal of those nodes is pending
        catching_up,   ///< found no nodes: a write that changes nothing is pending
        pausing,       ///< waits before the next attempt
        gone,          ///< the end, with or without an error
    };

    /// Removes only nodes of session `g`. Pass `has_traits` if the instance may have published traits.
    departure(job_layout at, instance_id self, session_generation g, mono_time deadline, bool has_traits,
              bool has_java_members);

    departure_step begin(session_view const& session);
    departure_step nodes_read(result<std::vector<std::optional<node>>> nodes, registry_limits const& limits,
                              session_view const& session, mono_time now);
    departure_step items_read(result<item_nodes> items, registry_limits const& limits, mono_time now);
    departure_step committed(result<commit_reply> reply, session_view const& session, mono_time now);
    departure_step resumed(session_view const& session) { return begin(session); }

    phase where() const noexcept { return phase_; }

    /// The whole state, for people: "removing; 1 releases left; 2 refusals". Two departures with the same constructor
    /// arguments and the same text make the same decisions, unless they are reading items.
    friend std::string to_string(departure const& d);

private:
    /// The nodes as just read. The last three are read only while the departure also releases the items.
    struct reading {
        std::optional<node> instance, leader, traits;
        std::optional<node> necessary, assignment, first_item;
    };

    bool releases_items() const noexcept { return releases_left_ > 0; }

    /// The removals; empty if no node of the instance is left.
    transaction removal(reading const& now, session_view const& session) const;

    /// The removals, and the release of the items. Returns them without the release if there is no room for it.
    transaction release_assigned(transaction removals, reading const& now, registry_limits const& limits) const;
    transaction release_named(transaction removals, item_nodes const& items, registry_limits const& limits) const;

    departure_step remove(transaction changes);
    departure_step failed(error why, mono_time now);
    departure_step finish(result<void> outcome);
    departure_step try_later(error why, mono_time now);

    static constexpr int java_releases = 20;
    static constexpr int refusals_max = 30; ///< other clients can cause at most three: they only remove our nodes

    job_layout at_;
    instance_id self_;
    session_generation generation_;
    mono_time deadline_;
    bool has_traits_;
    bool has_java_members_;
    phase phase_ = phase::reading;
    transaction removals_{session_generation::current()}; ///< while reading items
    bool has_written_ = false;                            ///< the registry has answered a write of this session
    int releases_left_;
    int refusals_ = 0;
};

std::string to_string(departure const& d);

namespace detail {

/// The nodes that the registry must remove for an instance that could not remove them itself.
abandoned_nodes left_behind(job_layout const& at, instance_id const& self, session_generation g,
                            std::optional<node_path> candidate);

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/departure.ipp>
#endif
#endif // ELASTICJOB_SHARDING_DEPARTURE_HPP
