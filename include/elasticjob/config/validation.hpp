// SPDX-License-Identifier: Apache-2.0
/// \file \brief Checks whether a configuration can be run, before it is registered.
#ifndef ELASTICJOB_CONFIG_VALIDATION_HPP
#define ELASTICJOB_CONFIG_VALIDATION_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/config/item_parameters.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/json_codec.hpp> // to_json
#include <elasticjob/config/read_timetable.hpp>
#include <elasticjob/config/schedule_text.hpp> // to_schedule_text
#include <elasticjob/core/algorithm.hpp>       // any_of
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp> // job_name
#include <elasticjob/core/memory.hpp>
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

/// The maximum number of items of a job.
inline constexpr int sharding_total_count_max = 10'000'000;

/// The maximum size of a configuration in the registry, in bytes. The registry refuses requests beyond 1 MiB, and a
/// request contains more than the data.
inline constexpr std::size_t stored_config_size_max = 1'000'000;

/// The maximum number of problems that the error of `validate` lists, so that the error fits into a log. `problems_of`
/// returns all of them.
inline constexpr std::size_t problems_listed_max = 40;

/// A configuration that can be run, with its texts already parsed. Its cron expression always has six or seven fields.
/// Only `validate` makes it.
class valid_config {
public:
    job_config const& config() const noexcept { return config_; }
    job_name const& name() const noexcept { return name_; }
    /// All schedules, cron included; in the zone that `time_zone` names.
    timetable const& when() const noexcept { return *when_; }
    std::shared_ptr<timetable const> const& shared_timetable() const noexcept { return when_; }
    item_parameters const& parameters() const noexcept { return parameters_; }

private:
    friend result<valid_config> validate(job_config, std::vector<error>);

    valid_config(job_config config, job_name name, timetable when, item_parameters parameters);

    job_config config_;
    job_name name_;
    std::shared_ptr<timetable const> when_; ///< shared with all due times of this configuration
    item_parameters parameters_;
};

namespace detail {

/// An upper bound of the number of items with a parameter. Counts the commas and does not parse the text, which may end
/// with a comma.
std::size_t count_item_parameters(job_config const& config) noexcept;

/// Checks whether an instance that accepts `items_max` items may run a job with this configuration. The limit also
/// holds for the number of item parameters. Errors: invalid_config.
result<void> check_item_count(job_config const& config, std::uint32_t items_max);

/// The position of the first byte that a configuration must not contain, or npos.
std::size_t find_bad_byte(std::string_view text);

} // namespace detail

/// All problems of a configuration, at most one for each field. `what` gives the value and the correct form. `where` is
/// the field's name in the registry, the name of the member if Java has no such field (`schedules[2]`), or
/// `configuration` for the whole. Empty if `validate` would succeed.
///
/// | code                           | about                                                                           |
/// |--------------------------------|---------------------------------------------------------------------------------|
/// | invalid_argument               | the name                                                                        |
/// | invalid_cron, cron_never_fires | the cron expression, those among the schedules, exclusions                      |
/// | invalid_config                 | item parameters and labels, other schedules, numbers out of range, what a job   |
/// |                                | of this type needs and lacks, texts that are not UTF-8 or have a NUL, the size, |
/// |                                | limits and retries                                                              |
std::vector<error> problems_of(job_config const& config);

/// Reports a setting that has no effect although the configuration can be run: failover without `monitor_execution`.
/// Java members run such a job without a message, so `validate` does not refuse it, but a scheduler reports it in a
/// `trouble` event.
std::optional<error> find_ineffective(job_config const& config);

/// Checks the whole configuration, so that its author can correct all problems at once. Accepts parameters of items
/// beyond the item count, because an operator may lower the count for a while. `more` contains further problems that
/// the caller has found; the result omits those of a field that already has a problem.
///
/// Errors: if there is only one problem, that problem as in `problems_of`; otherwise invalid_config, which lists the
/// first `problems_listed_max` of them.
result<valid_config> validate(job_config config, std::vector<error> more = {});

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/validation.ipp>
#endif
#endif // ELASTICJOB_CONFIG_VALIDATION_HPP
