// SPDX-License-Identifier: Apache-2.0
/// \file \brief The error if a query or a command names a job that does not exist.
#ifndef ELASTICJOB_OPERATIONS_NO_SUCH_JOB_HPP
#define ELASTICJOB_OPERATIONS_NO_SUCH_JOB_HPP

#include <elasticjob/core/error.hpp>
#include <elasticjob/core/path.hpp>

namespace elasticjob::detail {

/// `root` is the job's node.
inline error no_such_job(node_path const& root) {
    return {errc::no_node, "there is no job of that name", root.str()};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_OPERATIONS_NO_SUCH_JOB_HPP
