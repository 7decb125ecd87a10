// SPDX-License-Identifier: Apache-2.0
/// \file \brief A registry in the console.
#ifndef ELASTICJOB_CONSOLE_CONSOLE_REGISTRY_HPP
#define ELASTICJOB_CONSOLE_CONSOLE_REGISTRY_HPP

#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/registry/registry_ref.hpp>

#include <string>

namespace elasticjob {

/// A registry and its name in the console. The registry must outlive the console. `Loop`: the registry's.
template <loop Loop>
struct basic_console_registry {
    std::string name;
    std::string name_space;
    registry_ref<Loop> registry;
};

/// `{"main", "billing", registry}`, for a `ZkRegistry`, a `MemoryRegistry`, or any other registry with an `event_loop`.
using console_registry = basic_console_registry<event_loop>;

} // namespace elasticjob
#endif // ELASTICJOB_CONSOLE_CONSOLE_REGISTRY_HPP
