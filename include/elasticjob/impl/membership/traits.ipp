// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_TRAITS_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_TRAITS_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/membership/traits.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string stored_traits::to_text() const {
    if (weight == 1 && labels.empty()) return {};
    return "weight " + std::to_string(weight) + "\nlabels " + labels + "\n";
}

ELASTICJOB_DECL result<stored_traits> stored_traits::parse(std::string_view text) {
    stored_traits traits;
    if (text.empty()) return traits;
    if (text.size() > bytes_max)
        return error{errc::malformed_data,
                     "an instance's traits have at most " + std::to_string(bytes_max) + " bytes, not " +
                         std::to_string(text.size()),
                     {}};
    for (auto const line : detail::split(text, "\n")) {
        constexpr std::string_view weight_is = "weight ", labels_are = "labels ";
        bool good = true;
        if (line.starts_with(weight_is))
            good = detail::read_number(line.substr(weight_is.size()), traits.weight);
        else if (line.starts_with(labels_are))
            traits.labels = line.substr(labels_are.size());
        else
            good = line.empty();
        if (!good) return error{errc::malformed_data, "not a line of an instance's traits", detail::cut_short(line)};
    }
    return traits;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_MEMBERSHIP_TRAITS_IPP
