// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_DUMP_IPP
#define ELASTICJOB_IMPL_OPERATIONS_DUMP_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/operations/dump.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void dumped_tree::set_value(std::size_t n, std::string value) {
    bytes_ += value.size();
    nodes_[n].value = std::move(value);
}

ELASTICJOB_DECL result<void> dumped_tree::add_children(std::size_t n, std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    for (auto const& name : names) {
        ELASTICJOB_TRY(auto child, node_path::parse(nodes_[n].path.str() + "/" + name));
        nodes_[n].children.push_back(size());
        add(std::move(child));
    }
    return success();
}

ELASTICJOB_DECL std::vector<std::string> dumped_tree::lines(address_masking addresses) const {
    std::vector<std::string> all;
    address_mask mask{addresses};
    for (auto left = nodes_.front().children; !left.empty();) {
        auto const& n = nodes_[left.back()];
        left.pop_back();
        if (!n.value) continue;
        all.push_back(mask(in_one_line(n.path.str()) + " | " + in_one_line(*n.value)));
        left.insert(left.end(), n.children.begin(), n.children.end());
    }
    return all;
}

ELASTICJOB_DECL void dumped_tree::add(node_path path) {
    bytes_ += path.str().size();
    nodes_.push_back({std::move(path)});
}

ELASTICJOB_DECL std::string dumped_tree::in_one_line(std::string_view value) {
    std::string text;
    text.reserve(value.size());
    for (;;) {
        auto const end = value.find('\n');
        append_line_text(text, value.substr(0, end));
        if (end == value.npos) return text;
        text += "\\n";
        value.remove_prefix(end + 1);
    }
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL std::string dump_text(std::vector<std::string> const& lines) {
    std::string text;
    for (auto const& line : lines) text.append(line).append("\n");
    return text;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_OPERATIONS_DUMP_IPP
