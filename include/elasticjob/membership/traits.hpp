// SPDX-License-Identifier: Apache-2.0
/// \file \brief What stands in `ext/instances/{id}`: the weight and the labels of an instance.
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

/// With its own storage, unlike instance_traits of allocation/traits.hpp, which says what they mean. The node is
/// ephemeral and created together with the instance, and there is none of an instance that is as by default.
struct stored_traits {
    std::uint32_t weight = 1;
    std::string labels{};

    /// Nothing for the default, else two lines.
    std::string to_text() const;

    /// The longest text that is read.
    static constexpr std::size_t bytes_max = 65'536;

    /// Errors: malformed_data, naming the line, or if there is more than `bytes_max`.
    static result<stored_traits> parse(std::string_view text);

    friend bool operator==(stored_traits const&, stored_traits const&) = default;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/traits.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_TRAITS_HPP
