// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_CALLING_THREADS_IPP
#define ELASTICJOB_IMPL_EXECUTION_CALLING_THREADS_IPP

#include <elasticjob/execution/calling_threads.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL calling_threads::mark::mark(calling_threads* all) {
    if (!all) return;
    std::scoped_lock const lock{mutex()};
    all->marks_.push_back(*this);
}

ELASTICJOB_DECL calling_threads::mark::~mark() {
    std::scoped_lock const lock{mutex()};
    unlink();
}

ELASTICJOB_DECL bool calling_threads::contains(std::thread::id who) {
    std::scoped_lock const lock{mutex()};
    bool is_there = false;
    marks_.for_each([&](mark const& m) { is_there |= m.thread_ == who; });
    return is_there;
}

ELASTICJOB_DECL std::mutex& calling_threads::mutex() noexcept {
    static std::mutex one;
    return one;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_CALLING_THREADS_IPP
