// SPDX-License-Identifier: Apache-2.0
/// \file \brief An in-memory registry that counts its reads, and the reads that are on their way at once.
#ifndef ELASTICJOB_TEST_SUPPORT_COUNTING_REGISTRY_HPP
#define ELASTICJOB_TEST_SUPPORT_COUNTING_REGISTRY_HPP

#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace elasticjob::test {

struct counting_registry : basic_memory_registry<virtual_loop> {
    using base = basic_memory_registry<virtual_loop>;
    using base::base;

    task<result<node>> get(node_path path, node_watch<virtual_loop>* w = nullptr) {
        ++reads;
        begin();
        auto answer = co_await base::get(path, w);
        --at_once;
        co_return answer;
    }
    task<result<std::vector<std::string>>> children(node_path path, node_watch<virtual_loop>* w = nullptr) {
        ++lists;
        begin();
        auto answer = co_await base::children(path, w);
        --at_once;
        co_return answer;
    }

    std::size_t requests() const { return reads + lists; }
    void reset() { reads = lists = most_at_once = 0; }

    std::size_t at_once = 0, most_at_once = 0, reads = 0, lists = 0;

private:
    void begin() { most_at_once = std::max(most_at_once, ++at_once); }
};
static_assert(registry<counting_registry>);

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_COUNTING_REGISTRY_HPP
