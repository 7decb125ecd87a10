// SPDX-License-Identifier: Apache-2.0
/// \file \brief Who is who: jobs, instances, servers, sharding items and slots, as types that cannot be mixed up.
#ifndef ELASTICJOB_CORE_IDENTITY_HPP
#define ELASTICJOB_CORE_IDENTITY_HPP

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
    template <class Name = job_name>
    static result<Name> parse(std::string_view text) {
        auto refuse = [&](std::string why) { return error{errc::invalid_argument, std::move(why), std::string{text}}; };
        if (text.empty()) return refuse("job name must not be empty");
        if (text.size() > 200) return refuse("job name must be at most 200 bytes long");
        if (text == "." || text == "..") return refuse("job name must not be '.' or '..', which are no path elements");
        if (text.find('/') != text.npos) return refuse("job name must not contain '/': it is one element of a path");
        if (text.find(identity_delimiter) != text.npos)
            return refuse("job name must not contain '@-@', which separates the parts of a task id");
        for (char const c : text)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
                return refuse("job name must not contain control characters");
        return job_name{text};
    }

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
    template <class Id = instance_id>
    static result<Id> parse(std::string_view text) {
        if (auto const at = text.find(identity_delimiter); at == text.npos || text.find('/') != text.npos)
            return error{errc::malformed_data, "an instance id must look like <ip>@-@<token>", std::string{text}};
        return instance_id{std::string{text}};
    }

    std::string const& str() const noexcept { return text_; }

    /// What stands before the first `@-@`.
    std::string_view server() const noexcept {
        return std::string_view{text_}.substr(0, text_.find(identity_delimiter));
    }

    /// What stands behind the first `@-@`.
    std::string_view token() const noexcept {
        auto const at = text_.find(identity_delimiter);
        return at == text_.npos ? std::string_view{} : std::string_view{text_}.substr(at + identity_delimiter.size());
    }

    /// A member that follows the 2.1.5 protocol only: its token is a bare process id.
    bool is_java() const noexcept {
        auto const id = token();
        return !id.empty() && id.find_first_not_of("0123456789") == id.npos;
    }

    friend auto operator<=>(instance_id const&, instance_id const&) = default;

private:
    explicit instance_id(std::string text) : text_{std::move(text)} {}
    std::string text_;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_IDENTITY_HPP
