// SPDX-License-Identifier: Apache-2.0
/// \file \brief The commands that operators have given for a job: the content of the node `ext/audit`.
#ifndef ELASTICJOB_OPERATIONS_AUDIT_TRAIL_HPP
#define ELASTICJOB_OPERATIONS_AUDIT_TRAIL_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/wait_for_job.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The outcome of a command.
enum class command_outcome : std::uint8_t {
    done,
    unchanged, ///< the state was already as wanted
    refused,   ///< the note gives the reason; nothing else was written
};

/// The names are `done`, `unchanged` and `refused`.
std::string_view name_of(command_outcome o) noexcept;

/// One command. Its texts have no control characters.
struct audit_entry {
    std::uint64_t number = 0; ///< grows with each entry of the job
    wall_time at{};           ///< by the clock of the process that gave the command
    command_outcome outcome{};
    std::string operator_name{};
    std::string key{};
    std::string verb{};    ///< such as `disable`
    std::string subject{}; ///< such as `server 10.0.0.7`; empty: the job
    std::string note{};    ///< the effect, or the reason for the refusal

    friend bool operator==(audit_entry const&, audit_entry const&) = default;
};

/// The last commands of a job, oldest first, with their idempotency keys. There is one limit for commands that were
/// carried out and another for those that were refused, so refusals never displace a key. A value.
class audit_trail {
public:
    static constexpr std::size_t carried_out_max = 200;
    static constexpr std::size_t refused_max = 50;
    static constexpr std::size_t word_bytes_max = 100; ///< of a name, key or subject
    static constexpr std::size_t note_bytes_max = 300;

    std::vector<audit_entry> const& entries() const noexcept { return entries_; }

    /// The command that was carried out under this key, or null. A refused command does not use up its key.
    audit_entry const* find(std::string_view key) const;

    /// A name, key or subject as an entry has it: escaped and, if it is too long, its beginning and a hash of the
    /// whole.
    static std::string word(std::string_view text);

    /// Numbers the entry, escapes and shortens its texts, and drops the oldest entry of its kind if there are too many.
    void add(audit_entry e);

    std::string to_text() const;

    /// Errors: malformed_data, which names the line.
    static result<audit_trail> parse(std::string_view text);

    friend bool operator==(audit_trail const&, audit_trail const&) = default;

private:
    static constexpr std::string_view header = "elasticjob audit 1\n";

    std::vector<audit_entry> entries_;
};

/// The trail in the job's node; an empty one if there is no node. Errors: malformed_data.
result<audit_trail> read_audit_node(job_layout const& at, node const* there);

/// The commands of a job, which may have been removed. One request, and another one if there are none. Errors: no_node
/// if there is no such job; malformed_data; those of the registry.
template <registry Registry>
task<result<audit_trail>> find_audit_trail(Registry& r, job_name job) {
    job_layout const at{job};
    auto const there = co_await r.get(at.audit());
    bool const has_none = !there && there.error() == errc::no_node;
    if (!there && !has_none) co_return there.error();
    if (has_none) {
        ELASTICJOB_CO_TRY(auto const root, co_await r.exists(at.root()));
        if (!root) co_return detail::no_such_job(at.root());
    }
    co_return read_audit_node(at, there ? &*there : nullptr);
}

/// As a blocking call. Waits up to ten seconds. Errors: as above, and timed_out; invalid_argument for an invalid job
/// name. Threads: any but the loop's.
template <registry Registry>
result<audit_trail> list_commands(Registry& r, std::string_view job) {
    return detail::wait_for_job(r, job, [&](job_name name) { return find_audit_trail(r, std::move(name)); });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/audit_trail.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_AUDIT_TRAIL_HPP
