// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_CALL_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_CALL_IPP

#include <elasticjob/registry/zk/call.hpp>
#include <elasticjob/registry/zk/call_table.hpp>

namespace elasticjob::zk {

ELASTICJOB_DECL void call_deleter::operator()(call* c) const noexcept { c->its_kind.destroy(c); }

ELASTICJOB_DECL waiter::~waiter() {
    if (asked_) asked_->awaited_by = nullptr;
}

ELASTICJOB_DECL void waiter::begin(call_table& t, owned_call c) {
    asked_ = c.get();
    c->awaited_by = this;
    t.start(std::move(c));
}

ELASTICJOB_DECL void waiter::finish(owned_call answered) {
    answered_ = std::move(answered);
    wake();
}

ELASTICJOB_DECL void waiter::finish(error why) {
    failure_.emplace(std::move(why));
    wake();
}

ELASTICJOB_DECL void waiter::suspend(std::coroutine_handle<> h) noexcept {
    self_.suspend(h);
    suspended_ = true;
}

ELASTICJOB_DECL void waiter::wake() {
    asked_ = nullptr;
    if (suspended_) loop_.post(self_);
}

ELASTICJOB_DECL call::call(kind const& k, call_table& t, node_path p, std::string at) noexcept
    : its_kind{k},
      table{t},
      path{std::move(p)},
      on_server{std::move(at)} {}

ELASTICJOB_DECL void call::answer(int reply_code, bool sets_watch) {
    code = reply_code;
    has_set_watch = sets_watch;
    table.loop().post(note_);
}

ELASTICJOB_DECL void call::reply_note::act_on(work& w, work_action action) {
    auto& answered = static_cast<reply_note&>(w).self;
    if (action == work_action::run) answered.table.take(answered);
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_CALL_IPP
