// SPDX-License-Identifier: Apache-2.0
/// \file \brief `task<T>`, a lazy coroutine, and `task_scope`, which owns coroutines that no caller awaits.
#ifndef ELASTICJOB_CORE_TASK_HPP
#define ELASTICJOB_CORE_TASK_HPP

#include <elasticjob/core/intrusive_list.hpp>

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace elasticjob {

template <class T = void>
class task;

namespace detail {

struct task_promise_base {
    struct resume_awaiter {
        bool is_root; ///< a root runs off its end, which destroys its frame
        bool await_ready() const noexcept { return is_root; }
        template <class P>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) const noexcept {
            return h.promise().continuation;
        }
        void await_resume() const noexcept {}
    };

    std::suspend_always initial_suspend() const noexcept { return {}; }
    resume_awaiter final_suspend() const noexcept { return {false}; }
    void unhandled_exception() noexcept { failure = std::current_exception(); }

    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::exception_ptr failure;
};

template <class T>
struct task_promise : task_promise_base {
    task<T> get_return_object() noexcept;

    template <class U>
    requires std::is_constructible_v<T, U&&>
    void return_value(U&& u) { value.emplace(std::forward<U>(u)); }
    T take() {
        if (failure) std::rethrow_exception(failure);
        return std::move(*value);
    }
    std::optional<T> value;
};

/// Linked while a `task_scope` owns it.
template <>
struct task_promise<void> : task_promise_base, list_hook {
    task<void> get_return_object() noexcept;
    resume_awaiter final_suspend() const noexcept { return {is_linked()}; }
    void unhandled_exception() noexcept {
        if (is_linked()) std::terminate();
        task_promise_base::unhandled_exception();
    }
    void return_void() const noexcept {}
    void take() const {
        if (failure) std::rethrow_exception(failure);
    }
};

} // namespace detail

/// A coroutine that starts when it is awaited, and passes its value or its exception to the awaiting coroutine. It can
/// be awaited at most once. To cancel it, destroy it: that destroys its frame and all tasks that it awaits, and ends
/// its waits. Do not destroy a task while its code is executing. Threads: starts, suspends and resumes on the loop's
/// thread only.
template <class T>
class [[nodiscard]] task {
public:
    using promise_type = detail::task_promise<T>;

    task(task&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
    task& operator=(task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~task() {
        if (handle_) handle_.destroy();
    }

    auto operator co_await() && noexcept {
        struct awaiter {
            std::coroutine_handle<promise_type> handle;
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> continuation) const noexcept {
                handle.promise().continuation = continuation;
                return handle;
            }
            T await_resume() const { return handle.promise().take(); }
        };
        return awaiter{handle_};
    }

private:
    friend promise_type;
    friend class task_scope;
    explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_{handle} {}
    std::coroutine_handle<promise_type> handle_;
};

namespace detail {
template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>{std::coroutine_handle<task_promise>::from_promise(*this)};
}
inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>{std::coroutine_handle<task_promise>::from_promise(*this)};
}
} // namespace detail

/// Owns concurrent coroutines. Destroying the scope destroys the unfinished ones, so none of them may destroy it. An
/// exception that leaves a spawned task ends the program, as with a thread; catch exceptions inside the task. Threads:
/// the loop's.
class task_scope {
public:
    task_scope() = default;
    task_scope(task_scope const&) = delete;
    task_scope& operator=(task_scope const&) = delete;
    ~task_scope() { cancel(); }

    /// Starts the task at once; it runs until it first waits.
    void spawn(task<void> t) {
        auto const root = std::exchange(t.handle_, nullptr);
        running_.push_back(root.promise());
        root.resume();
    }

    bool empty() const noexcept { return running_.empty(); }

    /// Destroys the unfinished tasks. Precondition: not called by a task of the scope.
    void cancel() noexcept {
        while (!running_.empty()) std::coroutine_handle<promise>::from_promise(running_.front()).destroy();
    }

private:
    using promise = detail::task_promise<void>;

    intrusive_list<promise> running_;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_TASK_HPP
