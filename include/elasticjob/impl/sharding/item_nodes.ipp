// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_ITEM_NODES_IPP
#define ELASTICJOB_IMPL_SHARDING_ITEM_NODES_IPP

#include <elasticjob/sharding/item_nodes.hpp>

#include <string_view>

namespace elasticjob {

namespace detail {

inline constexpr std::string_view nobody_text = "-@-@-";

} // namespace detail

ELASTICJOB_DECL std::string owner_text(std::string owner) {
    return owner.empty() ? std::string{detail::nobody_text} : owner;
}

ELASTICJOB_DECL std::string owner_in(std::string text) { return text == detail::nobody_text ? std::string{} : text; }

ELASTICJOB_DECL item_nodes::item_nodes(std::map<item_index, reading> read) : read_{std::move(read)} {
    for (auto& [i, one] : read_)
        if (one.instance) one.instance->data = owner_in(std::move(one.instance->data));
}

ELASTICJOB_DECL bool item_nodes::has_owner_node(item_index i) const {
    if (by_assignment_) return i < by_assignment_->items();
    auto const at = read_.find(i);
    return at != read_.end() && at->second.instance;
}

ELASTICJOB_DECL std::string const& item_nodes::owner(item_index i) const {
    return by_assignment_ ? by_assignment_->owner_id(i).str() : read_.at(i).instance->data;
}

ELASTICJOB_DECL item_index item_nodes::end() const {
    if (by_assignment_) return by_assignment_->items();
    return read_.empty() ? 0 : read_.rbegin()->first + 1;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SHARDING_ITEM_NODES_IPP
