// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads a file with secrets, if its permissions are strict enough.
#ifndef ELASTICJOB_CONSOLE_GUARDED_FILE_HPP
#define ELASTICJOB_CONSOLE_GUARDED_FILE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <string>

namespace elasticjob::detail {

/// The access that the file's permissions must forbid to all users except its owner.
enum class guarded_against : std::uint8_t { writing, reading };

/// The text of a file of at most 1 MiB. `what` names it in errors: `the passwords`. Errors: invalid_argument, which
/// names the file, if it cannot be read or its permissions are not strict enough.
result<std::string> read_guarded_file(std::string const& file, std::string const& what, guarded_against guard);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/guarded_file.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_GUARDED_FILE_HPP
