// SPDX-License-Identifier: Apache-2.0
/// \file \brief `guarded_sessions`: the memory in which registries note their sessions for a guardian.
#ifndef ELASTICJOB_REGISTRY_ZK_GUARDED_SESSIONS_HPP
#define ELASTICJOB_REGISTRY_ZK_GUARDED_SESSIONS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/zk/options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sys/types.h> // pid_t

namespace elasticjob::zk {

/// The data that a client needs to take over a session.
struct session_key {
    std::int64_t id = 0; ///< 0: there is no session
    std::array<char, 16> password{};
    std::int32_t timeout_ms = 0; ///< as negotiated
};

/// Lies in memory that the worker, which is the process with the registries, shares with its guardian. The worker
/// writes without a system call and without waiting, so a guardian that is slow, stopped or dead has no effect on it.
/// The guardian reads the sessions only after the worker has died, perhaps in the middle of a write. Therefore each
/// place has two keys, and `edition` tells which of them counts.
class guarded_sessions {
public:
    static constexpr std::size_t seats_max = 64; ///< registries of one process
    static constexpr std::size_t servers_bytes_max = 1023;
    static constexpr std::size_t digest_bytes_max = 255;

    /// The present session of one registry.
    struct place {
        /// The worker's session at its death. Precondition: the worker is dead.
        session_key const& last() const noexcept { return keys[edition.load(std::memory_order_acquire) % 2]; }
        void put(session_key const& next) noexcept;

        std::atomic<bool> is_taken = false;
        std::atomic<std::uint32_t> edition = 0;
        std::array<session_key, 2> keys{};
        char servers[servers_bytes_max + 1]{}; ///< as in `zk_options`, without servers that do not fit
        char digest[digest_bytes_max + 1]{};
    };
    static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
                  "a lock would not be shared with the guardian");

    pid_t worker = 0; ///< the only process that writes; its forks do not
    std::atomic<bool> is_dismissed = false;
    std::array<place, seats_max> places{};
};

/// The place of one registry. Empty if there is no guardian; then all functions have no effect. Threads: one at a time.
class guard_seat {
public:
    guard_seat() = default;

    /// Takes a place in `all`, which may be null. Errors: invalid_argument (another process has started the guardian,
    /// or the digest or a server's name is too long for it), overloaded (there is no place left).
    static result<guard_seat> take(guarded_sessions* all, zk_options const& o);

    guard_seat(guard_seat&& other) noexcept
        : all_{std::exchange(other.all_, nullptr)},
          place_{std::exchange(other.place_, nullptr)} {}
    guard_seat& operator=(guard_seat&& other) noexcept {
        std::swap(all_, other.all_);
        std::swap(place_, other.place_);
        return *this;
    }
    ~guard_seat();

    /// From now on the guardian ends this session when the process dies.
    void hold(session_key const& key) noexcept;

    /// From now on the guardian ends no session of this registry.
    void clear() noexcept { hold({}); }

private:
    guard_seat(guarded_sessions& all, guarded_sessions::place& p) noexcept : all_{&all}, place_{&p} {}

    bool is_ours() const noexcept;

    guarded_sessions* all_ = nullptr;
    guarded_sessions::place* place_ = nullptr;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/guarded_sessions.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_GUARDED_SESSIONS_HPP
