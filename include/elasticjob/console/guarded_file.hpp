// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads a file with secrets, if it is guarded as such a file must be.
#ifndef ELASTICJOB_CONSOLE_GUARDED_FILE_HPP
#define ELASTICJOB_CONSOLE_GUARDED_FILE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <string>

namespace elasticjob::detail {

/// What the permissions of a file must forbid everybody but its owner.
enum class guarded_against : std::uint8_t { writing, reading };

/// The text of a file of at most 1 MiB. `what` names it in errors: `the passwords`. Errors: invalid_argument, with the
/// file, if it cannot be read or is not guarded like that.
result<std::string> read_guarded_file(std::string const& file, std::string const& what, guarded_against guard);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/guarded_file.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_GUARDED_FILE_HPP
