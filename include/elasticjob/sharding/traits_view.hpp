// SPDX-License-Identifier: Apache-2.0
/// \file \brief Additional nodes that a leader watches if its strategy uses weights or labels.
#ifndef ELASTICJOB_SHARDING_TRAITS_VIEW_HPP
#define ELASTICJOB_SHARDING_TRAITS_VIEW_HPP

#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/mirror.hpp>
#include <elasticjob/registry/mirrored.hpp>
#include <elasticjob/sharding/job_traits.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace elasticjob {

/// Mirrors `ext/labels` and `ext/instances`: three watches, and one for each instance that publishes traits. Only a
/// leader has one, and only with a strategy that `uses_traits`. Threads: the loop's.
template <registry Registry>
class traits_view {
    using Loop = typename Registry::loop_type;

public:
    /// Notifies `news`, which must outlive the view, after every change.
    traits_view(Registry& r, job_layout at, event_count<Loop>& news);

    bool is_loaded() const noexcept { return labels_.is_loaded() && instances_.is_loaded(); }

    /// Why a node cannot be read, if the connection is not the reason; otherwise null.
    error const* failure() const { return labels_.failure() ? labels_.failure() : instances_.failure(); }

    /// Errors: invalid_config if the needs of the items are unreadable.
    result<job_traits> traits_of(std::vector<instance_id> const& instances, std::uint32_t item_count) const;

private:
    job_layout at_;
    mirrored_node<Registry> labels_;
    mirror<Registry> instances_;
};

template <registry Registry>
traits_view<Registry>::traits_view(Registry& r, job_layout at, event_count<Loop>& news)
    : at_{std::move(at)},
      labels_{r, at_.item_labels(), news, {.presence = node_presence::rare}},
      instances_{r, at_.traits(), mirror_scope::children(), news} {}

template <registry Registry>
result<job_traits> traits_view<Registry>::traits_of(std::vector<instance_id> const& instances,
                                                    std::uint32_t item_count) const {
    job_traits traits;
    ELASTICJOB_CHECK(traits.read_needs(at_.item_labels(), labels_.get(), item_count));
    for (auto const& id : instances) traits.add_instance(at_.traits_of(id), instances_.find(id.str()));
    return traits;
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_TRAITS_VIEW_HPP
