// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides whether a job may follow another, or would wait for itself.
#ifndef ELASTICJOB_MEMBERSHIP_JOB_CHAIN_HPP
#define ELASTICJOB_MEMBERSHIP_JOB_CHAIN_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// A node that names the job that another job follows, or an absent node that would name it.
struct chain_link {
    node_path path;
    std::optional<node_version> version{}; ///< nothing: the node is absent
};

/// The maximum number of jobs in a chain.
inline constexpr std::size_t job_chain_max = 16;

/// Follows the configurations in the registry from the job `next`, which `self` is to follow, to the job that `next`
/// follows, and so on. Stops at a job that follows none or does not exist. Takes one round trip per job. Returns the
/// nodes that it has read. The transaction that stores the configuration checks them, so of two jobs that are to follow
/// each other only one can commit. Errors: invalid_config, which names the chain, if it leads back to `self` or is
/// longer than `job_chain_max`; those of the registry.
template <registry Registry>
task<result<std::vector<chain_link>>> read_job_chain(Registry& r, std::string self, std::string next) {
    std::vector<chain_link> links;
    auto chain = self;
    auto const refuse = [&](std::string what) {
        return error{errc::invalid_config,
                     std::move(what) + ": " + chain + "; have one of them follow another job, or none", "schedules"};
    };
    for (std::size_t n = 0; n < job_chain_max; ++n) {
        chain += " after " + next;
        if (next == self) co_return refuse("each of these jobs would wait forever for the others");
        auto const name = job_name::parse(next);
        if (!name) co_return links; // no such job exists
        job_layout const at{*name};
        std::vector<node_path> const way{at.root(), at.ext(), at.schedule()};
        ELASTICJOB_CO_TRY(auto const found, co_await read_all(r, way));
        for (std::size_t i = 0; i < way.size(); ++i)
            if (!found[i]) {
                links.push_back({way[i]});
                co_return links;
            }
        auto const& schedule = *found.back();
        links.push_back({at.schedule(), schedule.stat.version});
        auto const config = with_schedule_text(job_config{}, schedule.data);
        auto const* followed = config ? find_followed(config->schedules) : nullptr;
        if (!followed) co_return links; // no member runs an unreadable schedule
        next = followed->job;
    }
    co_return refuse("more than " + std::to_string(job_chain_max) + " jobs would follow one another");
}

/// As above, for the job that a configuration names. Returns no nodes if it names none.
template <registry Registry>
task<result<std::vector<chain_link>>> read_job_chain(Registry& r, job_config const& config) {
    auto const* followed = find_followed(config.schedules);
    if (!followed) co_return std::vector<chain_link>{};
    co_return co_await read_job_chain(r, config.name, followed->job);
}

/// Makes the transaction fail if one of these nodes has changed.
template <class Transaction, class Link>
void check_job_chain(Transaction& t, std::vector<Link> const& links) {
    for (auto const& link : links)
        if (link.version)
            t.check(link.path, *link.version);
        else
            t.check_absent(link.path);
}

} // namespace elasticjob
#endif // ELASTICJOB_MEMBERSHIP_JOB_CHAIN_HPP
