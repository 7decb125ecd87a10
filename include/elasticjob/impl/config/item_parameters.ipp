// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_ITEM_PARAMETERS_IPP
#define ELASTICJOB_IMPL_CONFIG_ITEM_PARAMETERS_IPP

#include <elasticjob/config/item_parameters.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL bool read_item_key(std::string_view text, int& key) noexcept {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    return read_number(text, key);
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL result<item_parameters> parse_item_parameters(std::string_view text) {
    auto refuse = [](std::string why) { return error{errc::invalid_config, std::move(why), "shardingItemParameters"}; };
    item_parameters parameters;
    if (text.empty()) return parameters;
    for (auto const piece : detail::split(text, ",")) {
        auto const sides = detail::split(detail::trim(piece), "=");
        if (sides.size() != 2)
            return refuse("Sharding item parameters " + detail::in_quotes(text) +
                          " format error, should be int=xx,int=xx");
        int key{};
        if (!detail::read_item_key(detail::trim(sides[0]), key))
            return refuse("Sharding item parameters key " + detail::in_quotes(sides[0]) + " is not an integer.");
        parameters.values_.insert_or_assign(key, detail::trim(sides[1]));
    }
    return parameters;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_ITEM_PARAMETERS_IPP
