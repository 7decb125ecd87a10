// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which configuration counts when a member starts: the one in the registry or its own.
#ifndef ELASTICJOB_CONFIG_STORED_CONFIG_HPP
#define ELASTICJOB_CONFIG_STORED_CONFIG_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// What a starting member does about the configuration in the registry.
struct config_decision {
    enum class action : std::uint8_t { keep_stored, write_local };
    action what;
    std::vector<config_difference> differences{}; ///< left what is stored, right the member's own

    friend bool operator==(config_decision const&, config_decision const&) = default;
};

/// The stored configuration counts, with every field and all schedules, unless there is none or the member's own says `overwrite`.
/// `stored` is nothing if there is no node or an empty one. Touches nothing: the caller writes and tells.
///
/// Errors: job_conflict, if the stored job has another class or is of another type: its items are not ours to run. Java
/// compares only the class, which says enough where a class is a type; ours is just a text.
result<config_decision> decide_config(std::optional<job_config> const& stored, job_config const& local);

/// One line for a log, to be told once: which fields of the member's own configuration are not in force, or which
/// stored ones it replaced. Empty if there is no difference.
std::string to_string(config_decision const& decision);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/stored_config.ipp>
#endif
#endif // ELASTICJOB_CONFIG_STORED_CONFIG_HPP
