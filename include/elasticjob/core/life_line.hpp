// SPDX-License-Identifier: Apache-2.0
/// \file \brief `life_line`: the descriptor by which a guardian sees that this process and its programs have ended.
#ifndef ELASTICJOB_CORE_LIFE_LINE_HPP
#define ELASTICJOB_CORE_LIFE_LINE_HPP

#include <atomic>

namespace elasticjob::detail {

/// The write end of a pipe that no process writes to, or -1 if this process has no guardian. The guardian holds the
/// read end. The kernel reports it as hung up when no process holds the write end any more. Exec closes the write end,
/// so pass a duplicate to a program that works for this process, such as a script job. Threads: any.
inline constinit std::atomic<int> life_line{-1};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_LIFE_LINE_HPP
