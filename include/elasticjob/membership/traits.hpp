// SPDX-License-Identifier: Apache-2.0
/// \file \brief What stands in `ext/instances/{id}`: the weight and the labels of an instance.
#ifndef ELASTICJOB_MEMBERSHIP_TRAITS_HPP
#define ELASTICJOB_MEMBERSHIP_TRAITS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// With its own storage, unlike instance_traits of allocation/traits.hpp, which says what they mean. The node is
/// ephemeral and created together with the instance, and there is none of an instance that is as by default.
template <class Text = std::string>
struct basic_stored_traits {
    std::uint32_t weight = 1;
    Text labels{};

    /// Nothing for the default, else two lines.
    Text to_text() const {
        if (weight == 1 && labels.empty()) return {};
        return "weight " + std::to_string(weight) + "\nlabels " + labels + "\n";
    }

    /// Errors: malformed_data, naming the line.
    static result<basic_stored_traits> parse(std::string_view text) {
        basic_stored_traits traits;
        using view = deferred<std::string_view, Text>;
        if (text.empty()) return traits;
        for (auto const line : detail::split<view>(text, "\n")) {
            constexpr std::string_view weight_is = "weight ", labels_are = "labels ";
            bool good = true;
            if (line.starts_with(weight_is))
                good = detail::read_number(line.substr(weight_is.size()), traits.weight);
            else if (line.starts_with(labels_are))
                traits.labels = line.substr(labels_are.size());
            else
                good = line.empty();
            if (!good) return error{errc::malformed_data, "not a line of an instance's traits", std::string{line}};
        }
        return traits;
    }

    friend bool operator==(basic_stored_traits const&, basic_stored_traits const&) = default;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using stored_traits = basic_stored_traits<>;

} // namespace elasticjob
#endif // ELASTICJOB_MEMBERSHIP_TRAITS_HPP
