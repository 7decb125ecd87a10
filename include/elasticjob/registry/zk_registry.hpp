// SPDX-License-Identifier: Apache-2.0
/// \file \brief `ZkRegistry`: the registry on a ZooKeeper ensemble.
#ifndef ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP
#define ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/zk/session.hpp>

#include <cassert>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// A session with a ZooKeeper ensemble, by libzookeeper.
/// `auto registry = ZkRegistry::connect({.servers = "zk1:2181,zk2:2181", .name_space = "billing"});`
///
/// An interrupted connection comes back by itself, with the same session if it is still alive. When the session is
/// lost, the generation changes, every armed watch fires, every operation under way ends, and a new session is opened,
/// for ever until the registry is closed. A server that says nothing for the whole session time-out counts as lost.
/// An idle registry sends nothing but libzookeeper's pings, one in a third of the session time-out.
///
/// The object is a handle: it may be moved while operations run. Its destructor ends the session, so that ephemeral
/// nodes go at once, and every operation with `closed`; whoever waits for them is resumed before it returns, and must
/// not use the registry afterwards. It takes milliseconds, or seconds when the server does not answer.
/// Threads: `connect` and the destructor on any but the loop's; the rest as the concept says.
/// A template, though there is one loop for it, so that a file that opens no registry does not compile this.
template <std::same_as<event_loop> Loop>
class basic_zk_registry {
public:
    using loop_type = Loop;

    /// Waits for the first connection, at most `connection_timeout` (and for a name server that is silent).
    /// Errors: invalid_argument (and which field), unreachable, no_auth (the digest is refused, or the name space
    /// cannot be made because its parent belongs to another user), wrong_thread.
    static result<basic_zk_registry> connect(zk_options options) {
        if (options.loop && options.loop->on_loop())
            return error{errc::wrong_thread, "connect waits for its loop: call it from another thread"};
        ELASTICJOB_TRY(auto settings, zk::settings<Loop>::parse(std::move(options)));
        basic_zk_registry registry{std::move(settings)};
        ELASTICJOB_CHECK(block_on(registry.loop(), registry.session_->open()));
        return result<basic_zk_registry>{std::move(registry)};
    }

    basic_zk_registry(basic_zk_registry&&) noexcept = default;
    basic_zk_registry& operator=(basic_zk_registry&& other) noexcept {
        std::swap(own_loop_, other.own_loop_);
        std::swap(session_, other.session_);
        return *this;
    }
    ~basic_zk_registry() {
        if (!session_) return;
        assert(!loop().on_loop() && "a registry closes by waiting for its loop");
        (void)block_on(loop(), session_->close());
    }

    Loop& loop() noexcept { return session_->loop(); }
    session_view session() const noexcept { return session_->view(); }
    event_count<Loop>& session_changed() noexcept { return session_->changed(); }
    registry_limits limits() const noexcept { return limits_of(*session_); }

    task<result<node>> get(node_path path, node_watch<Loop>* w = nullptr) {
        return read<zk::get_request<Loop>>(*session_, std::move(path), w);
    }
    task<result<std::optional<node_stat>>> exists(node_path path, node_watch<Loop>* w = nullptr) {
        return read<zk::exists_request<Loop>>(*session_, std::move(path), w);
    }
    task<result<std::vector<std::string>>> children(node_path path, node_watch<Loop>* w = nullptr) {
        return read<zk::children_request<Loop>>(*session_, std::move(path), w);
    }

    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current()) {
        auto const size = data.size();
        return write(*session_, std::move(path), zk::create_request<Loop>{std::move(data), mode}, size, g);
    }
    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current()) {
        auto const size = data.size();
        return write(*session_, std::move(path), zk::set_request<Loop>{std::move(data), version}, size, g);
    }
    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current()) {
        return write(*session_, std::move(path), zk::remove_request<Loop>{version}, 0, g);
    }

    /// `commit_reply::at` is the revision of the transaction if it contains a `set`.
    task<result<commit_reply>> commit(deferred<transaction, Loop> t) { return commit_on(*session_, std::move(t)); }

private:
    explicit basic_zk_registry(zk::settings<Loop> s) {
        if (!s.options.loop) own_loop_ = std::make_unique<Loop>();
        Loop& l = own_loop_ ? *own_loop_ : *s.options.loop;
        session_ = std::make_unique<zk::session<Loop>>(l, std::move(s));
    }

    // Coroutines keep the session, whose address is stable, and not the handle.

    template <class Request>
    static task<result<typename Request::answer>> read(zk::session<Loop>& s, node_path path, node_watch<Loop>* w) {
        if (auto e = refusal(s, path, 0, session_generation::current())) co_return *std::move(e);
        Request request;
        co_return co_await s.calls().ask(std::move(path), std::move(request), w);
    }

    template <class Request>
    static task<result<typename Request::answer>> write(zk::session<Loop>& s, node_path path, Request request,
                                                        std::size_t data_size, session_generation g) {
        if (auto e = refusal(s, path, data_size, g)) co_return *std::move(e);
        co_return co_await s.calls().ask(std::move(path), std::move(request));
    }

    static task<result<commit_reply>> commit_on(zk::session<Loop>& s, deferred<transaction, Loop> t) {
        if (!t.has_room(limits_of(s)))
            co_return error{errc::too_large, "the transaction is larger than one request may be: split it"};
        if (auto e = s.refusal(t.generation())) co_return *std::move(e);
        if (t.empty()) co_return deferred<commit_reply, Loop>{};
        zk::commit_request<Loop> request{std::move(t)};
        co_return co_await s.calls().ask(node_path{}, std::move(request));
    }

    static deferred<std::optional<error>, Loop> refusal(zk::session<Loop>& s, node_path const& path,
                                                        std::size_t data_size, session_generation g) {
        operation const o{operation::kind::create, path};
        if (o.bytes() + data_size > limits_of(s).request_bytes_max)
            return error{errc::too_large, "the data is larger than one request may be", path.str()};
        return s.refusal(g);
    }

    /// What the server takes, less what the name space will need in front of each path.
    static registry_limits limits_of(zk::session<Loop> const& s) noexcept {
        constexpr std::size_t server_bytes_max = 1'048'575;
        constexpr std::size_t operations_max = 10'000;
        auto const prefix = s.its_settings().prefix.size();
        auto const count = prefix == 0 ? operations_max : std::min(operations_max, server_bytes_max / 4 / prefix);
        return {.request_bytes_max = server_bytes_max - count * prefix, .operations_max = count};
    }

    std::unique_ptr<Loop> own_loop_;
    std::unique_ptr<zk::session<Loop>> session_;
};

using ZkRegistry = basic_zk_registry<event_loop>;

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP
