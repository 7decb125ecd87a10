// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which jobs wait for which: whether a job may follow another, or would wait for itself.
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

/// A node that says which job another one follows, or which would have to be there to say so.
struct chain_link {
    node_path path;
    std::optional<node_version> version{}; ///< nothing: it is not there
};

/// The most jobs that may follow one another.
inline constexpr std::size_t job_chain_max = 16;

/// Goes from the job that `self` is to follow to the one that this follows, and so on, by the configurations in the
/// registry, up to one that follows none, or is not there: one round trip for each. Gives what that was decided on, for
/// the transaction that makes it so: of two jobs that are to follow each other, only one can commit.
/// Errors: invalid_config, naming the chain, if it leads back to `self` or is longer than `job_chain_max`; those of the
/// registry.
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
        if (next == self) co_return refuse("each of these jobs would wait for the others for ever");
        auto const name = job_name::parse(next);
        if (!name) co_return links; // there is no such job
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
        if (!followed) co_return links; // nobody runs by what cannot be read
        next = followed->job;
    }
    co_return refuse("more than " + std::to_string(job_chain_max) + " jobs would follow one another");
}

/// The same for a configuration, whether its job follows another or not.
template <registry Registry>
task<result<std::vector<chain_link>>> read_job_chain(Registry& r, job_config const& config) {
    auto const* followed = find_followed(config.schedules);
    if (!followed) co_return std::vector<chain_link>{};
    co_return co_await read_job_chain(r, config.name, followed->job);
}

/// Has the transaction be refused if that has changed.
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
