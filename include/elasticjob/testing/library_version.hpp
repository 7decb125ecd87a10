// SPDX-License-Identifier: Apache-2.0
/// \file \brief `library_version`: what an earlier version of the library knows of a job's nodes, so that simulated
/// clusters can contain its members.
#ifndef ELASTICJOB_TESTING_LIBRARY_VERSION_HPP
#define ELASTICJOB_TESTING_LIBRARY_VERSION_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/testing/simulated_server.hpp>

#include <array>
#include <functional> // less
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::testing {

/// What a member of some version reads and writes in the nodes that gain content from version to version: the run
/// records and the children of `ext/orders`. The lists name what an earlier version knows, so everything that a later
/// version adds is unknown to it. A member of an earlier version ignores what it does not know, and drops such lines
/// of a run record when it writes the record. If it does not know the line `entries`, it writes each entry of the
/// history in a line of its own.
///
/// The scheduler of such a member is the shipped one: only its nodes are those of the earlier version. It does not
/// repeat the defects and decisions of that version; `test/soak --other-worker` runs real earlier programs.
struct library_version {
    std::string_view name = "present";
    bool knows_all = true;                            ///< then the lists do not matter
    std::span<std::string_view const> record_lines{}; ///< the first words of the known lines of a run record
    std::span<std::string_view const> orders{};       ///< the beginnings of the names of known orders

    bool knows_line(std::string_view line) const noexcept;
    bool knows_order(std::string_view name) const noexcept;

    /// What a member of this version understands of a run record.
    std::string as_read(std::string_view record) const;

    /// A run record of the present version, as a member of this version would have written it.
    std::string as_written(std::string_view record) const;
};

namespace detail {
inline constexpr std::array<std::string_view, 13> lines_before_shared_history{
    "schedule", "through", "obeyed", "begun",  "completed", "next",    "checkpoint",
    "entry",    "dead",    "retry",  "resume", "running",   "progress"};
inline constexpr std::array<std::string_view, 3> orders_with_pauses{"stop-", "look-", "pause"};
inline constexpr std::array<std::string_view, 2> orders_without_pauses{"stop-", "look-"};
} // namespace detail

/// The version before b503910 (25 Nov 2026): run records did not name their own node yet (lines `created` and
/// `copies`), and the earlier entries of their history did not share a line (`entries`). Its members do not see the
/// completed runs that share a line, and drop them. They also forget how often a record was copied to another
/// ensemble.
inline constexpr library_version previous_version{"previous", false, detail::lines_before_shared_history,
                                                  detail::orders_with_pauses};

/// The version before a83c466 (23 Nov 2026): jobs and servers could not be paused yet. Its members do not see a pause.
inline constexpr library_version version_without_pauses{"without_pauses", false, detail::lines_before_shared_history,
                                                        detail::orders_without_pauses};

/// Part of a `simulated_registry`: translates its requests before they are sent, and the replies to it. So others see a
/// process of that version, and it sees what that version would see. Does nothing for the present version.
///
/// After an unknown outcome, a scheduler reads the record and compares it with the text that it wrote. So the
/// translation keeps the last text that the process wrote to each record. A read returns this text while the registry
/// still holds its translation.
///
/// Threads: the world's.
class version_translation {
public:
    explicit version_translation(library_version const& v) noexcept : version_{v} {}

    library_version const& version() const noexcept { return version_; }

    /// Translates the run records in the operations of a request.
    void translate(std::vector<operation>& operations);

    /// Translates the reply to a read of that path.
    void translate(std::string_view path, wire_answer& answer);

private:
    library_version version_;
    std::map<std::string, std::string, std::less<>> own_; ///< the process's own texts of run records, by path
};

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/library_version.ipp>
#endif
#endif // ELASTICJOB_TESTING_LIBRARY_VERSION_HPP
