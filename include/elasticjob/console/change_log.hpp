// SPDX-License-Identifier: Apache-2.0
/// \file \brief The last changes of a registry's jobs, numbered, so that a reader can continue after a pause.
#ifndef ELASTICJOB_CONSOLE_CHANGE_LOG_HPP
#define ELASTICJOB_CONSOLE_CHANGE_LOG_HPP

#include <elasticjob/core/decl.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Called after each change, on the thread that adds the change; must not block.
struct log_listener {
    void (*on_change)(log_listener&) noexcept;
};

/// Keeps the last 4,096 changes. Threads: any.
class change_log {
public:
    static constexpr std::size_t changes_max = 4'096;

    /// The changes that a reader has missed.
    struct news {
        std::vector<std::string> jobs{}; ///< without duplicates, in the order of their last change
        bool is_reset = false;           ///< the log does not know all changes
        std::uint64_t last = 0;          ///< the number from which to continue
    };

    /// `epoch` differs from that of any other log.
    explicit change_log(std::string epoch) : epoch_{std::move(epoch)} {}

    /// `told` is called after each change from now on; null: no listener.
    void follow(log_listener* told);

    void add(std::string job);

    /// Call it if any job may have changed.
    void reset();

    std::uint64_t last() const;

    news after(std::uint64_t number) const;

    /// The id of an event, and its number. The id of another log has the number 0, which is older than all known
    /// changes.
    std::string id_of(std::uint64_t number) const { return epoch_ + "-" + std::to_string(number); }
    std::uint64_t number_of(std::string_view id) const;

private:
    std::string const epoch_;
    mutable std::mutex mutex_;
    std::deque<std::string> jobs_; ///< of the changes up to `last_`
    std::uint64_t last_ = 1;
    log_listener* told_ = nullptr;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/change_log.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_CHANGE_LOG_HPP
