// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists all nodes below a node.
#ifndef ELASTICJOB_REGISTRY_LIST_BELOW_HPP
#define ELASTICJOB_REGISTRY_LIST_BELOW_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/gather.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace elasticjob {

/// The node itself and all nodes below it, each after its parent; nothing if the node does not exist. One request for
/// each node, up to a hundred at once. The list is not a snapshot: it may or may not contain nodes that are created or
/// removed meanwhile. Errors: those of the registry.
template <registry Registry>
task<result<std::vector<node_path>>> list_below(Registry& r, node_path top) {
    constexpr std::size_t at_once = 100;
    std::vector<node_path> all{std::move(top)};
    for (std::size_t done = 0; done < all.size();) {
        auto const size = std::min(at_once, all.size() - done);
        auto const begin = all.begin() + static_cast<std::ptrdiff_t>(done);
        std::vector<node_path> const slice(begin, begin + static_cast<std::ptrdiff_t>(size));
        done += size;
        auto const list = [&](node_path const& path) { return r.children(path); };
        auto const answers = co_await gather_each(r.loop(), slice, list);
        for (std::size_t i = 0; i < size; ++i) {
            auto const& names = answers[i];
            bool const is_gone = !names && names.error() == errc::no_node;
            if (is_gone && all.size() == 1) co_return std::vector<node_path>{};
            if (is_gone) continue;
            if (!names) co_return names.error();
            for (auto const& name : *names)
                if (!node_path::element_fault(name)) all.push_back(slice[i] / name);
        }
    }
    co_return all;
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_LIST_BELOW_HPP
