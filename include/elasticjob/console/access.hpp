// SPDX-License-Identifier: Apache-2.0
/// \file \brief The roles of operators in the console, and their rights.
#ifndef ELASTICJOB_CONSOLE_ACCESS_HPP
#define ELASTICJOB_CONSOLE_ACCESS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// Each role includes those before it.
enum class console_role : std::uint8_t {
    none,
    viewer,        ///< reads
    operator_,     ///< gives commands: trigger, pause, disable, shut down, stop, handle dead letters
    administrator, ///< changes configurations, adds and removes jobs
};

/// The names are `none`, `viewer`, `operator` and `administrator`.
std::string_view name_of(console_role r) noexcept;

/// The rights of some operators in some jobs. Both patterns are globs: `*` stands for any text, `?` for a character.
struct console_grant {
    std::string operators = "*"; ///< their names; `@` and a pattern: the members of groups with such a name
    std::string jobs = "*";
    console_role role = console_role::viewer;
};

namespace detail {

/// Whether the text is a valid name: 1 to 100 bytes of UTF-8 without control characters, and without blanks at its
/// ends. So lists and the audit trail can show it.
bool is_operator_name(std::string_view name);

/// Whether the text matches a pattern in which `*` stands for any text and `?` for one byte. O(size of the pattern
/// times size of the text).
bool matches_glob(std::string_view pattern, std::string_view text);

/// The rights of one operator. A value. What no grant allows is forbidden.
class console_rights {
public:
    console_rights() = default;
    console_rights(std::vector<console_grant> const& all, std::string_view operator_name,
                   std::vector<std::string> const& groups = {});

    console_role in_job(std::string_view job) const;

    /// The role in every present and future job: only grants for `*` count.
    console_role in_all_jobs() const;

    /// The highest role in any job.
    console_role somewhere() const;

private:
    std::vector<console_grant> grants_; ///< those for this operator
};

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/access.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_ACCESS_HPP
