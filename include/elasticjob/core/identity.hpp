// SPDX-License-Identifier: Apache-2.0
/// \file \brief Distinct types for the names of jobs and instances and the numbers of items and slots.
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

/// The position of an instance in the list that a strategy receives, 0 to instances-1.
using slot_index = std::uint32_t;

/// The separator between the parts of an instance id and of a task id.
inline constexpr std::string_view identity_delimiter = "@-@";

/// The name of a job: one element of a registry path, never empty. Created by `job_name::parse`.
class job_name {
public:
    /// Limits the length to 200 bytes, because the name is part of every path of the job, and the characters to those
    /// of `node_path`. Errors: invalid_argument, which names the problem and the correct form.
    static result<job_name> parse(std::string_view text);

    std::string const& str() const noexcept { return text_; }
    friend auto operator<=>(job_name const&, job_name const&) = default;

private:
    explicit job_name(std::string_view text) : text_{text} {}
    std::string text_;
};

/// Identifies one running scheduler in one job: `<ip>@-@<token>`. Java's token is its process id. Ours begins with the
/// process id too (in a simulation: 1), followed by `-` and a random part. So ids differ even if a process id is used
/// again, or if two containers have the same address.
class instance_id {
public:
    instance_id() = default;

    /// Accepts any text that contains `@-@` and no `/`. Errors: malformed_data.
    static result<instance_id> parse(std::string_view text);

    std::string const& str() const noexcept { return text_; }

    /// The text before the first `@-@`.
    std::string_view server() const noexcept;

    /// The text after the first `@-@`.
    std::string_view token() const noexcept;

    /// Whether the member follows only the 2.1.5 protocol. If so, its token is a bare process id.
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
