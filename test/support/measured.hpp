// SPDX-License-Identifier: Apache-2.0
/// \file \brief A registry whose requests a test sees.
#ifndef ELASTICJOB_TEST_SUPPORT_MEASURED_HPP
#define ELASTICJOB_TEST_SUPPORT_MEASURED_HPP

#include <elasticjob/registry/measured_registry.hpp>

#include <functional>

namespace elasticjob::test {

/// One type for all tests, whatever they do with a request: each type costs a compilation of the operations.
template <class Registry>
using measured = MeasuredRegistry<Registry, std::function<void(registry_request const&)>>;

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_MEASURED_HPP
