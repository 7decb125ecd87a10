// SPDX-License-Identifier: Apache-2.0
/// \file \brief The configuration in force on one instance, and the due times that follow from it.
#ifndef ELASTICJOB_SCHEDULER_JOB_RULES_HPP
#define ELASTICJOB_SCHEDULER_JOB_RULES_HPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/membership/job_chain.hpp>
#include <elasticjob/registry/mirrored.hpp>
#include <elasticjob/scheduler/acceptance.hpp>
#include <elasticjob/scheduler/job_context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// Follows the registry's configuration, if this scheduler can run it: a change takes effect at the next firing, and an
/// invalid configuration changes nothing (RS-1, RS-2). Threads: the loop's.
template <class Environment>
class job_rules {
    using Registry = typename Environment::registry_type;

public:
    /// `local` is in force until the job has registered.
    job_rules(job_context<Environment>& context, valid_config local);

    job_config const& config() const noexcept { return config_->config(); }
    std::shared_ptr<valid_config const> const& valid() const noexcept { return config_; }
    std::shared_ptr<due_times const> const& due() const noexcept { return due_; }
    std::uint32_t item_count() const noexcept { return static_cast<std::uint32_t>(config().sharding_total_count); }

    /// The job that this one follows, or nothing.
    auto const* followed() const { return find_followed(config().schedules); }

    /// The version of the configuration that was examined last.
    node_version version() const noexcept { return version_; }

    /// When the schedule was written; nothing if unknown.
    auto const& schedule_written() const noexcept { return schedule_written_; }

    /// When the schedule in force was written at the latest; nothing if unknown.
    auto const& schedule_changed() const noexcept { return schedule_changed_; }

    /// A fingerprint of the schedules. For a job that follows another, only the followed job's name counts, because its
    /// recorded rounds stay valid when the rest of the schedule changes.
    std::uint64_t fingerprint() const;

    /// Checks whether a job with this configuration can run here.
    acceptance accepted() const noexcept {
        auto const& env = context_.env;
        return {env.zone, env.strategy, items_max_, env.listeners.hear_rounds()};
    }

    /// The configuration in force comes from this process's program, so its item count is accepted.
    void trust_own() {
        auto const parameters = static_cast<std::uint32_t>(count_item_parameters(config()));
        items_max_ = std::max({items_max_, item_count(), parameters});
    }

    /// Puts the configuration in force with which the job has registered. Errors: those of due_times.
    result<void> begin(valid_config joined);

    /// Why the rounds of the followed job cannot be read. Null if they can, or if the job follows none.
    error const* failure() const noexcept { return rounds_ ? rounds_->failure() : nullptr; }

    /// Whether all data for the due times has been read.
    bool is_complete() const { return !rounds_ || rounds_->is_loaded(); }

    /// Whether the view shows another configuration than the one taken last.
    bool is_outdated() const;

    /// Takes the configuration in the view, and then frees its text there. An invalid one is reported and ignored.
    /// False if the view is about to show another one. Errors: those of reading.
    task<result<bool>> take();

    /// Takes the rounds of the followed job.
    void take_rounds();

private:
    /// The configuration's node with its text, which the view has no more if it was taken before. Nothing if the view
    /// is about to show another one. Errors: those of reading.
    task<result<std::optional<node>>> read_config();

    /// Errors: those of reading that may pass.
    task<result<void>> take(node const& stored, node const* schedule);

    void put_in_force(valid_config config, due_times due);

    static revision modified(node const* n) noexcept { return n ? n->stat.modified : 0; }

    job_context<Environment>& context_;
    std::shared_ptr<valid_config const> config_; ///< in force
    std::shared_ptr<due_times const> due_;       ///< of that configuration
    std::optional<wall_time> schedule_written_;  ///< together with the configuration
    std::optional<wall_time> schedule_changed_;
    std::uint32_t items_max_;
    node_version version_ = 0;
    revision config_taken_ = 0;
    revision text_freed_ = 0; ///< of the configuration whose text the view has no more
    revision schedule_taken_ = 0;
    std::unique_ptr<mirrored_node<Registry>> rounds_; ///< `ext/after`, while the job follows another
    std::optional<revision> rounds_taken_;
};

template <class Environment>
job_rules<Environment>::job_rules(job_context<Environment>& context, valid_config local)
    : context_{context},
      config_{std::make_shared<valid_config const>(std::move(local))},
      items_max_{context.env.options.items_max} {}

template <class Environment>
std::uint64_t job_rules<Environment>::fingerprint() const {
    if (auto const* other = followed()) return fnv_1a(other->job);
    return fnv_1a(to_schedule_text(config()), fnv_1a(config().cron));
}

template <class Environment>
result<void> job_rules<Environment>::begin(valid_config joined) {
    ELASTICJOB_TRY(auto due, due_times::of(joined, context_.env.zone));
    put_in_force(std::move(joined), std::move(due));
    return success();
}

template <class Environment>
bool job_rules<Environment>::is_outdated() const {
    auto const* node = context_.view->config();
    return node && (node->stat.modified != config_taken_ || modified(context_.view->schedule()) != schedule_taken_);
}

template <class Environment>
task<result<bool>> job_rules<Environment>::take() {
    ELASTICJOB_CO_TRY(auto const stored, co_await read_config());
    if (!stored) co_return false;
    std::optional<node> schedule; // a copy, because the view may change meanwhile
    if (auto const* shown = context_.view->schedule()) schedule = *shown;
    ELASTICJOB_CO_CHECK(co_await take(*stored, schedule ? &*schedule : nullptr));
    bool const is_shown = modified(context_.view->config()) == stored->stat.modified;
    bool const is_whole = !schedule || schedule->stat.modified >= stored->stat.modified; // else it may be on its way
    if (is_shown && is_whole) {
        context_.view->forget_config_text();
        text_freed_ = stored->stat.modified;
    }
    co_return true;
}

template <class Environment>
task<result<std::optional<node>>> job_rules<Environment>::read_config() {
    auto const* shown = context_.view->config();
    if (shown->stat.modified != text_freed_) co_return std::optional{*shown};
    auto read = co_await context_.registry.get(context_.at.config());
    if (!read && !(read.error() == errc::no_node)) co_return read.error();
    bool const is_shown = read && read->stat.modified == modified(context_.view->config());
    co_return is_shown ? std::optional{*std::move(read)} : std::nullopt;
}

template <class Environment>
task<result<void>> job_rules<Environment>::take(node const& stored, node const* schedule) {
    bool const is_config_new = config_taken_ != stored.stat.modified;
    config_taken_ = stored.stat.modified;
    schedule_taken_ = modified(schedule);
    version_ = stored.stat.version; // examined, whatever the result
    auto read = read_stored(&stored, schedule, context_.at, items_max_);
    if (read && !*read) co_return success(); // empty, as before a removal
    auto due = read ? accepted().times_of(**read) : result<due_times>{read.error()};
    if (!due) {
        context_.tell_trouble(due.error());
        co_return success();
    }
    std::optional<wall_time> ordered, written;
    if (schedule) ordered = wall_time{std::chrono::milliseconds{schedule->stat.modified_at_ms}};
    if (schedule && schedule->stat.modified == stored.stat.modified) written = ordered;
    auto const* wanted = find_followed((*read)->config().schedules);
    auto const* in_force = followed();
    if (wanted && !(in_force && in_force->job == wanted->job)) {
        auto const chain = co_await read_job_chain(context_.registry, context_.name.str(), wanted->job);
        if (!chain && is_transient(chain.error())) {
            config_taken_ = 0;
            co_return chain.error();
        }
        if (!chain) {
            context_.tell_trouble(chain.error());
            co_return success();
        }
    }
    auto const before = fingerprint();
    schedule_written_ = written;
    if (ordered) due->set_now(*ordered + std::chrono::milliseconds{1}); // later instants count
    put_in_force(**std::move(read), *std::move(due));
    if (!schedule_changed_ || fingerprint() != before) {
        // If only the schedule's node has been removed, nothing says when.
        auto const written_at_ms = std::max(stored.stat.modified_at_ms, schedule ? schedule->stat.modified_at_ms : 0);
        schedule_changed_.reset();
        if (is_config_new || schedule) schedule_changed_ = wall_time{std::chrono::milliseconds{written_at_ms}};
    }
    context_.news.notify();
    co_return success();
}

template <class Environment>
void job_rules<Environment>::take_rounds() {
    auto const* there = rounds_ ? rounds_->get() : nullptr;
    if (!there || rounds_taken_ == there->stat.modified) return;
    rounds_taken_ = there->stat.modified;
    auto read = followed_rounds::parse(there->data);
    if (!read || read->job != followed()->job) return; // the leader will correct it
    auto due = *due_;
    due.set_rounds(std::move(read->rounds));
    due_ = std::make_shared<due_times const>(std::move(due));
    context_.news.notify();
}

template <class Environment>
void job_rules<Environment>::put_in_force(valid_config config, due_times due) {
    config_ = std::make_shared<valid_config const>(std::move(config));
    due_ = std::make_shared<due_times const>(std::move(due));
    if (auto const problem = find_ineffective(config_->config())) context_.tell_trouble(*problem);
    if (!due_->follows())
        rounds_.reset();
    else if (!rounds_)
        rounds_ = std::make_unique<mirrored_node<Registry>>(context_.registry, context_.at.after(), context_.news);
    rounds_taken_.reset();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_RULES_HPP
