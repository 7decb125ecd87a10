// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds a program by its name.
#ifndef ELASTICJOB_EXECUTION_FIND_PROGRAM_HPP
#define ELASTICJOB_EXECUTION_FIND_PROGRAM_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <algorithm> // min
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace elasticjob::detail {

/// A name with a slash is a path and is returned unchanged. Any other name is searched in the directories of PATH. That
/// result does not depend on a working directory: it is absolute, unless the current directory cannot be read.
/// Errors: job_failed.
result<std::string> find_program(std::string_view name);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/find_program.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_FIND_PROGRAM_HPP
