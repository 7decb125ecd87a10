// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides which configuration is in force when a member starts: the registry's or the member's own.
#ifndef ELASTICJOB_CONFIG_STORED_CONFIG_HPP
#define ELASTICJOB_CONFIG_STORED_CONFIG_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The decision of a starting member about the configuration in the registry.
struct config_decision {
    enum class action : std::uint8_t { keep_stored, write_local };
    action what;
    std::vector<config_difference> differences{}; ///< left: the stored value; right: the member's own

    friend bool operator==(config_decision const&, config_decision const&) = default;
};

/// Keeps the stored configuration, with every field and all schedules, unless there is none or the member's own says
/// `overwrite`. `stored` is nothing if the node is absent or empty. Has no effects: the caller writes and reports.
///
/// Errors: job_conflict if the stored job has another class or type. Java compares only the class, because a Java class
/// determines the type. A C++ class is only a text.
result<config_decision> decide_config(std::optional<job_config> const& stored, job_config const& local);

/// One line for a log: the fields of the member's own configuration that are not in force, or the stored fields that it
/// has replaced. Empty if there is no difference.
std::string to_string(config_decision const& decision);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/stored_config.ipp>
#endif
#endif // ELASTICJOB_CONFIG_STORED_CONFIG_HPP
