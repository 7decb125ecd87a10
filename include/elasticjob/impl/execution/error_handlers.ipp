// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_ERROR_HANDLERS_IPP
#define ELASTICJOB_IMPL_EXECUTION_ERROR_HANDLERS_IPP

#include <elasticjob/execution/error_handlers.hpp>

namespace elasticjob {

ELASTICJOB_DECL void LogErrors::operator()(failed_run const& run) const {
    std::optional<error> const failure{run.failure};
    LogEvents{}(events::item_finished{
        {run.job, run.instance, {}}, run.item, run.due, run.took, failure, run.token, {}, run.retry_at});
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_ERROR_HANDLERS_IPP
