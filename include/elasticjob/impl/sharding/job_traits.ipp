// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_JOB_TRAITS_IPP
#define ELASTICJOB_IMPL_SHARDING_JOB_TRAITS_IPP

#include <elasticjob/sharding/job_traits.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<void> job_traits::read_needs(node_path path, node const* stored, std::uint32_t item_count) {
    if (!stored) return success();
    proofs_.push_back({std::move(path), stored->stat.version});
    auto labels = parse_item_labels(stored->data);
    if (!labels) {
        labels.error().where = proofs_.back().path.str();
        return std::move(labels).error();
    }
    needed_ = labels->needs_of(item_count);
    if (!labels->empty()) note(stored->data);
    return success();
}

ELASTICJOB_DECL void job_traits::add_instance(node_path path, node const* stored) {
    stored_traits traits;
    if (stored) {
        proofs_.push_back({std::move(path), stored->stat.version});
        if (auto read = stored_traits::parse(stored->data)) traits = *std::move(read);
    }
    stored_.push_back(std::move(traits));
    if (auto const text = stored_.back().to_text(); !text.empty()) note(std::to_string(stored_.size()) + " " + text);
}

ELASTICJOB_DECL std::vector<instance_traits> job_traits::traits() const {
    std::vector<instance_traits> views;
    for (auto const& t : stored_) views.push_back({t.weight, t.labels});
    return views;
}

ELASTICJOB_DECL std::vector<item_need> job_traits::needs() const {
    std::vector<item_need> views;
    for (auto const& n : needed_) views.push_back({n.begin, n.end, n.labels});
    return views;
}

ELASTICJOB_DECL void job_traits::note(std::string_view text) noexcept {
    constexpr std::string_view end{"", 1};
    print_ = detail::fnv_1a(end, detail::fnv_1a(text, print_ == 0 ? detail::fnv_1a_begin : print_));
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SHARDING_JOB_TRAITS_IPP
