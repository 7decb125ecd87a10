// SPDX-License-Identifier: Apache-2.0
/// \file \brief A job's configuration in the registry: read from its nodes, and put into a transaction that writes them.
#ifndef ELASTICJOB_MEMBERSHIP_STORED_JOB_HPP
#define ELASTICJOB_MEMBERSHIP_STORED_JOB_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/stored_config.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// The stored configuration, checked as strictly as our own: a member must not start what it cannot run. Both nodes of
/// it; null is one that is not there.
template <job_configuration Config = job_config>
result<std::optional<basic_valid_config<Config>>> read_stored(deferred<node, Config> const* stored,
                                                              deferred<node, Config> const* schedule,
                                                              job_layout const& at) {
    if (!stored) return std::optional<basic_valid_config<Config>>{};
    auto in_registry = [](error e, node_path const& path) {
        e.what = "the configuration in the registry cannot be used: " + e.what +
                 "; mend or remove the node, or start with overwrite";
        e.where = path.str() + (e.where.empty() ? "" : ", " + e.where);
        return e;
    };
    auto config = from_json<Config>(stored->data);
    if (!config) return in_registry(std::move(config).error(), at.config());
    if (!*config) return std::optional<basic_valid_config<Config>>{};
    auto whole = with_schedule_text(**std::move(config), schedule ? std::string_view{schedule->data} : "");
    if (!whole) return in_registry(std::move(whole).error(), at.schedule());
    auto checked = validate(*std::move(whole));
    if (!checked) return in_registry(std::move(checked).error(), at.config());
    return std::optional{*std::move(checked)};
}

/// The configuration and, where it has some, the schedules beside it. Null is a node that is not there. Schedules that
/// say the same are left as they are: what is to be run once now has been.
template <class Node, class Transaction, job_configuration Config>
void put_config(Transaction& t, job_layout const& at, Config const& config, Node const* stored, Node const* schedule) {
    if (stored)
        t.set(at.config(), to_json(config), stored->stat.version);
    else
        t.create(at.config(), to_json(config));
    auto text = to_schedule_text(config);
    if (!schedule && !text.empty())
        t.create(at.schedule(), std::move(text));
    else if (schedule && text.empty())
        t.remove(at.schedule(), schedule->stat.version);
    else if (schedule && text != schedule->data)
        t.set(at.schedule(), std::move(text), schedule->stat.version);
    else if (schedule)
        t.check(at.schedule(), schedule->stat.version);
}

/// The labels that items need are not in the configuration's node, but go with it.
template <class Node, class Transaction>
void put_labels(Transaction& t, node_path path, std::optional<Node> const& stored, std::string const& labels) {
    if (!stored && !labels.empty()) t.create(std::move(path), labels);
    if (stored && labels.empty()) t.remove(std::move(path), stored->stat.version);
    if (stored && !labels.empty() && stored->data != labels) t.set(std::move(path), labels, stored->stat.version);
}
template <class Node, class Decision>
void note_labels(Decision& decision, std::optional<Node> const& stored, std::string const& labels) {
    auto const theirs = stored ? stored->data : std::string{};
    if (theirs != labels) decision.differences.push_back({"itemLabels", in_quotes(theirs), in_quotes(labels)});
}

/// Of a job that has a tombstone.
inline error removed_error(job_layout const& at) {
    return error{errc::removed,
                 "the job has been removed for good: give the new one another name, or take the removal back with "
                 "restore_job",
                 at.removed().str()};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_MEMBERSHIP_STORED_JOB_HPP
