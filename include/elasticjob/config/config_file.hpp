// SPDX-License-Identifier: Apache-2.0
/// \file \brief A job's configuration as people write it: JSON, with all fields of `job_config` and environment
/// variables.
#ifndef ELASTICJOB_CONFIG_CONFIG_FILE_HPP
#define ELASTICJOB_CONFIG_CONFIG_FILE_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace elasticjob {

/// The maximum length of the text, in bytes.
inline constexpr std::size_t config_file_size_max = std::size_t{1} << 20;

/// Returns the value of a variable, or nothing if there is no variable of that name.
using variable_lookup = std::optional<std::string> (*)(std::string const& name);

/// Looks the variable up in this process's environment.
std::optional<std::string> environment_variable(std::string const& name);

/// A job in JSON: one object, whose members have the names of the members of `job_config`. Fields that Java members
/// share may also have their names from the registry, so this function also reads a configuration from the registry. A
/// missing member has its default from `job_config`. Comments and a comma after the last member are accepted.
///
/// | type                  | written                                                                                  |
/// |-----------------------|------------------------------------------------------------------------------------------|
/// | text, number, bool    | as in JSON; a number or bool may be in quotes                                            |
/// | span of time          | `"500ms"`, `"30s"`, `"5min"`, `"2h"`, `"1d"`, `"0"`                                      |
/// | `starts`, `ends`      | `"2026-12-24T18:00:00Z"`, or with an offset as `+02:00`                                  |
/// | enumeration           | its C++ name: `"stand_down"`; `type` may be upper case                                   |
/// | `schedules`           | a list of `{"cron": "@daily"}`, `{"fixed_rate": "30s"}`, `{"fixed_delay": "30s"}`,       |
/// |                       | `{"once_at": "2026-…"}`, `{"once_now": true}`, `{"after_job": "load", "end": "ended"}`   |
/// | `excluded`            | a list of texts                                                                          |
/// | `retry`, `dataflow`,  | objects with the members of these types                                                  |
/// | `on_misfire`, …       |                                                                                          |
///
/// In a text, `${NAME}` stands for the variable of that name, `${NAME:-other}` for `other` if there is no such
/// variable, and `$${` for `${`. If `find` is null, texts stay as they are; use that for texts from outside. The
/// configuration is not validated: see `validate`.
///
/// Errors: malformed_data, with the line of the first problem in `where`. The error lists all problems, at most
/// `problems_listed_max`, each with its line and field. Time: linear in the text.
result<job_config> parse_job_config(std::string_view json, variable_lookup find = environment_variable);

/// The JSON with `$${` for each `${`, so that `parse_job_config` with any `find` gives its texts back.
std::string without_variables(std::string_view json);

/// The part of a configuration that the registry stores, in the same form: all members except those that are an
/// instance's own (`on_misfire` and those after it). For `parse_job_config` with a null `find`.
std::string write_job_config(job_config const& config);

/// Reads a file. Errors: invalid_argument if it cannot be read; those of `parse_job_config`, with file and line.
result<job_config> read_job_config(std::string const& file, variable_lookup find = environment_variable);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/config_file.ipp>
#endif
#endif // ELASTICJOB_CONFIG_CONFIG_FILE_HPP
