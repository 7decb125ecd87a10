// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides how our instance takes part in the latches of Java members' once listeners.
#ifndef ELASTICJOB_EXECUTION_ONCE_LATCH_HPP
#define ELASTICJOB_EXECUTION_ONCE_LATCH_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace elasticjob::detail {

/// An item that this instance owns.
struct latch_item {
    item_index item = 0;
    bool is_running = false;
    std::optional<wall_time> begun{}; ///< its last run
};

/// A Java member with a once listener registers each of its items below a latch, `guarantee/started` before the body
/// and `guarantee/completed` after it, and waits. The member that finds all items of the job registered calls its hook
/// and removes the latch, which wakes the others. They would wait for our items for ever. So we register these too, in
/// advance where that is possible: then the last member is a Java member, and can call its hook. If we are the last, we
/// remove the latch (GU-8).
///
/// A value: facts in, requests out. Threads: any one.
class once_latch {
public:
    enum class stage : std::uint8_t { started, completed };

    explicit once_latch(stage s) noexcept : stage_{s} {}

    /// The requests that bring the latch up to date.
    struct step {
        std::vector<item_index> registered{}; ///< create these nodes, and the latch if it is absent
        std::vector<item_index> withdrawn{};  ///< remove these
        std::vector<std::string> all{};       ///< then remove the latch with these names, if there are any
        bool is_empty() const noexcept { return registered.empty() && withdrawn.empty() && all.empty(); }
    };

    /// `ours` is in ascending order. `names` are the children of the latch; nothing: it is absent. `is_used`: a once
    /// listener has run in this job. `timeout` is how long we leave a full latch to the Java member that calls its
    /// hook.
    step next(std::vector<latch_item> const& ours, std::uint32_t item_count,
              std::optional<std::vector<std::string>> const& names, bool is_used, mono_time now,
              mono_time::duration timeout);

    /// The step has been carried out.
    void done(std::vector<latch_item> const& ours, step const& s);

    /// When to check again although nothing has changed.
    mono_time look_again() const noexcept { return full_until_ < removed_by_ ? full_until_ : removed_by_; }

private:
    /// O(log items); null: this instance does not own it.
    static latch_item const* find(std::vector<latch_item> const& ours, item_index item);
    bool is_to_register(latch_item const& i, bool is_open) const;
    /// Our registered nodes have gone, but the latch has not: it is being removed, and we must not add nodes.
    bool is_being_removed(std::set<std::string> const& there, mono_time now);

    static constexpr std::chrono::seconds removal_max{1};

    stage stage_;
    std::set<item_index> ours_{}; ///< registered by this instance
    std::map<item_index, std::optional<wall_time>>
        registered_{};                        ///< the last run of each item that has been registered
    mono_time full_until_ = mono_time::max(); ///< a full latch is removed then
    mono_time removed_by_ = mono_time::max(); ///< then a latch that is being removed counts as staying
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/once_latch.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ONCE_LATCH_HPP
