// SPDX-License-Identifier: Apache-2.0
/// \file \brief Who is who: jobs, instances, servers, sharding items and slots, as types that cannot be mixed up.
#ifndef ELASTICJOB_CORE_IDENTITY_HPP
#define ELASTICJOB_CORE_IDENTITY_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace elasticjob {

/// The number of a sharding item, 0 to count-1.
using item_index = std::uint32_t;

/// The place of an instance in the list that a strategy was given, 0 to instances-1.
using slot_index = std::uint32_t;

/// What stands between the parts of an instance id and of a task id.
inline constexpr std::string_view identity_delimiter = "@-@";

/// The name of a job: one element of a registry path, never empty. Made by `job_name::parse`.
class job_name {
public:
    /// Limits the length to 200 bytes, because the name is part of every path of the job.
    /// Errors: invalid_argument, with what is wrong and what would be right.
    static result<job_name> parse(std::string_view text);

    std::string const& str() const noexcept { return text_; }
    friend auto operator<=>(job_name const&, job_name const&) = default;

private:
    explicit job_name(std::string_view text) : text_{text} {}
    std::string text_;
};

/// One running scheduler's part in one job: `<ip>@-@<token>`. Java writes its process id as the token; ours begins with
/// the process id too, but goes on with `-` and something that no other start of the process has, so that neither a
/// recycled process id nor two containers of the same address can collide.
class instance_id {
public:
    instance_id() = default;

    /// Anything with `@-@` in it, and no `/`. Errors: malformed_data.
    static result<instance_id> parse(std::string_view text);

    std::string const& str() const noexcept { return text_; }

    /// What stands before the first `@-@`.
    std::string_view server() const noexcept;

    /// What stands behind the first `@-@`.
    std::string_view token() const noexcept;

    /// A member that follows the 2.1.5 protocol only: its token is a bare process id.
    bool is_java() const noexcept;

    friend auto operator<=>(instance_id const&, instance_id const&) = default;

private:
    explicit instance_id(std::string text) : text_{std::move(text)} {}
    std::string text_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/identity.ipp>
#endif
#endif // ELASTICJOB_CORE_IDENTITY_HPP
