// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SCHEDULER_JOB_HANDLE_IPP
#define ELASTICJOB_IMPL_SCHEDULER_JOB_HANDLE_IPP

#include <elasticjob/scheduler/job_handle.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/impl/scheduler/job_set.ipp> // job_set::call
#include <elasticjob/scheduler/job.hpp>

#include <thread>
#include <utility>

namespace elasticjob {

template <class Environment>
job_handle<Environment>::job_handle(job_handle&& other) noexcept
    : jobs_{other.jobs_.exchange(nullptr)},
      name_{std::move(other.name_)} {}

template <class Environment>
auto job_handle<Environment>::operator=(job_handle&& other) noexcept -> job_handle& {
    other.jobs_ = jobs_.exchange(other.jobs_);
    std::swap(name_, other.name_);
    return *this;
}

template <class Environment>
job_handle<Environment>::~job_handle() {
    auto const ended = shutdown();
    auto* const s = jobs_.load();
    if (!ended && s) s->abandon(name_);
}

template <class Environment>
result<void> job_handle<Environment>::trigger() {
    return on_loop([](job_type& j) { return j.trigger(); });
}

template <class Environment>
task<result<void>> job_handle<Environment>::async_trigger() {
    return job_set::call(jobs_.load(), name_, {}, [](job_type& j) { return j.trigger(); });
}

template <class Environment>
result<void> job_handle<Environment>::reschedule(std::string cron, std::vector<job_schedule> schedules) {
    return on_loop([cron = std::move(cron), schedules = std::move(schedules)](job_type& j) {
        return j.reschedule(cron, schedules);
    });
}

template <class Environment>
task<result<void>> job_handle<Environment>::async_reschedule(std::string cron, std::vector<job_schedule> schedules) {
    auto const change = [cron = std::move(cron), schedules = std::move(schedules)](job_type& j) {
        return j.reschedule(cron, schedules);
    };
    return job_set::call(jobs_.load(), name_, {}, change);
}

template <class Environment>
result<job_status> job_handle<Environment>::status() const {
    job_status found;
    ELASTICJOB_CHECK(on_loop([&found](job_type& j) -> task<result<void>> {
        found = j.status();
        co_return success();
    }));
    return found;
}

template <class Environment>
result<void> job_handle<Environment>::disable() {
    return on_loop([](job_type& j) { return j.set_enabled(false); });
}

template <class Environment>
result<void> job_handle<Environment>::enable() {
    return on_loop([](job_type& j) { return j.set_enabled(true); });
}

template <class Environment>
result<void> job_handle<Environment>::pause() {
    return on_loop([](job_type& j) { return j.set_paused(true); });
}

template <class Environment>
result<void> job_handle<Environment>::resume() {
    return on_loop([](job_type& j) { return j.set_paused(false); });
}

template <class Environment>
result<void> job_handle<Environment>::wait_idle() {
    return on_loop([](job_type& j) { return j.wait_idle(); }, waiting::for_runs);
}

template <class Environment>
result<void> job_handle<Environment>::leave() {
    auto* const s = jobs_.load();
    if (!s) return job_set::is_shut_down(name_);
    s->begin_to_leave(name_);
    return success();
}

template <class Environment>
result<void> job_handle<Environment>::shutdown() {
    auto* const s = jobs_.load();
    if (!s) return success();
    auto ended = block_on(s->loop(), s->end(name_, std::this_thread::get_id()));
    bool const was_refused = !ended && ended.error() == errc::wrong_thread; // the handle still has to end the job
    if (!was_refused) jobs_ = nullptr;
    return ended;
}

template <class Environment>
template <class F>
result<void> job_handle<Environment>::on_loop(F f, waiting w) const {
    auto* const s = jobs_.load();
    if (!s) return job_set::is_shut_down(name_);
    auto const caller = w == waiting::for_runs ? std::this_thread::get_id() : std::thread::id{};
    return block_on(s->loop(), job_set::call(s, name_, caller, std::move(f)));
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SCHEDULER_JOB_HANDLE_IPP
