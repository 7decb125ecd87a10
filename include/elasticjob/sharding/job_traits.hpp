// SPDX-License-Identifier: Apache-2.0
/// \file \brief What instances say of themselves and items need, as one sharding goes by it.
#ifndef ELASTICJOB_SHARDING_JOB_TRAITS_HPP
#define ELASTICJOB_SHARDING_JOB_TRAITS_HPP

#include <elasticjob/allocation/traits.hpp>
#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/core/deferred.hpp>
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
template <class Path = node_path>
class basic_job_traits {
public:
    struct proof {
        Path path;
        node_version version;
    };

    /// What items need. Errors: invalid_config, which says what would be right.
    result<void> read_needs(Path path, deferred<node, Path> const* stored, std::uint32_t item_count) {
        if (!stored) return success();
        proofs_.push_back({std::move(path), stored->stat.version});
        auto labels = parse_item_labels<deferred<item_labels, Path>>(stored->data);
        if (!labels) {
            labels.error().where = proofs_.back().path.str();
            return std::move(labels).error();
        }
        needed_ = labels->needs_of(item_count);
        if (!labels->empty()) note(stored->data);
        return success();
    }

    /// The next instance, in ElasticJob's order. A node that cannot be read counts as one that is not there: an operator's
    /// slip must not keep the items of all others from moving.
    void add_instance(Path path, deferred<node, Path> const* stored) {
        deferred<stored_traits, Path> traits;
        if (stored) {
            proofs_.push_back({std::move(path), stored->stat.version});
            if (auto read = stored_traits::parse(stored->data)) traits = *std::move(read);
        }
        stored_.push_back(std::move(traits));
        if (auto const text = stored_.back().to_text(); !text.empty())
            note(std::to_string(stored_.size()) + " " + text);
    }

    std::vector<proof> const& proofs() const noexcept { return proofs_; }

    /// Of two with the same, strategies are told the same; 0: all is as by default.
    std::uint64_t print() const noexcept { return print_; }

    /// For a request. They refer to this object.
    deferred<std::vector<instance_traits>, Path> traits() const {
        deferred<std::vector<instance_traits>, Path> views;
        for (auto const& t : stored_) views.push_back({t.weight, t.labels});
        return views;
    }
    deferred<std::vector<item_need>, Path> needs() const {
        deferred<std::vector<item_need>, Path> views;
        for (auto const& n : needed_) views.push_back({n.begin, n.end, n.labels});
        return views;
    }

private:
    void note(std::string_view text) noexcept {
        constexpr std::string_view end{"", 1};
        print_ = detail::fnv_1a(end, detail::fnv_1a(text, print_ == 0 ? detail::fnv_1a_begin : print_));
    }

    deferred<std::vector<stored_traits>, Path> stored_;
    std::vector<typename deferred<item_labels, Path>::rule> needed_;
    std::vector<proof> proofs_;
    std::uint64_t print_ = 0;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using job_traits = basic_job_traits<>;

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_JOB_TRAITS_HPP
