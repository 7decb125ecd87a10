// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_ZONE_REF_IPP
#define ELASTICJOB_IMPL_CRON_ZONE_REF_IPP

#include <elasticjob/cron/zone_ref.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<std::shared_ptr<zone_ref const>> zone_ref::load(std::string_view name) const {
    return load_(name);
}

ELASTICJOB_DECL result<std::shared_ptr<zone_ref const>> zone_ref::load_by_system(std::string_view name) {
    return load_by_type<TzifZone>(name);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_ZONE_REF_IPP
