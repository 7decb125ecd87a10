// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_REGISTRY_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_REGISTRY_IPP

#include <elasticjob/registry/zk_registry.hpp>

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/start_thread.hpp>
#include <elasticjob/registry/zk/session.hpp>

#include <cassert>
#include <type_traits> // is_same_v

namespace elasticjob {

namespace zk {

/// A request that is larger in the server's log than in the packet could pass, and then the server could not read its
/// log: its allowance for that is 1,024 bytes before 3.5.7.
ELASTICJOB_DECL registry_limits limits_of(session const& s) noexcept {
    constexpr std::size_t server_bytes_max = 1'048'575;
    constexpr std::size_t operations_max = 10'000;
    return {server_bytes_max, operations_max, s.its_settings().more_bytes_each()};
}

ELASTICJOB_DECL std::optional<error> refusal(session& s, node_path const& path, std::size_t data_size,
                                             session_generation g) {
    operation const o{operation::kind::create, path};
    auto const limits = limits_of(s);
    if (limits.counted(1, o.bytes() + data_size) > limits.request_bytes_max)
        return error{errc::too_large, "the data is larger than one request may be", path.str()};
    return s.refusal(g);
}

template <class Request>
task<result<typename Request::answer>> read(session& s, node_path path, node_watch<event_loop>* w) {
    if (auto e = refusal(s, path, 0, session_generation::current())) co_return *std::move(e);
    Request request;
    co_return co_await s.calls().ask(std::move(path), std::move(request), w);
}

template <class Request>
task<result<typename Request::answer>> write(session& s, node_path path, Request request, std::size_t data_size,
                                             session_generation g) {
    if (auto e = refusal(s, path, data_size, g)) co_return *std::move(e);
    co_return co_await s.calls().ask(std::move(path), std::move(request));
}

/// Accounts for the ephemeral nodes of a write until the write has ended in any way.
class ephemeral_write {
public:
    ephemeral_write(session& s, ephemeral_table::change c) : session_{s}, change_{std::move(c)} {}
    ephemeral_write(ephemeral_write const&) = delete;
    ephemeral_write& operator=(ephemeral_write const&) = delete;
    ~ephemeral_write() { session_.ephemerals().settle(change_, has_happened_, may_have_happened_); }

    template <class Reply>
    void note(result<Reply> const& reply) {
        has_happened_ = reply.has_value();
        may_have_happened_ = reply.has_value() || reply.error() == errc::unknown_outcome;
        if constexpr (std::is_same_v<Reply, commit_reply>)
            if (reply && !*reply) has_happened_ = may_have_happened_ = false;
    }

private:
    session& session_;
    ephemeral_table::change change_;
    bool has_happened_ = false;
    bool may_have_happened_ = true; ///< until the outcome is known
};

ELASTICJOB_DECL task<result<node_path>> create_on(session& s, node_path path, create_request request, std::size_t size,
                                                  session_generation g) {
    ELASTICJOB_CO_TRY(auto change, s.ephemerals().reserve_create(path, request.mode));
    ephemeral_write counted{s, std::move(change)};
    auto reply = co_await write(s, std::move(path), std::move(request), size, g);
    counted.note(reply);
    co_return reply;
}

ELASTICJOB_DECL task<result<void>> remove_on(session& s, node_path path, remove_request request, session_generation g) {
    ephemeral_write counted{s, s.ephemerals().reserve_remove(path)};
    auto reply = co_await write(s, std::move(path), std::move(request), 0, g);
    counted.note(reply);
    co_return reply;
}

ELASTICJOB_DECL task<result<commit_reply>> commit_on(session& s, transaction t) {
    if (!t.has_room(limits_of(s)))
        co_return error{errc::too_large, "the transaction is larger than one request may be: split it"};
    if (auto e = s.refusal(t.generation())) co_return *std::move(e);
    if (t.empty()) co_return commit_reply{};
    ELASTICJOB_CO_TRY(auto change, s.ephemerals().reserve(t.operations()));
    ephemeral_write counted{s, std::move(change)};
    commit_request request{std::move(t)};
    auto reply = co_await s.calls().ask(node_path{}, std::move(request));
    counted.note(reply);
    co_return reply;
}

/// The part of a registry that `remove_abandoned` needs. The handle may move meanwhile; the session stays in place.
struct removing_session {
    zk::session& s;
    event_loop& loop() noexcept { return s.loop(); }
    session_view session() const noexcept { return s.view(); }
    event_count<event_loop>& session_changed() noexcept { return s.changed(); }
    task<result<node>> get(node_path path) { return read<get_request>(s, std::move(path), nullptr); }
    task<result<std::vector<std::string>>> children(node_path path) {
        return read<children_request>(s, std::move(path), nullptr);
    }
    task<result<commit_reply>> commit(transaction t) { return commit_on(s, std::move(t)); }
    task<result<void>> remove(node_path path, node_version version, session_generation g) {
        return remove_on(s, std::move(path), remove_request{version}, g);
    }
};

ELASTICJOB_DECL task<void> remove_abandoned_on(session& s, abandoned_nodes what) {
    removing_session on{s};
    co_await remove_abandoned(on, std::move(what));
}

} // namespace zk

ELASTICJOB_DECL result<ZkRegistry> ZkRegistry::connect(zk_options options) {
    if (options.loop && options.loop->on_loop())
        return error{errc::wrong_thread, "connect waits for its loop: call it from another thread"};
    ELASTICJOB_TRY(auto settings, zk::settings::parse(std::move(options)));
    ELASTICJOB_TRY(auto registry, detail::make_with_threads([&] { return ZkRegistry{std::move(settings)}; }));
    ELASTICJOB_CHECK(block_on(registry.loop(), registry.session_->open()));
    return result<ZkRegistry>{std::move(registry)};
}

ELASTICJOB_DECL ZkRegistry::ZkRegistry(ZkRegistry&& other) noexcept = default;

ELASTICJOB_DECL ZkRegistry& ZkRegistry::operator=(ZkRegistry&& other) noexcept {
    std::swap(own_loop_, other.own_loop_);
    std::swap(session_, other.session_);
    return *this;
}

ELASTICJOB_DECL ZkRegistry::~ZkRegistry() {
    if (!session_) return;
    assert(!loop().on_loop() && "a registry closes by waiting for its loop");
    (void)block_on(loop(), session_->close());
}

ELASTICJOB_DECL task<result<node>> ZkRegistry::get(node_path path, node_watch<event_loop>* w) {
    return zk::read<zk::get_request>(*session_, std::move(path), w);
}

ELASTICJOB_DECL task<result<std::optional<node_stat>>> ZkRegistry::exists(node_path path, node_watch<event_loop>* w) {
    return zk::read<zk::exists_request>(*session_, std::move(path), w);
}

ELASTICJOB_DECL task<result<std::vector<std::string>>> ZkRegistry::children(node_path path, node_watch<event_loop>* w) {
    return zk::read<zk::children_request>(*session_, std::move(path), w);
}

ELASTICJOB_DECL task<result<node_path>> ZkRegistry::create(node_path path, std::string data, create_mode mode,
                                                           session_generation g) {
    auto const size = data.size();
    return zk::create_on(*session_, std::move(path), zk::create_request{std::move(data), mode}, size, g);
}

ELASTICJOB_DECL task<result<node_stat>> ZkRegistry::set(node_path path, std::string data, node_version version,
                                                        session_generation g) {
    auto const size = data.size();
    return zk::write(*session_, std::move(path), zk::set_request{std::move(data), version}, size, g);
}

ELASTICJOB_DECL task<result<void>> ZkRegistry::remove(node_path path, node_version version, session_generation g) {
    return zk::remove_on(*session_, std::move(path), zk::remove_request{version}, g);
}

ELASTICJOB_DECL ZkRegistry::ZkRegistry(zk::settings s) {
    if (!s.options.loop) own_loop_ = std::make_unique<event_loop>();
    event_loop& l = own_loop_ ? *own_loop_ : *s.options.loop;
    session_ = std::make_unique<zk::session>(l, std::move(s));
}

ELASTICJOB_DECL task<result<commit_reply>> ZkRegistry::commit(transaction t) {
    return zk::commit_on(*session_, std::move(t));
}

ELASTICJOB_DECL event_loop& ZkRegistry::loop() noexcept { return session_->loop(); }

ELASTICJOB_DECL session_view ZkRegistry::session() const noexcept { return session_->view(); }

ELASTICJOB_DECL event_count<event_loop>& ZkRegistry::session_changed() noexcept { return session_->changed(); }

ELASTICJOB_DECL void ZkRegistry::abandon(abandoned_nodes what) {
    session_->spawn(zk::remove_abandoned_on(*session_, std::move(what)));
}

ELASTICJOB_DECL registry_limits ZkRegistry::limits() const noexcept { return zk::limits_of(*session_); }

ELASTICJOB_DECL double ZkRegistry::budget_used() const noexcept { return session_->budget_used(); }

ELASTICJOB_DECL bool ZkRegistry::keep_room(node_path const& path) {
    return session_->watches().keep_room(session_->its_settings().on_server(path));
}

ELASTICJOB_DECL void ZkRegistry::release_room(node_path const& path) {
    session_->watches().release_room(session_->its_settings().on_server(path));
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_REGISTRY_IPP
