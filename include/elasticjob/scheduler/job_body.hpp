// SPDX-License-Identifier: Apache-2.0
/// \file \brief A type-erased body, so that one scheduler can hold jobs with any bodies.
#ifndef ELASTICJOB_SCHEDULER_JOB_BODY_HPP
#define ELASTICJOB_SCHEDULER_JOB_BODY_HPP

#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/coroutine_context.hpp>
#include <elasticjob/execution/executor.hpp>

#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Owns a body together with the executor that calls it. Function pointers from a template replace the type.
/// Threads: const calls from any; `start`, the loop's.
template <class Loop>
class job_body {
public:
    template <executor Executor, class Body>
    static job_body make(Executor e, Body b) {
        struct holder {
            Executor executor;
            Body body;
        };
        job_body made{new holder{std::move(e), std::move(b)}, [](void* self) { delete static_cast<holder*>(self); }};
        if constexpr (batch_body_for<Body, Executor>)
            made.call_all_ = [](void* self, item_contexts all) {
                auto& h = *static_cast<holder*>(self);
                return h.executor(h.body, all);
            };
        else if constexpr (body_for<Body, Executor>)
            made.call_ = [](void* self, sharding_context const& ctx) {
                auto& h = *static_cast<holder*>(self);
                return h.executor(h.body, ctx);
            };
        else
            made.start_ = [](void* self, coroutine_context<Loop> const& run) {
                auto& h = *static_cast<holder*>(self);
                return h.executor(h.body, run);
            };
        return made;
    }

    job_body(job_body&& other) noexcept;
    job_body& operator=(job_body&&) = delete;
    ~job_body();

    bool is_coroutine() const noexcept { return start_ != nullptr; }
    bool takes_batches() const noexcept { return call_all_ != nullptr; }

    /// Precondition: the body takes batches.
    std::vector<result<void>> operator()(item_contexts all) const { return call_all_(holder_, all); }
    /// Precondition: the body is no coroutine and takes no batches.
    result<void> operator()(sharding_context const& ctx) const { return call_(holder_, ctx); }
    /// Precondition: the body is a coroutine. `run` and this object must outlive the task.
    task<result<void>> start(coroutine_context<Loop> const& run) const { return start_(holder_, run); }

private:
    job_body(void* holder, void (*destroy)(void*)) noexcept : holder_{holder}, destroy_{destroy} {}

    void* holder_;
    void (*destroy_)(void*);
    result<void> (*call_)(void*, sharding_context const&) = nullptr;
    std::vector<result<void>> (*call_all_)(void*, item_contexts) = nullptr;
    task<result<void>> (*start_)(void*, coroutine_context<Loop> const&) = nullptr;
};

template <class Loop>
job_body<Loop>::job_body(job_body&& other) noexcept
    : holder_{std::exchange(other.holder_, nullptr)},
      destroy_{other.destroy_},
      call_{other.call_},
      call_all_{other.call_all_},
      start_{other.start_} {}

template <class Loop>
job_body<Loop>::~job_body() {
    if (holder_) destroy_(holder_);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_BODY_HPP
