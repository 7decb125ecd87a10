// SPDX-License-Identifier: Apache-2.0
/// \file \brief A job's body without its type: jobs of any body live in one scheduler.
#ifndef ELASTICJOB_SCHEDULER_JOB_BODY_HPP
#define ELASTICJOB_SCHEDULER_JOB_BODY_HPP

#include <elasticjob/execution/executor.hpp>

#include <utility>

namespace elasticjob::detail {

/// Owns a body together with the executor that calls it. Two function pointers made from a template stand for the type.
/// Threads: const calls from any.
class job_body {
public:
    template <executor Executor, class Body>
    static job_body make(Executor e, Body b) {
        struct holder {
            Executor executor;
            Body body;
        };
        return job_body{new holder{std::move(e), std::move(b)},
                        [](void* self, sharding_context const& ctx) {
                            auto& h = *static_cast<holder*>(self);
                            return h.executor(h.body, ctx);
                        },
                        [](void* self) { delete static_cast<holder*>(self); }};
    }

    job_body(job_body&& other) noexcept
        : holder_{std::exchange(other.holder_, nullptr)},
          call_{other.call_},
          destroy_{other.destroy_} {}
    job_body& operator=(job_body&&) = delete;
    ~job_body() {
        if (holder_) destroy_(holder_);
    }

    result<void> operator()(sharding_context const& ctx) const { return call_(holder_, ctx); }

private:
    job_body(void* holder, result<void> (*call)(void*, sharding_context const&), void (*destroy)(void*)) noexcept
        : holder_{holder},
          call_{call},
          destroy_{destroy} {}

    void* holder_;
    result<void> (*call_)(void*, sharding_context const&);
    void (*destroy_)(void*);
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_BODY_HPP
