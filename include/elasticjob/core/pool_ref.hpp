// SPDX-License-Identifier: Apache-2.0
/// \file \brief A reference to a worker pool of any type, so that the code that calls bodies is compiled once.
#ifndef ELASTICJOB_CORE_POOL_REF_HPP
#define ELASTICJOB_CORE_POOL_REF_HPP

#include <elasticjob/core/worker_pool.hpp>

#include <concepts>

namespace elasticjob::detail {

/// An object pointer and a function pointer. Models `worker_pool`. The pool must outlive this object.
class pool_ref {
public:
    template <worker_pool Pool>
    requires(!std::same_as<Pool, pool_ref>) explicit pool_ref(Pool& p) noexcept : pool_{&p}, submit_{&submit<Pool>} {}

    bool try_submit(work& w) const { return submit_(pool_, w); }

private:
    template <class Pool>
    static bool submit(void* pool, work& w) {
        return static_cast<Pool*>(pool)->try_submit(w);
    }

    void* pool_;
    bool (*submit_)(void* pool, work& w);
};

static_assert(worker_pool<pool_ref>);

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_POOL_REF_HPP
