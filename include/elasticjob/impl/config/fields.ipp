// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_FIELDS_IPP
#define ELASTICJOB_IMPL_CONFIG_FIELDS_IPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/cron/quartz_text.hpp>

namespace elasticjob {

ELASTICJOB_DECL job_config canonical(job_config config) {
    if (config.type == job_type::script) config.job_class = script_job_class;
    if (config.cron.empty() && !config.schedules.empty()) config.cron = no_cron;
    config.cron = detail::with_six_fields(config.cron);
    job_config stored;
    for_each_config_field([&](auto const& field) {
        if (field.applies_to(config.type)) stored.*field.member = std::move(config.*field.member);
    });
    return stored;
}

ELASTICJOB_DECL std::vector<config_difference> differences(job_config const& left, job_config const& right) {
    std::vector<config_difference> found;
    for_each_config_field([&, a = canonical(left), b = canonical(right)](auto const& field) {
        auto const &one = a.*field.member, &other = b.*field.member;
        if (one != other) found.push_back({field.name, detail::text_of(one), detail::text_of(other)});
    });
    return found;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_FIELDS_IPP
