// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads many nodes, a limited number of them at once.
#ifndef ELASTICJOB_REGISTRY_READ_PACED_HPP
#define ELASTICJOB_REGISTRY_READ_PACED_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/registry/read_all.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The default number of requests that one call keeps on their way at once. It is large enough to hide the round trips,
/// and small enough that the other requests of the session do not wait long.
inline constexpr std::size_t paced_requests_max = 64;

/// Like `read_all`, for any number of paths. At most `requests_max` requests, but at least one, are on their way at
/// once.
template <registry Registry>
task<result<std::vector<std::optional<node>>>> read_paced(Registry& r, std::vector<node_path> paths,
                                                          std::size_t requests_max) {
    std::vector<std::optional<node>> all;
    all.reserve(paths.size());
    auto const step = std::max(requests_max, std::size_t{1});
    for (std::size_t begin = 0; begin < paths.size(); begin += step) {
        auto const first = paths.begin() + static_cast<std::ptrdiff_t>(begin);
        auto const size = std::min(step, paths.size() - begin);
        std::vector<node_path> slice(first, first + static_cast<std::ptrdiff_t>(size));
        ELASTICJOB_CO_TRY(auto nodes, co_await read_all(r, std::move(slice)));
        std::move(nodes.begin(), nodes.end(), std::back_inserter(all));
    }
    co_return all;
}

/// Lists the children of all the paths, sorted by name. At most `requests_max` requests, but at least one, are on their
/// way at once. A node that does not exist has no children. Any other failure fails the whole call.
template <registry Registry>
task<result<std::vector<std::vector<std::string>>>> list_paced(Registry& r, std::vector<node_path> paths,
                                                               std::size_t requests_max) {
    std::vector<std::vector<std::string>> all;
    all.reserve(paths.size());
    auto const list = [&](node_path const& path) { return r.children(path); };
    auto const step = std::max(requests_max, std::size_t{1});
    for (std::size_t begin = 0; begin < paths.size(); begin += step) {
        auto const first = paths.begin() + static_cast<std::ptrdiff_t>(begin);
        auto const size = std::min(step, paths.size() - begin);
        std::vector<node_path> const slice(first, first + static_cast<std::ptrdiff_t>(size));
        auto answers = co_await gather_each(r.loop(), slice, list);
        for (auto& names : answers) {
            if (!names && !(names.error() == errc::no_node)) co_return std::move(names).error();
            all.push_back(names ? *std::move(names) : std::vector<std::string>{});
            std::sort(all.back().begin(), all.back().end());
        }
    }
    co_return all;
}

/// The children of one node, sorted by name; a node that does not exist has none. One request. Errors: those of the
/// registry.
template <registry Registry>
task<result<std::vector<std::string>>> list_sorted(Registry& r, node_path path) {
    auto names = co_await r.children(std::move(path));
    if (!names && !(names.error() == errc::no_node)) co_return std::move(names).error();
    auto sorted = names ? *std::move(names) : std::vector<std::string>{};
    std::sort(sorted.begin(), sorted.end());
    co_return sorted;
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_READ_PACED_HPP
