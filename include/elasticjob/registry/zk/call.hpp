// SPDX-License-Identifier: Apache-2.0
/// \file \brief A request, from its submission to its reply, and the coroutine that waits for the reply.
#ifndef ELASTICJOB_REGISTRY_ZK_CALL_HPP
#define ELASTICJOB_REGISTRY_ZK_CALL_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_loop.hpp>
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

class handle;
class call_table;
struct call;

struct call_deleter {
    void operator()(call* c) const noexcept;
};
using owned_call = std::unique_ptr<call, call_deleter>;

/// The coroutine's side of a call. It may be destroyed at any time; the call continues without it.
class waiter {
public:
    explicit waiter(event_loop& l, node_watch<event_loop>* w) noexcept : watch{w}, loop_{l} {}
    waiter(waiter const&) = delete;
    waiter& operator=(waiter const&) = delete;
    ~waiter();

    /// The table calls this once, with the reply or the reason why there is none.
    void finish(owned_call answered);
    void finish(error why);

    node_watch<event_loop>* const watch; ///< the watch that the reply arms, or null

protected:
    /// Makes the table send the call, and waits for its reply.
    void begin(call_table& t, owned_call c);
    bool is_finished() const noexcept { return !asked_; }
    void suspend(std::coroutine_handle<> h) noexcept;

    owned_call answered_;
    std::optional<error> failure_;

private:
    void wake();

    event_loop& loop_;
    detail::sleeper self_;
    call* asked_ = nullptr;
    bool suspended_ = false;
};

/// A request, and the memory for its reply. libzookeeper holds its address, as the context of the callback, from
/// `submit` until the reply, or until the handle has been closed. The memory is not freed before.
struct call : list_hook {
    /// The functions that depend on the kind of request.
    struct kind {
        int (*submit)(call&, handle&); ///< returns libzookeeper's code
        void (*destroy)(call*) noexcept;
    };

    call(kind const& k, call_table& t, node_path p, std::string at) noexcept;

    /// The callback calls this, on libzookeeper's thread.
    void answer(int reply_code, bool sets_watch = false);

    kind const& its_kind;
    call_table& table;
    node_path path;                    ///< as the caller passed it
    std::string on_server;             ///< the same with the name space before it
    std::optional<watch_kind> watches; ///< the watch that it sets or removes
    bool removes_watch = false;
    bool has_room = false; ///< the table of watches has reserved room for it
    waiter* awaited_by = nullptr;
    int code = 0; ///< of the reply
    bool has_set_watch = false;

private:
    /// `answer` posts this to the loop.
    struct reply_note : work {
        explicit reply_note(call& c) noexcept : work{&act_on}, self{c} {}
        static void act_on(work& w, work_action action);
        call& self;
    };
    reply_note note_{*this};
};

/// A `Request` submits itself and interprets its reply: `int submit(handle&, call&)` and
/// `result<answer> conclude(int code, node_path const&) &&`.
template <class Request>
struct call_of : call {
    call_of(call_table& t, node_path p, std::string at, Request r) noexcept
        : call{kind_of, t, std::move(p), std::move(at)},
          request{std::move(r)} {}

    static call_of& from(void const* context) noexcept {
        return static_cast<call_of&>(*static_cast<call*>(const_cast<void*>(context)));
    }

    Request request;

private:
    static int submit(call& c, handle& h) { return static_cast<call_of&>(c).request.submit(h, c); }
    static void destroy(call* c) noexcept { delete static_cast<call_of*>(c); }
    static constexpr call::kind kind_of{&submit, &destroy};
};

/// `co_await table.ask(...)`: returns `result<Request::answer>`.
template <class Request>
class reply : waiter {
public:
    reply(event_loop& l, call_table& t, std::unique_ptr<call_of<Request>> c, node_watch<event_loop>* w) : waiter{l, w} {
        begin(t, owned_call{c.release()});
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

// The definitions of its members need the call_table, whose header includes them.

#endif // ELASTICJOB_REGISTRY_ZK_CALL_HPP
