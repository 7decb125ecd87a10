// SPDX-License-Identifier: Apache-2.0
/// \file \brief The numbers of elements that an item has processed: the content of the node `ext/counts/{item}`.
#ifndef ELASTICJOB_EXECUTION_ITEM_COUNTS_HPP
#define ELASTICJOB_EXECUTION_ITEM_COUNTS_HPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstdint>
#include <string>

namespace elasticjob {

/// The elements that a dataflow job has processed in some period.
struct item_counts {
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;

    item_counts& operator+=(item_counts const& more) noexcept;
    friend bool operator==(item_counts const&, item_counts const&) = default;

    /// Times in milliseconds since 1970.
    std::string to_text(wall_time since, wall_time until) const;
};

namespace detail {

/// Overwrites a persistent node, and creates it and its parent if necessary. Up to four requests.
/// Errors: those of the registry.
template <registry Registry>
task<result<void>> write_or_create(Registry& r, node_path path, node_path parent, std::string text) {
    auto const set = co_await r.set(path, text);
    if (set) co_return success();
    if (!(set.error() == errc::no_node)) co_return set.error();
    auto const made = co_await r.create(parent, {}, create_mode::persistent);
    if (!made && !(made.error() == errc::node_exists)) co_return made.error();
    auto const created = co_await r.create(path, text, create_mode::persistent);
    if (created) co_return success();
    if (!(created.error() == errc::node_exists)) co_return created.error();
    auto const again = co_await r.set(path, text);
    if (!again) co_return again.error();
    co_return success();
}

} // namespace detail

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/item_counts.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ITEM_COUNTS_HPP
