// SPDX-License-Identifier: Apache-2.0
/// \file \brief The decisions about one instance's registration with a job, without a registry.
#ifndef ELASTICJOB_MEMBERSHIP_REGISTRATION_HPP
#define ELASTICJOB_MEMBERSHIP_REGISTRATION_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/node.hpp>

#include <cstdint>
#include <optional>

namespace elasticjob {

/// What an instance does next about its registration.
enum class registration_step : std::uint8_t {
    rest,          ///< nothing, until a fact changes
    stop_runs,     ///< asks its runs to stop, because other instances may own the items now; then calls `next` again
    enroll_again,  ///< under the new session; then calls `enrolled`
    look_for_node, ///< reads whether its node exists; reply to `node_read`
    look_for_tombstone, ///< reads whether the job has a tombstone; reply to `tombstone_read`
    find_out_why,       ///< its node is gone: reports the reason, unless an operator did it; then calls `leave`
};

/// The facts of one moment.
struct registration_facts {
    session_view session;
    session_generation generation{};     ///< of the session under which the instance has enrolled
    std::optional<std::int64_t> owner{}; ///< of the instance's node, if the view shows the node
    bool has_config = false;             ///< the view shows the configuration
    bool stands_down = false;            ///< the instance may run nothing more
    mono_time now{};

    bool is_registered() const noexcept { return session.is_connected(generation); }
};

/// Under the same session nothing is necessary; under a new one the instance enrolls again (CN-3). If its node is gone
/// while its session lives, an operator has removed the instance, and it leaves (SD-1, D-18). It also leaves if the job
/// has been removed: then there is a tombstone, or no configuration for two seconds.
///
/// A value: call `next` after each change of a fact, and do what it returns. Threads: one at a time.
class registration {
public:
    enum class phase : std::uint8_t {
        unconfirmed, ///< has enrolled, and the view has not shown its node of this session: the view may be behind
        confirmed,   ///< the view has shown it
        expired,     ///< the session is over
        removed,     ///< its node is gone for certain
        over         ///< must leave, whatever happens now
    };

    registration_step next(registration_facts const& f);

    // ---- Replies, with the facts of that moment. Each returns whether to call `next` now.

    /// Otherwise the view is about to change.
    bool node_read(bool is_there, registration_facts const& f);
    /// Otherwise call `next` after a pause, because time counts.
    bool tombstone_read(bool is_there, registration_facts const& f);

    /// The instance has enrolled again.
    void enrolled() noexcept;

    void leave() noexcept { phase_ = phase::over; }

    phase where() const noexcept { return phase_; }

    /// If the configuration is gone and there is no tombstone, somebody has deleted it by hand or with Java's console.
    /// That counts only after this span, because a Java member that finds an empty configuration deletes it before it
    /// writes its own.
    static constexpr std::chrono::seconds config_timeout{2};

private:
    phase phase_ = phase::unconfirmed;
    std::optional<mono_time> config_gone_since_; ///< while the view shows no configuration
};

} // namespace elasticjob
#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/registration.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_REGISTRATION_HPP
