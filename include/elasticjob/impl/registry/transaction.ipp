// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_TRANSACTION_IPP
#define ELASTICJOB_IMPL_REGISTRY_TRANSACTION_IPP

#include <elasticjob/registry/transaction.hpp>

namespace elasticjob {

ELASTICJOB_DECL transaction& transaction::check(node_path path, node_version version) {
    return add({operation::kind::check, std::move(path), {}, create_mode::persistent, version});
}

ELASTICJOB_DECL transaction& transaction::create(node_path path, std::string data, create_mode mode) {
    return add({operation::kind::create, std::move(path), std::move(data), mode, any_version});
}

ELASTICJOB_DECL transaction& transaction::set(node_path path, std::string data, node_version version) {
    return add({operation::kind::set, std::move(path), std::move(data), create_mode::persistent, version});
}

ELASTICJOB_DECL transaction& transaction::remove(node_path path, node_version version) {
    return add({operation::kind::remove, std::move(path), {}, create_mode::persistent, version});
}

ELASTICJOB_DECL transaction& transaction::check_absent(node_path path) {
    create(path, {});
    return remove(std::move(path));
}

ELASTICJOB_DECL transaction& transaction::remove_persistent(node_path path, node_version version) {
    check_absent(path / "probe");
    return remove(std::move(path), version);
}

ELASTICJOB_DECL transaction& transaction::add(operation o) {
    bytes_ += o.bytes();
    operations_.push_back(std::move(o));
    return *this;
}

ELASTICJOB_DECL void transaction::shorten(std::size_t size) noexcept {
    for (; operations_.size() > size; operations_.pop_back()) bytes_ -= operations_.back().bytes();
}

ELASTICJOB_DECL bool transaction::has_room(registry_limits const& limits, std::size_t more,
                                           std::size_t more_bytes) const noexcept {
    auto const operations = size() + more;
    return operations <= limits.operations_max &&
           limits.counted(operations, bytes() + more_bytes) <= limits.request_bytes_max;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_REGISTRY_TRANSACTION_IPP
