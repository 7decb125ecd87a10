// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP

#include <elasticjob/membership/enroll.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::vector<node_path> base_nodes(job_layout const& at) {
    return {at.root(),    at.leader(),    at.election(), at.election_latch(), at.sharding_flags(),
            at.servers(), at.instances(), at.ext(),      at.run_records(),    at.orders()};
}

ELASTICJOB_DECL found_nodes::found_nodes(job_layout at) : at_{std::move(at)} {}
ELASTICJOB_DECL found_nodes::found_nodes(found_nodes&&) noexcept = default;
ELASTICJOB_DECL found_nodes& found_nodes::operator=(found_nodes&&) noexcept = default;
ELASTICJOB_DECL found_nodes::~found_nodes() = default;

ELASTICJOB_DECL node const* found_nodes::find(node_path const& path) const {
    auto const at = nodes_.find(path);
    return at == nodes_.end() ? nullptr : &at->second;
}

ELASTICJOB_DECL void found_nodes::take(node_path path, std::optional<node> value) {
    if (value)
        nodes_.insert_or_assign(std::move(path), *std::move(value));
    else
        nodes_.erase(path); // removed after its name was listed
}

ELASTICJOB_DECL bool found_nodes::take_names_below_ext(std::vector<std::string> const& names) {
    std::map<node_path, node> listed;
    for (auto const& name : names)
        if (!node_path::element_fault(name)) listed.emplace(at_.ext() / name, node{});
    if (!listed.contains(at_.run_records()) || !listed.contains(at_.orders())) return false;
    nodes_ = std::move(listed);
    for (auto& base : base_nodes(at_)) nodes_.emplace(std::move(base), node{});
    return true;
}

ELASTICJOB_DECL bool found_nodes::is_known_absent(node_path const& path) const {
    for (auto here = path; !here.is_root(); here = here.parent())
        if (here.parent() == at_.ext()) return !has(here);
    return false;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP
