// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_CATCH_UP_IPP
#define ELASTICJOB_IMPL_REGISTRY_CATCH_UP_IPP

#include <elasticjob/registry/catch_up.hpp>

#include <utility>

namespace elasticjob {

ELASTICJOB_DECL transaction catch_up_write(session_generation g, node_path path) {
    transaction t{g};
    t.check(std::move(path));
    return t;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_REGISTRY_CATCH_UP_IPP
