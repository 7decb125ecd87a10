// SPDX-License-Identifier: Apache-2.0
/// \file \brief The content of `ext/instances/{id}`: the weight and the labels of an instance.
#ifndef ELASTICJOB_MEMBERSHIP_TRAITS_HPP
#define ELASTICJOB_MEMBERSHIP_TRAITS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// Owns its strings, unlike instance_traits of allocation/traits.hpp, which describes their meaning. The ephemeral node
/// is created together with the instance. An instance with default traits has no node.
struct stored_traits {
    std::uint32_t weight = 1;
    std::string labels{};

    /// Empty for the default, otherwise two lines.
    std::string to_text() const;

    /// The longest text that `parse` accepts.
    static constexpr std::size_t bytes_max = 65'536;

    /// Errors: malformed_data, which names the line, or if the text is longer than `bytes_max`.
    static result<stored_traits> parse(std::string_view text);

    friend bool operator==(stored_traits const&, stored_traits const&) = default;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/traits.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_TRAITS_HPP
