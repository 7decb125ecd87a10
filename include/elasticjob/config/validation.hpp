// SPDX-License-Identifier: Apache-2.0
/// \file \brief Whether a configuration can be run, found out before anything of it is registered.
#ifndef ELASTICJOB_CONFIG_VALIDATION_HPP
#define ELASTICJOB_CONFIG_VALIDATION_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/config/item_parameters.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/json_codec.hpp> // to_json
#include <elasticjob/config/read_timetable.hpp>
#include <elasticjob/config/schedule_text.hpp> // to_schedule_text
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // any_of
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp> // job_name
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/timetable.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The most items that a job may be cut into.
inline constexpr int sharding_total_count_max = 10'000'000;

/// The most bytes that a configuration may have in the registry, which refuses a request beyond 1 MiB with all that
/// stands around the data.
inline constexpr std::size_t stored_config_size_max = 1'000'000;

/// The most problems that the error of `validate` lists: it has to fit into a log. `problems_of` has all.
inline constexpr std::size_t problems_listed_max = 40;

/// A configuration that can be run, with those of its texts that have a meaning already read. Its cron expression has
/// six or seven fields, whatever was written. Made by `validate`.
class valid_config {
public:
    job_config const& config() const noexcept { return config_; }
    job_name const& name() const noexcept { return name_; }
    /// All schedules, cron included; in the zone that `time_zone` names.
    timetable const& when() const noexcept { return when_; }
    item_parameters const& parameters() const noexcept { return parameters_; }

private:
    friend result<valid_config> validate(job_config, std::vector<error>);

    valid_config(job_config config, job_name name, timetable when, item_parameters parameters);

    job_config config_;
    job_name name_;
    timetable when_;
    item_parameters parameters_;
};

namespace detail {

/// Whether an instance that accepts so many items may run a job so configured. Errors: invalid_config.
result<void> check_item_count(job_config const& config, std::uint32_t items_max);

/// The byte at which a text cannot be part of a configuration, or npos.
std::size_t find_bad_byte(std::string_view text);

} // namespace detail

/// Everything that is wrong with a configuration, at most one problem per field: `what` is its value and what would be
/// right, `where` the field's name in the registry, that of the member where Java has no such field (`schedules[2]`), or
/// `configuration` for the whole. None if `validate` would succeed.
///
/// | code                           | about                                                                           |
/// |--------------------------------|---------------------------------------------------------------------------------|
/// | invalid_argument               | the name                                                                        |
/// | invalid_cron, cron_never_fires | the cron expression, those among the schedules, exclusions                      |
/// | invalid_config                 | item parameters and labels, other schedules, numbers out of range, what a job   |
/// |                                | of this type needs and lacks, texts that are not UTF-8 or have a NUL, the size, |
/// |                                | limits and retries                                                              |
std::vector<error> problems_of(job_config const& config);

/// What a configuration asks for and does not get, though it can be run: failover without `monitor_execution`. Java
/// members run such a job and are silent, so it is not refused, but a scheduler tells of it in a `trouble` event.
std::optional<error> find_ineffective(job_config const& config);

/// Checks everything at once, because whoever mends a configuration wants to do it once. Item parameters of items that
/// the job does not have are no mistake: an operator may lower the count for a while. `more` is what the caller has
/// found besides; of a field that has a problem already, it adds none.
///
/// Errors: the problem as in `problems_of`, if there is just one; otherwise invalid_config, which lists them, the first
/// `problems_listed_max` of them.
result<valid_config> validate(job_config config, std::vector<error> more = {});

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/validation.ipp>
#endif
#endif // ELASTICJOB_CONFIG_VALIDATION_HPP
