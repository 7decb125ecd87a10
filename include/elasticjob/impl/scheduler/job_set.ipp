// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SCHEDULER_JOB_SET_IPP
#define ELASTICJOB_IMPL_SCHEDULER_JOB_SET_IPP

#include <elasticjob/scheduler/job_set.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/clock.hpp> // is_span
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/membership/server_ip.hpp>
#include <elasticjob/scheduler/job.hpp>

#include <unistd.h>

#include <cstddef>
#include <utility>

namespace elasticjob::detail {

template <class Environment>
job_set<Environment>::job_set(Registry& r, scheduler_options options, guard_ref guard)
    : registry_{r},
      options_{std::move(options)},
      random_{seed_of(options_)},
      lease_{std::in_place, r, guard},
      commits_{std::in_place, r},
      beginnings_{std::in_place, r, 1} {}

template <class Environment>
job_set<Environment>::~job_set() {
    (void)block_on(loop(), shut_down_all());
}

template <class Environment>
void job_set<Environment>::provide(pool_ref pool, sink_ref sink, zone_ref zone, strategy_ref strategy,
                                   listeners_ref listeners, error_handlers_ref error_handlers) {
    environment_.emplace(Environment{registry_, *commits_, *beginnings_, new_jobs_, pool, sink, zone, strategy, random_,
                                     options_, *lease_, listeners, error_handlers});
}

template <class Environment>
std::uint64_t job_set<Environment>::seed_of(scheduler_options const& options) {
    if (options.seed != 0) return options.seed;
    return random_source::machine_seed();
}

template <class Environment>
result<valid_config> job_set<Environment>::prepare(job_config config, elasticjob::job_type type) const {
    auto const& strategy = environment_->strategy;
    config.type = type;
    if (config.job_sharding_strategy_class.empty() && !strategy.has_name(AverageAllocation::name))
        config.job_sharding_strategy_class = strategy.name();
    auto found_here = problems_here(config);
    ELASTICJOB_TRY(auto valid, validate(std::move(config), std::move(found_here)));
    ELASTICJOB_CHECK(check_options());
    return valid;
}

template <class Environment>
std::vector<error> job_set<Environment>::problems_here(job_config const& config) const {
    auto const& strategy = environment_->strategy;
    std::vector<error> problems;
    if (auto const& name = config.time_zone; !name.empty() && name.size() <= time_zone_bytes_max)
        if (auto const zone = load_zone(environment_->zone, name); !zone) problems.push_back(zone.error());
    if (auto const agreed = check_strategy(strategy, config); !agreed) problems.push_back(agreed.error());
    if (!config.item_labels.empty() && !strategy.uses_traits())
        problems.push_back({errc::invalid_config,
                            "the items need labels, but the strategy '" + std::string{strategy.name()} +
                                "' does not look at any: build with LabelAllocation, or drop them",
                            "itemLabels"});
    return problems;
}

template <class Environment>
result<void> job_set<Environment>::check_options() const {
    if (!options_.server_ip.empty() && !is_server_ip(options_.server_ip))
        return error{errc::invalid_argument, "server_ip must be an IPv4 address, by which Java members can know it",
                     options_.server_ip};
    if (!is_label_text(options_.instance_labels))
        return error{errc::invalid_argument, "instance_labels must be words with blanks between them, without commas",
                     options_.instance_labels};
    auto const& o = options_;
    std::pair<char const*, std::chrono::milliseconds> const spans[]{
        {"drain_timeout", o.drain_timeout},         {"start_timeout", o.start_timeout},
        {"sharding_timeout", o.sharding_timeout},   {"completion_linger", o.completion_linger},
        {"round_end_timeout", o.round_end_timeout}, {"round_start_timeout", o.round_start_timeout}};
    for (auto const& [name, span] : spans)
        if (!is_span(span))
            return error{errc::invalid_argument, std::string{name} + " must be from 0 to 365 days",
                         std::to_string(span.count()) + " ms"};
    if (!is_span(o.server_retention))
        return error{errc::invalid_argument, "server_retention must be from 0 to 365 days",
                     std::to_string(o.server_retention.count()) + " h"};
    if (auto const ahead = options_.start_ahead; ahead.count() < 0 || ahead > detail::start_ahead_max)
        return error{errc::invalid_argument, "start_ahead must be from 0 to 1000 ms",
                     std::to_string(ahead.count()) + " ms"};
    return success();
}

template <class Environment>
instance_id job_set<Environment>::make_id() {
    auto const ip = options_.server_ip.empty() ? find_server_ip() : options_.server_ip;
    // Strategies may depend on ids, so those of a simulation must not depend on the process that simulates.
    long const process = options_.seed == 0 ? ::getpid() : 1;
    return make_instance_id(ip, process, random_);
}

template <class Environment>
result<std::vector<job_status>> job_set<Environment>::list() {
    return block_on(loop(), list_here());
}

template <class Environment>
task<result<std::vector<job_status>>> job_set<Environment>::list_here() {
    std::vector<job_status> all;
    all.reserve(jobs_.size());
    for (auto const& [name, one] : jobs_) all.push_back(one->status());
    co_return all;
}

template <class Environment>
result<void> job_set<Environment>::set_all_paused(bool paused) {
    return block_on(loop(), switch_each(&job_type::set_paused, paused));
}

template <class Environment>
result<void> job_set<Environment>::set_all_enabled(bool enabled) {
    return block_on(loop(), switch_each(&job_type::set_enabled, enabled));
}

template <class Environment>
task<result<void>> job_set<Environment>::switch_each(job_switch member, bool on) {
    auto used = jobs_; // keeps the jobs alive during the call
    std::erase_if(used, [](auto const& job) { return job.second->is_leaving(); });
    auto const switch_one = [&](auto const& job) { return (*job.second.*member)(on); };
    auto const outcomes = co_await gather_each(loop(), used, switch_one);
    for (auto const& outcome : outcomes) {
        ELASTICJOB_CO_CHECK(outcome);
    }
    co_return success();
}

template <class Environment>
std::shared_ptr<job<Environment>> job_set<Environment>::find(std::string const& name) const {
    auto const at = jobs_.find(name);
    return at == jobs_.end() ? nullptr : at->second;
}

template <class Environment>
result<std::string> job_set<Environment>::add(job_config config, elasticjob::job_type type, job_body body) {
    ELASTICJOB_TRY(auto local, prepare(std::move(config), type));
    auto name = local.name().str();
    ELASTICJOB_CHECK(block_on(loop(), begin(std::move(local), std::move(body), true)));
    return name;
}

template <class Environment>
task<result<std::string>> job_set<Environment>::add_here(job_config config, elasticjob::job_type type, job_body body) {
    ELASTICJOB_CO_TRY(auto local, prepare(std::move(config), type));
    auto name = local.name().str();
    ELASTICJOB_CO_CHECK(co_await begin(std::move(local), std::move(body), true));
    co_return name;
}

template <class Environment>
result<void> job_set<Environment>::check_is_new(std::string const& name) const {
    if (!jobs_.contains(name)) return success();
    return error{errc::job_conflict, "this scheduler runs a job of that name already", name};
}

template <class Environment>
task<result<void>> job_set<Environment>::begin(valid_config local, job_body body, bool is_own) {
    auto const name = local.name().str();
    ELASTICJOB_CO_CHECK(check_is_new(name));
    if (lease_watch_.empty()) lease_watch_.spawn(watch_lease());
    auto const entry = std::make_shared<job_type>(*environment_, std::move(local), make_id(), std::move(body));
    jobs_.emplace(name, entry);
    auto started = co_await within(loop(), loop().now() + options_.start_timeout, entry->start(is_own));
    if (started) co_return success();
    // If the start fails, its registration is removed again.
    (void)co_await entry->shut_down();
    jobs_.erase(name);
    if (started.error() == errc::timed_out)
        co_return error{errc::unreachable,
                        "the registry did not answer in time (session " +
                            std::string{name_of(registry_.session().state)} + "): is it running and reachable?",
                        name};
    co_return std::move(started).error();
}

template <class Environment>
void job_set<Environment>::begin_to_leave_here(std::string const& name) {
    find(name)->begin_to_leave();
}

template <class Environment>
task<void> job_set<Environment>::wait_left(std::string const& name) {
    auto const leaving = find(name);
    co_await leaving->wait_left();
}

template <class Environment>
task<void> job_set<Environment>::watch_lease() {
    for (;;) {
        auto const seen = lease_->lapsed().edition();
        for (auto& [name, one] : jobs_) one->look_at_lease();
        co_await lease_->lapsed().newer_than(seen);
    }
}

template <class Environment>
task<result<void>> job_set<Environment>::end(std::string name, std::thread::id caller) {
    auto const ending = find(name);
    if (!ending) co_return success();
    if (ending->is_called_on(caller)) co_return awaits_itself(name);
    auto outcome = co_await ending->shut_down();
    if (find(name) == ending) jobs_.erase(name);
    co_return outcome;
}

template <class Environment>
void job_set<Environment>::leave_all() {
    post(loop(), [this] { leaving_.spawn(leave_together()); });
}

template <class Environment>
task<void> job_set<Environment>::leave_together() {
    constexpr std::size_t at_once_max = 64;
    jobs all;
    for (auto const& [name, one] : jobs_)
        if (one->has_started()) all.push_back(one);
    std::vector<jobs*> const shared(std::min(at_once_max, all.size()), &all);
    auto const leave = [this](jobs* left) { return leave_one_by_one(*left); };
    (void)co_await gather_each(loop(), shared, leave);
}

template <class Environment>
task<result<void>> job_set<Environment>::leave_one_by_one(jobs& all) {
    while (!all.empty()) {
        auto const next = std::move(all.back());
        all.pop_back();
        (void)co_await next->shut_down(); // its handle or its catalog then ends it, and gets the outcome
    }
    co_return success();
}

template <class Environment>
void job_set<Environment>::begin_to_leave(std::string name) {
    post(loop(), [this, name = std::move(name)] {
        if (auto const there = find(name)) there->begin_to_leave();
    });
}

template <class Environment>
void job_set<Environment>::abandon(std::string name) {
    post(loop(), [this, name = std::move(name)] { leaving_.spawn(forget(name)); });
}

template <class Environment>
task<void> job_set<Environment>::forget(std::string name) {
    (void)co_await end(std::move(name));
}

template <class Environment>
error job_set<Environment>::is_shut_down(std::string const& name) {
    return {errc::closed, "the job has been shut down", name};
}

template <class Environment>
error job_set<Environment>::awaits_itself(std::string const& name) {
    return {errc::wrong_thread,
            "this thread runs a body or a hook of the job, and the job would wait for it: call leave(), which does not "
            "wait, or call this on another thread",
            name};
}

template <class Environment>
task<result<void>> job_set<Environment>::shut_down_all() {
    auto const end_one = [&](auto const& job) { return end(job.first); };
    (void)co_await gather_each(loop(), jobs_, end_one);
    leaving_.cancel();
    lease_watch_.cancel();
    lease_.reset();
    commits_.reset();
    beginnings_.reset();
    co_return success();
}

template <class Environment>
template <class F>
task<result<void>> job_set<Environment>::call(job_set* jobs, std::string name, std::thread::id who, F function) {
    auto const used = jobs ? jobs->find(name) : nullptr; // keeps the job alive during the call
    if (!used || used->is_leaving()) co_return is_shut_down(name);
    if (used->is_called_on(who)) co_return awaits_itself(name);
    co_return co_await function(*used);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SCHEDULER_JOB_SET_IPP
