// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads several nodes in one round trip.
#ifndef ELASTICJOB_REGISTRY_READ_ALL_HPP
#define ELASTICJOB_REGISTRY_READ_ALL_HPP

#include <elasticjob/core/gather.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace elasticjob {

/// Reads all paths at once. An absent node is a value; any other failure fails the whole call.
template <registry Registry>
task<result<std::vector<std::optional<node>>>> read_all(Registry& r, std::vector<node_path> paths) {
    auto const read = [&](node_path const& path) { return r.get(path); };
    auto answers = co_await gather_each(r.loop(), paths, read);
    std::vector<std::optional<node>> nodes(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
        auto& answer = answers[i];
        if (answer)
            nodes[i] = *std::move(answer);
        else if (!(answer.error() == errc::no_node))
            co_return std::move(answer).error();
    }
    co_return nodes;
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_READ_ALL_HPP
