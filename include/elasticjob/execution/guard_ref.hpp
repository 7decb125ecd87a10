// SPDX-License-Identifier: Apache-2.0
/// \file \brief A reference to a guard of the lease of any type, so that the code of the lease is compiled once.
#ifndef ELASTICJOB_EXECUTION_GUARD_REF_HPP
#define ELASTICJOB_EXECUTION_GUARD_REF_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/execution/lease.hpp>

#include <concepts>

namespace elasticjob::detail {

/// An object pointer and two function pointers. Models `lease_guard`. The guard must outlive this object.
class guard_ref {
public:
    template <class Guard> // a lease_guard; a constraint would depend on itself
    requires(!std::same_as<Guard, guard_ref>) explicit guard_ref(Guard& g) noexcept
        : guard_{&g},
          until_{[](void* self, mono_time deadline) { static_cast<Guard*>(self)->until(deadline); }},
          disarm_{[](void* self) { static_cast<Guard*>(self)->disarm(); }} {}

    void until(mono_time deadline) const { until_(guard_, deadline); }
    void disarm() const { disarm_(guard_); }

private:
    void* guard_;
    void (*until_)(void* self, mono_time deadline);
    void (*disarm_)(void* self);
};

static_assert(lease_guard<guard_ref>);

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_GUARD_REF_HPP
