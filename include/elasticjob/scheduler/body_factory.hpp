// SPDX-License-Identifier: Apache-2.0
/// \file \brief A type-erased factory of the bodies of one job class.
#ifndef ELASTICJOB_SCHEDULER_BODY_FACTORY_HPP
#define ELASTICJOB_SCHEDULER_BODY_FACTORY_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/execution/executor.hpp>
#include <elasticjob/scheduler/job_body.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace elasticjob {

/// Makes the bodies of the jobs of one class: `f(config)` returns a body that the executor can run, for the job with
/// this configuration. It is called each time before an instance joins such a job, and again after a failure, but not
/// when the configuration changes. An exception is reported as trouble and does not affect other jobs. Threads: those
/// of the pool, for several jobs at once, on one object.
template <class F, class E, class Loop>
concept body_factory_for = requires(F& f, job_config const& config) {
    requires any_body_for<std::remove_cvref_t<decltype(f(config))>, E, Loop>;
};

namespace detail {

/// `Executor` is the executor of the jobs.
template <class Executor, class F>
struct factory_with_executor {
    [[no_unique_address]] Executor executor;
    F factory;
};

/// Owns a factory. Two function pointers from a template replace its type. Threads: any, several at once.
template <class Loop>
class body_factory {
    using body = job_body<Loop>;
    using make_function = result<void>(void*, job_config const&, std::optional<body>&);

public:
    template <executor Executor, body_factory_for<Executor, Loop> F>
    static body_factory of(Executor e, F f) {
        using holder = detail::factory_with_executor<Executor, F>;
        return body_factory{new holder{std::move(e), std::move(f)}, &make_with<holder>,
                            [](void* self) { delete static_cast<holder*>(self); }};
    }

    body_factory(body_factory&& other) noexcept;
    body_factory& operator=(body_factory&&) = delete;
    ~body_factory();

    /// Errors: job_threw, with the exception of the factory.
    result<void> make(job_config const& config, std::optional<body>& into) const { return make_(self_, config, into); }

private:
    body_factory(void* self, make_function* function, void (*destroy)(void*)) noexcept;

    template <class Holder>
    static result<void> make_with(void* self, job_config const& config, std::optional<body>& into) {
        auto& h = *static_cast<Holder*>(self);
        return guarded_call([&] { into.emplace(body::make(h.executor, h.factory(config))); });
    }

    void* self_;
    make_function* make_;
    void (*destroy_)(void*);
};

} // namespace detail
} // namespace elasticjob

namespace elasticjob::detail {

template <class Loop>
body_factory<Loop>::body_factory(body_factory&& other) noexcept
    : self_{std::exchange(other.self_, nullptr)},
      make_{other.make_},
      destroy_{other.destroy_} {}

template <class Loop>
body_factory<Loop>::~body_factory() {
    if (self_) destroy_(self_);
}

template <class Loop>
body_factory<Loop>::body_factory(void* self, make_function* function, void (*destroy)(void*)) noexcept
    : self_{self},
      make_{function},
      destroy_{destroy} {}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_BODY_FACTORY_HPP
