// SPDX-License-Identifier: Apache-2.0
/// \file \brief Who may do what in the console.
#ifndef ELASTICJOB_CONSOLE_ACCESS_HPP
#define ELASTICJOB_CONSOLE_ACCESS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// Each may do what those before it may.
enum class console_role : std::uint8_t {
    none,
    viewer,        ///< reads
    operator_,     ///< gives commands: trigger, pause, disable, shut down, stop, settle dead letters
    administrator, ///< changes configurations, adds and removes jobs
};

/// `none`, `viewer`, `operator`, `administrator`.
std::string_view name_of(console_role r) noexcept;

/// What some operators may do with some jobs. Both patterns are globs: `*` stands for any text, `?` for a character.
struct console_grant {
    std::string operators = "*"; ///< their names; `@` and a pattern: those in a group of such a name
    std::string jobs = "*";
    console_role role = console_role::viewer;
};

namespace detail {

/// Whether lists and the audit trail can show the name: 1 to 200 bytes of UTF-8 without control characters, and without blanks at
/// its ends.
bool is_operator_name(std::string_view name);

/// A pattern in which `*` stands for any text and `?` for one byte. O(size of the pattern times size of the text).
bool matches_glob(std::string_view pattern, std::string_view text);

/// What one operator may do. A value; nothing is allowed that no grant allows.
class console_rights {
public:
    console_rights() = default;
    console_rights(std::vector<console_grant> const& all, std::string_view operator_name,
                   std::vector<std::string> const& groups = {});

    console_role in_job(std::string_view job) const;

    /// In every job that there is or will be: by grants for `*` only.
    console_role in_all_jobs() const;

    /// In the job in which it is most.
    console_role somewhere() const;

private:
    std::vector<console_grant> grants_; ///< this operator's
};

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/access.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_ACCESS_HPP
