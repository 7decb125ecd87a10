// SPDX-License-Identifier: Apache-2.0
/// \file \brief A request from its submission to its reply, and the coroutine that waits for it.
#ifndef ELASTICJOB_REGISTRY_ZK_CALL_HPP
#define ELASTICJOB_REGISTRY_ZK_CALL_HPP

#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/registry/zk/watch_table.hpp>

#include <coroutine>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::zk {

template <loop Loop>
class handle;
template <loop Loop>
class call_table;
template <loop Loop>
struct call;

template <loop Loop>
struct call_deleter {
    void operator()(call<Loop>* c) const noexcept { c->its_kind.destroy(c); }
};
template <loop Loop>
using owned_call = std::unique_ptr<call<Loop>, call_deleter<Loop>>;

/// The coroutine's side of a call. It may go at any time; the call goes on without it.
template <loop Loop>
class waiter {
public:
    explicit waiter(Loop& l, node_watch<Loop>* w) noexcept : watch{w}, self_{l} {}
    waiter(waiter const&) = delete;
    waiter& operator=(waiter const&) = delete;
    ~waiter() {
        if (asked_) asked_->awaited_by = nullptr;
    }

    void wait_for(call<Loop>& c) noexcept {
        asked_ = &c;
        c.awaited_by = this;
    }

    /// By the table, once: the reply, or why there is none.
    void finish(owned_call<Loop> answered) {
        answered_ = std::move(answered);
        wake();
    }
    void finish(error why) {
        failure_.emplace(std::move(why));
        wake();
    }

    node_watch<Loop>* const watch; ///< to be armed by the reply, or null

protected:
    bool is_finished() const noexcept { return !asked_; }
    void suspend(std::coroutine_handle<> h) noexcept {
        self_.suspend(h);
        suspended_ = true;
    }

    owned_call<Loop> answered_;
    deferred<std::optional<error>, Loop> failure_;

private:
    void wake() {
        asked_ = nullptr;
        if (suspended_) self_.wake();
    }

    detail::sleeper<Loop> self_;
    call<Loop>* asked_ = nullptr;
    bool suspended_ = false;
};

/// A request, and room for its reply. libzookeeper holds its address from `submit` until the reply, or until the handle
/// has been closed, and it is not freed before: so its address can serve as the context of the callback.
template <loop Loop>
struct call : list_hook {
    /// What is different from one kind of request to another.
    struct kind {
        int (*submit)(call&, handle<Loop>&); ///< gives libzookeeper's code
        void (*destroy)(call*) noexcept;
    };

    call(kind const& k, call_table<Loop>& t, node_path p, std::string at) noexcept
        : its_kind{k}, table{t}, path{std::move(p)}, on_server{std::move(at)} {}

    /// By the callback, on libzookeeper's thread.
    void answer(int reply_code, bool sets_watch = false) {
        code = reply_code;
        has_set_watch = sets_watch;
        table.loop().post(note_);
    }

    kind const& its_kind;
    call_table<Loop>& table;
    node_path path;        ///< as the caller knows it
    std::string on_server; ///< the same with the name space before it
    deferred<std::optional<watch_kind>, Loop> watches;
    waiter<Loop>* awaited_by = nullptr;
    int code = 0; ///< of the reply
    bool has_set_watch = false;

private:
    /// Posted to the loop by `answer`.
    struct reply_note : work {
        explicit reply_note(call& c) noexcept : work{&act_on}, self{c} {}
        static void act_on(work& w, work_action action) {
            auto& answered = static_cast<reply_note&>(w).self;
            if (action == work_action::run) answered.table.take(answered);
        }
        call& self;
    };
    reply_note note_{*this};
};

/// `Request` knows how to submit itself, and what its reply means:
/// `int submit(handle&, call&)` and `result<answer> conclude(int code, node_path const&) &&`.
template <class Request>
struct call_of : call<typename Request::loop_type> {
    using base = call<typename Request::loop_type>;

    call_of(call_table<typename Request::loop_type>& t, node_path p, std::string at, Request r) noexcept
        : base{kind_of, t, std::move(p), std::move(at)}, request{std::move(r)} {}

    static call_of& from(void const* context) noexcept {
        return static_cast<call_of&>(*static_cast<base*>(const_cast<void*>(context)));
    }

    Request request;

private:
    static int submit(base& c, handle<typename Request::loop_type>& h) {
        return static_cast<call_of&>(c).request.submit(h, c);
    }
    static void destroy(base* c) noexcept { delete static_cast<call_of*>(c); }
    static constexpr typename base::kind kind_of{&submit, &destroy};
};

/// `co_await table.ask(...)`: gives `result<Request::answer>`.
template <class Request>
class reply : waiter<typename Request::loop_type> {
    using Loop = typename Request::loop_type;

public:
    reply(Loop& l, call_table<Loop>& t, std::unique_ptr<call_of<Request>> c, node_watch<Loop>* w) : waiter<Loop>{l, w} {
        this->wait_for(*c);
        t.start(owned_call<Loop>{c.release()});
    }

    bool await_ready() const noexcept { return this->is_finished(); }
    void await_suspend(std::coroutine_handle<> h) noexcept { this->suspend(h); }
    result<typename Request::answer> await_resume() {
        if (this->failure_) return std::move(*this->failure_);
        auto& answered = static_cast<call_of<Request>&>(*this->answered_);
        return std::move(answered.request).conclude(answered.code, answered.path);
    }
};

} // namespace elasticjob::zk
#endif // ELASTICJOB_REGISTRY_ZK_CALL_HPP
