// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads and changes the configuration of a job, or adds the job; from any process.
#ifndef ELASTICJOB_OPERATIONS_JOB_SETTINGS_HPP
#define ELASTICJOB_OPERATIONS_JOB_SETTINGS_HPP

#include <elasticjob/config/stored_config.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/membership/job_chain.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/wait_for_job.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The configuration of a job in the registry, with schedules and labels.
struct job_settings {
    job_config config;
    std::string tag{}; ///< identifies this version; see `settings_change::expected`
};

/// The tag of a job without a configuration.
inline constexpr std::string_view no_settings_tag = "none";

/// A new configuration. Its members that are an instance's own (`on_misfire` and those after it) are not written.
struct settings_change {
    job_config config;

    /// The tag of the configuration that was read. If the configuration has changed since, the command is refused.
    /// `no_settings_tag`: it is refused if there is one now. Empty: the present configuration is replaced in any case.
    std::string expected{};

    /// Whether the job is added if it does not exist.
    bool may_add = false;

    /// Names of strategies that the members know besides those of this library. Any other strategy is refused, because
    /// the members would ignore the configuration.
    std::vector<std::string> strategies{};

    /// Whether the configuration of an existing job is changed. If not, a different configuration is refused.
    bool may_change = true;

    /// Whether a configuration without schedules, time zone, exclusions and labels may replace one that has some of
    /// them. If not, the command is refused.
    bool may_drop = true;
};

namespace detail {

/// A text that changes with every write of any of the nodes, even if a node is removed and created again.
std::string tag_of(std::optional<node> const& config, std::optional<node> const& schedule,
                   std::optional<node> const& labels);

/// The reason for a refusal because of `settings_change::may_drop`.
std::optional<error> find_loss(settings_change const& change, job_layout const& at, node const* schedule,
                               node const* labels);

/// The title of the command. A key belongs to one configuration, so the subject says which one, by its hash.
command_title title_of(settings_change const& change);

/// Such as `cron is '0 0 * * * ?', was '@daily'`.
std::string text_of_change(config_decision const& decision);

/// Checks everything that does not need the registry. Errors: those of `validate`; unknown_strategy.
result<valid_config> checked_settings(settings_change const& change);

} // namespace detail

/// Takes three requests. Errors: no_node if there is no such job; malformed_data and those of `validate` for the stored
/// configuration; those of the registry.
template <registry Registry>
task<result<job_settings>> find_settings(Registry& r, job_name job) {
    job_layout const at{job};
    std::vector<node_path> const paths{at.config(), at.schedule(), at.item_labels()};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
    ELASTICJOB_CO_TRY(auto const stored,
                      detail::read_stored(nodes[0] ? &*nodes[0] : nullptr, nodes[1] ? &*nodes[1] : nullptr, at,
                                          sharding_total_count_max));
    if (!stored) co_return detail::no_such_job(at.root());
    job_settings found{stored->config(), detail::tag_of(nodes[0], nodes[1], nodes[2])};
    if (nodes[2]) found.config.item_labels = nodes[2]->data;
    co_return found;
}

/// The tag of a configuration, also of one that cannot be read. Three requests. Errors: no_node if there is no such
/// job; those of the registry.
template <registry Registry>
task<result<std::string>> find_settings_tag(Registry& r, job_name job) {
    job_layout const at{job};
    std::vector<node_path> const paths{at.config(), at.schedule(), at.item_labels()};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
    if (!nodes[0]) co_return detail::no_such_job(at.root());
    co_return detail::tag_of(nodes[0], nodes[1], nodes[2]);
}

/// Validates a configuration, including its strategy, and writes it in one transaction, which takes effect at the next
/// firing (RS-1). If the stored configuration is damaged, it is replaced. Errors: those of `validate`, before anything
/// is read; unknown_strategy; no_node if there is no such job and it may not be added; node_exists if there is one and
/// it may not be changed; removed if the job was removed for good; job_conflict if it has another class or type;
/// version_conflict if the configuration is no longer the expected one, or because of `may_drop`; invalid_config if
/// jobs would wait for each other; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_settings(Registry& r, settings_change change, command_by by) {
    ELASTICJOB_CO_TRY(auto const valid, detail::checked_settings(change));
    job_layout const at{valid.name()};
    auto const plan = [&r, &change, &valid, at](transaction& t) -> task<result<detail::command_plan>> {
        std::vector<node_path> const paths{at.config(), at.schedule(), at.item_labels()};
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
        auto const* config_node = nodes[0] ? &*nodes[0] : nullptr;
        auto const* schedule_node = nodes[1] ? &*nodes[1] : nullptr;
        auto const* labels_node = nodes[2] ? &*nodes[2] : nullptr;
        auto const stored = detail::read_stored(config_node, schedule_node, at, sharding_total_count_max);
        bool const has_none = stored && !*stored; // perhaps an empty node, or a schedule that was left over
        auto const present = has_none ? std::string{no_settings_tag} : detail::tag_of(nodes[0], nodes[1], nodes[2]);
        if (!change.expected.empty() && change.expected != present)
            co_return error{errc::version_conflict,
                            "the configuration has changed since it was read: read it again, and change the new one",
                            at.config().str()};
        if (!has_none) {
            if (auto lost = detail::find_loss(change, at, schedule_node, labels_node)) co_return *std::move(lost);
        }
        std::optional<job_config> before;
        if (stored && *stored) before = (*stored)->config();
        ELASTICJOB_CO_TRY(auto decision, decide_config(before, valid.config()));
        detail::note_labels(decision, labels_node, valid.config().item_labels);
        if (before && decision.differences.empty())
            co_return detail::command_plan{"it has this configuration already", false};
        if (!stored && !change.may_change)
            co_return error{errc::node_exists,
                            "a job of that name exists, and its configuration cannot be read: " +
                                to_string(stored.error()),
                            at.config().str()};
        if (config_node && !change.may_change)
            co_return error{errc::node_exists,
                            "a job of that name exists with another configuration: " + detail::text_of_change(decision),
                            at.config().str()};
        ELASTICJOB_CO_TRY(auto const chain, co_await read_job_chain(r, valid.config()));
        detail::put_config(t, at, valid.config(), config_node, schedule_node);
        detail::put_labels(t, at.item_labels(), labels_node, valid.config().item_labels);
        check_job_chain(t, chain);
        if (!config_node) co_return detail::command_plan{"the job is added"};
        auto text = detail::text_of_change(decision);
        if (!stored && !decision.differences.empty()) text = "the unreadable configuration is replaced; " + text;
        co_return detail::command_plan{std::move(text)};
    };
    auto title = detail::title_of(change);
    auto name = valid.name();
    co_return co_await detail::carry_out(r, std::move(name), std::move(by), std::move(title), plan);
}

// The functions above as blocking calls. Threads: any but the loop's.

/// The tag of a configuration. Waits up to ten seconds. Errors: as `find_settings_tag`, and timed_out; invalid_argument
/// for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<std::string> read_settings_tag(Registry& r, std::string_view job) {
    return detail::wait_for_job(r, job, [&](job_name name) { return find_settings_tag(r, std::move(name)); });
}

/// The configuration of a job. Waits up to ten seconds. Errors: as `find_settings`, and timed_out; invalid_argument for
/// an invalid job name.
template <registry Registry>
result<job_settings> read_settings(Registry& r, std::string_view job) {
    return detail::wait_for_job(r, job, [&](job_name name) { return find_settings(r, std::move(name)); });
}

/// Changes the configuration of the job that it names, or adds the job. Waits up to ten seconds. Errors: as
/// `order_settings`, and timed_out: repeat the call with the same key.
template <registry Registry>
result<command_result> change_settings(Registry& r, settings_change change, command_by by) {
    auto const name = change.config.name;
    return detail::wait_for_job(r, name,
                                [&](job_name const&) { return order_settings(r, std::move(change), std::move(by)); });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/job_settings.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_JOB_SETTINGS_HPP
