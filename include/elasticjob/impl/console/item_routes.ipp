// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_ITEM_ROUTES_IPP
#define ELASTICJOB_IMPL_CONSOLE_ITEM_ROUTES_IPP

#include <elasticjob/console/item_routes.hpp>
#include <elasticjob/core/algorithm.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL console_reply reply_for(std::vector<item_overview> all, std::string_view health, std::string_view owner,
                                        std::uint32_t first, std::uint32_t count) {
    std::erase_if(all, [&](auto const& i) { return i.owner.find(owner) == i.owner.npos; });
    std::map<std::string, std::size_t> counts;
    for (auto const& i : all) ++counts[std::string{name_of(i.health)}];
    if (!health.empty()) std::erase_if(all, [&](auto const& i) { return name_of(i.health) != health; });
    auto const total = all.size();
    auto const begin = std::min<std::size_t>(first, total), end = std::min<std::size_t>(begin + count, total);
    std::vector<item_overview> rows(std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(begin)),
                                    std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(end)));
    auto out = begin_list(rows, end < total ? std::to_string(end) : std::string{}, total);
    out.open("counts");
    for (auto const& [name, n] : counts) out.member(name, n);
    return json_reply(out.close().finish());
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_ITEM_ROUTES_IPP
