// SPDX-License-Identifier: Apache-2.0
/// \file \brief What instances say of themselves and items need, as one sharding goes by it.
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

/// Everything that a strategy with `uses_traits` is told besides, with the storage, and with what a transaction can check.
/// Empty for the others.
class job_traits {
public:
    struct proof {
        node_path path;
        node_version version;
    };

    /// What items need. Errors: invalid_config, which says what would be right.
    result<void> read_needs(node_path path, node const* stored, std::uint32_t item_count);

    /// The next instance, in ElasticJob's order. A node that cannot be read counts as one that is not there: an operator's
    /// slip must not keep the items of all others from moving.
    void add_instance(node_path path, node const* stored);

    std::vector<proof> const& proofs() const noexcept { return proofs_; }

    /// Of two with the same, strategies are told the same; 0: all is as by default.
    std::uint64_t print() const noexcept { return print_; }

    /// For a request. They refer to this object.
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
