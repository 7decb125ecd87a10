// SPDX-License-Identifier: Apache-2.0
/// \file \brief `life_line`: the descriptor by which a guardian sees that this process and its programs have ended.
#ifndef ELASTICJOB_CORE_LIFE_LINE_HPP
#define ELASTICJOB_CORE_LIFE_LINE_HPP

#include <atomic>

namespace elasticjob::detail {

/// The write end of a pipe that nobody writes to, or -1 if this process has no guardian. The guardian holds the read
/// end, which the kernel reports as hung up when no process holds this end any more. It is closed by exec, so a program
/// that works for this process, such as a script job, must be given a duplicate. Threads: any.
inline constinit std::atomic<int> life_line{-1};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_LIFE_LINE_HPP
