// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_REMOVE_JOB_IPP
#define ELASTICJOB_IMPL_OPERATIONS_REMOVE_JOB_IPP

#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/remove_job.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL error restored_meanwhile(job_layout const& at) {
    return error{errc::version_conflict, "another client has restored the job", at.removed().str()};
}

ELASTICJOB_DECL result<command_plan> plan_removal(transaction& t, job_layout const& at, removal_facts const& facts) {
    if (!facts.tombstone && !facts.config && !facts.servers && !facts.instances) return detail::no_such_job(at.root());
    if (facts.tombstone && !facts.config) return command_plan{"the job was removed already", false};
    if (facts.tombstone)
        t.check(at.removed()); // if it is gone, the configuration may be that of the next job of the name
    else
        t.create(at.removed(), {});
    if (facts.config) t.remove(at.config(), facts.config->stat.version);
    return command_plan{"the job is removed"};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_REMOVE_JOB_IPP
