// SPDX-License-Identifier: Apache-2.0
/// \file \brief The traits of the instances and the needs of the items, on which one sharding is based.
#ifndef ELASTICJOB_SHARDING_JOB_TRAITS_HPP
#define ELASTICJOB_SHARDING_JOB_TRAITS_HPP

#include <elasticjob/allocation/traits.hpp>
#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/membership/traits.hpp>
#include <elasticjob/registry/node.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The additional input of a strategy with `uses_traits`, with its storage and with proofs that a transaction can
/// check. Empty for other strategies.
class job_traits {
public:
    struct proof {
        node_path path;
        node_version version;
    };

    /// Reads the needs of the items. Errors: invalid_config, which names the correct form.
    result<void> read_needs(node_path path, node const* stored, std::uint32_t item_count);

    /// Adds the next instance, in ElasticJob's order. An unreadable node counts as absent, because an operator's
    /// mistake must not prevent a sharding of all other instances' items.
    void add_instance(node_path path, node const* stored);

    std::vector<proof> const& proofs() const noexcept { return proofs_; }

    /// A fingerprint: if it is the same, a strategy receives the same traits and needs. 0 means that all are the
    /// defaults.
    std::uint64_t print() const noexcept { return print_; }

    /// For a request to the strategy. The results refer to this object.
    std::vector<instance_traits> traits() const;
    std::vector<item_need> needs() const;

private:
    void note(std::string_view text) noexcept;

    std::vector<stored_traits> stored_;
    std::vector<item_labels::rule> needed_;
    std::vector<proof> proofs_;
    std::uint64_t print_ = 0;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/job_traits.ipp>
#endif
#endif // ELASTICJOB_SHARDING_JOB_TRAITS_HPP
