// SPDX-License-Identifier: Apache-2.0
// For each requirement of the core's concepts, a type that lacks only that one.
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/core/worker_pool.hpp>

using namespace elasticjob;

namespace {

struct without_now : ManualClock {
    void now() const = delete;
};
struct without_wall_now : ManualClock {
    void wall_now() const = delete;
};
struct with_one_time_for_both : ManualClock {
    wall_time now() const;
};
struct with_a_clock_that_reading_changes : ManualClock {
    mono_time now();
};
static_assert(!job_clock<without_now>);
static_assert(!job_clock<without_wall_now>);
static_assert(!job_clock<with_one_time_for_both>);
static_assert(!job_clock<with_a_clock_that_reading_changes>);

struct still_a_loop : virtual_loop {};
struct without_time : virtual_loop {
    void now() const = delete;
};
struct without_post : virtual_loop {
    void post(work&) = delete;
};
struct without_arm : virtual_loop {
    void arm(timer&, mono_time) = delete;
};
struct without_disarm : virtual_loop {
    void disarm(timer&) = delete;
};
struct without_on_loop : virtual_loop {
    void on_loop() const = delete;
};
struct without_wait : virtual_loop {
    void wait(gate const&) = delete;
};
struct with_a_wait_that_cannot_fail : virtual_loop {
    void wait(gate const&);
};
struct with_work_that_it_refuses : virtual_loop {
    bool post(work&);
};
static_assert(loop<still_a_loop>);
static_assert(!loop<without_time>);
static_assert(!loop<without_post>);
static_assert(!loop<without_arm>);
static_assert(!loop<without_disarm>);
static_assert(!loop<without_on_loop>);
static_assert(!loop<without_wait>);
static_assert(!loop<with_a_wait_that_cannot_fail>);
static_assert(!loop<with_work_that_it_refuses>);

struct without_try_submit : ThreadPool {
    bool try_submit(work&) = delete;
};
struct with_a_submit_that_cannot_fail : ThreadPool {
    void try_submit(work&);
};
static_assert(!worker_pool<without_try_submit>);
static_assert(!worker_pool<with_a_submit_that_cannot_fail>);

} // namespace
