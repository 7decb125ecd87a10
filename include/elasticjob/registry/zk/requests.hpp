// SPDX-License-Identifier: Apache-2.0
/// \file \brief The requests that ZooKeeper knows: what each sends, and what its reply means.
#ifndef ELASTICJOB_REGISTRY_ZK_REQUESTS_HPP
#define ELASTICJOB_REGISTRY_ZK_REQUESTS_HPP

#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/registry/zk/call.hpp>
#include <elasticjob/registry/zk/handle.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::zk {

// Their callbacks run on libzookeeper's thread. They copy what libzookeeper lends them, and pass the call on.

// The loop, and even the type of the answer, are parameters so that nothing is compiled in a file that opens no registry.

/// A request that may set a watch.
template <loop Loop, watch_kind Kind>
struct read_request {
    using loop_type = Loop;
    static constexpr watch_kind watches = Kind;
    static watcher_fn watcher(handle<Loop> const& h, call<Loop> const& c) noexcept {
        return c.watches ? h.watcher(Kind) : nullptr;
    }
};

template <loop Loop, class Answer = node>
struct get_request : read_request<Loop, watch_kind::data> {
    using answer = Answer;

    int submit(handle<Loop>& h, call<Loop>& c) const {
        return zoo_awget(h.raw(), c.on_server.c_str(), this->watcher(h, c), h.sink(), &on_reply, &c);
    }
    result<Answer> conclude(int code, node_path const& path) && {
        if (code != ZOK) return failure(code, path);
        return std::move(found);
    }

    Answer found{};

private:
    static void on_reply(int code, char const* data, int size, Stat const* stat, void const* context) noexcept {
        auto& c = call_of<get_request>::from(context);
        if (code == ZOK) {
            if (size > 0) c.request.found.data.assign(data, static_cast<std::size_t>(size));
            c.request.found.stat = stat_of(*stat);
        }
        c.answer(code, code == ZOK);
    }
};

template <loop Loop, class Answer = std::optional<node_stat>>
struct exists_request : read_request<Loop, watch_kind::data> {
    using answer = Answer;

    int submit(handle<Loop>& h, call<Loop>& c) const {
        return zoo_awexists(h.raw(), c.on_server.c_str(), this->watcher(h, c), h.sink(), &on_reply, &c);
    }
    result<Answer> conclude(int code, node_path const& path) && {
        if (code != ZOK && code != ZNONODE) return failure(code, path);
        return found;
    }

    Answer found{};

private:
    static void on_reply(int code, Stat const* stat, void const* context) noexcept {
        auto& c = call_of<exists_request>::from(context);
        if (code == ZOK) c.request.found = stat_of(*stat);
        c.answer(code, code == ZOK || code == ZNONODE);
    }
};

template <loop Loop, class Answer = std::vector<std::string>>
struct children_request : read_request<Loop, watch_kind::children> {
    using answer = Answer;

    int submit(handle<Loop>& h, call<Loop>& c) const {
        return zoo_awget_children(h.raw(), c.on_server.c_str(), this->watcher(h, c), h.sink(), &on_reply, &c);
    }
    result<Answer> conclude(int code, node_path const& path) && {
        if (code != ZOK) return failure(code, path);
        return std::move(names);
    }

    Answer names{};

private:
    static void on_reply(int code, String_vector const* found, void const* context) noexcept {
        auto& c = call_of<children_request>::from(context);
        if (code == ZOK) c.request.names.assign(found->data, found->data + found->count);
        c.answer(code, code == ZOK);
    }
};

template <loop Loop, class Answer = node_path>
struct create_request {
    using loop_type = Loop;
    using answer = Answer;

    int submit(handle<Loop>& h, call<Loop>& c) const {
        return zoo_acreate(h.raw(), c.on_server.c_str(), data.data(), static_cast<int>(data.size()), h.access(),
                           flags_of(mode), &on_reply, &c);
    }
    result<Answer> conclude(int code, node_path const& path) && {
        if (code != ZOK) return failure(code, path);
        if (!is_sequential(mode)) return path;
        // Only the last element can be new to us.
        auto const name = std::string_view{created}.substr(created.rfind('/') + 1);
        return path.parent() / name;
    }

    std::string data;
    create_mode mode;
    std::string created{}; ///< on the server

private:
    static void on_reply(int code, char const* path, void const* context) noexcept {
        auto& c = call_of<create_request>::from(context);
        if (code == ZOK) c.request.created = path;
        c.answer(code);
    }
};

template <loop Loop, class Answer = node_stat>
struct set_request {
    using loop_type = Loop;
    using answer = Answer;

    int submit(handle<Loop>& h, call<Loop>& c) const {
        return zoo_aset(h.raw(), c.on_server.c_str(), data.data(), static_cast<int>(data.size()), version, &on_reply,
                        &c);
    }
    result<Answer> conclude(int code, node_path const& path) && {
        if (code != ZOK) return failure(code, path);
        return after;
    }

    std::string data;
    node_version version;
    Answer after{};

private:
    static void on_reply(int code, Stat const* stat, void const* context) noexcept {
        auto& c = call_of<set_request>::from(context);
        if (code == ZOK) c.request.after = stat_of(*stat);
        c.answer(code);
    }
};

template <loop Loop, class Answer = void>
struct remove_request {
    using loop_type = Loop;
    using answer = Answer;

    int submit(handle<Loop>& h, call<Loop>& c) const {
        return zoo_adelete(h.raw(), c.on_server.c_str(), version, &on_reply, &c);
    }
    result<Answer> conclude(int code, node_path const& path) && {
        if (code != ZOK) return failure(code, path);
        return success();
    }

    node_version version;

private:
    static void on_reply(int code, void const* context) noexcept {
        call_of<remove_request>::from(context).answer(code);
    }
};

/// libzookeeper writes into `results` and `written` until the reply; they must not move after `submit`.
template <loop Loop, class Answer = commit_reply>
struct commit_request {
    using loop_type = Loop;
    using answer = Answer;

    explicit commit_request(deferred<transaction, Loop> t) noexcept : batch{std::move(t)} {}

    /// Precondition: a `reconnect_gate::pass` in hand, or libzookeeper may free memory twice.
    int submit(handle<Loop>& h, call<Loop>& c) {
        auto const& operations = batch.operations();
        deferred<std::vector<std::string>, Loop> paths;
        paths.reserve(operations.size());
        deferred<std::vector<zoo_op_t>, Loop> ops(operations.size());
        results.resize(operations.size());
        Stat* stat = &written; // one is enough: all operations of a transaction have one revision
        for (std::size_t i = 0; i < operations.size(); ++i) {
            paths.push_back(h.on_server(operations[i].path));
            describe(operations[i], paths.back().c_str(), h.access(), stat, ops[i]);
            if (operations[i].what == operation::kind::set) stat = nullptr;
        }
        return zoo_amulti(h.raw(), static_cast<int>(ops.size()), ops.data(), results.data(), &on_reply, &c);
    }

    result<Answer> conclude(int code, node_path const& path) && {
        Answer reply;
        if (code == ZOK) {
            reply.at = written.mzxid;
            return reply;
        }
        std::size_t failed = 0;
        while (failed < results.size() && results[failed].err != code) ++failed;
        if (failed == results.size()) return failure(code, path);
        if (!is_refusal(code)) return failure(code, batch.operations()[failed].path);
        reply.refused = typename Answer::refusal{failed, failure(code, path).code};
        return reply;
    }

private:
    static void describe(operation const& o, char const* path, ACL_vector const* access, Stat* stat, zoo_op_t& op) {
        auto const size = static_cast<int>(o.data.size());
        switch (o.what) {
        case operation::kind::check:
            return zoo_check_op_init(&op, path, o.version);
        case operation::kind::create:
            return zoo_create_op_init(&op, path, o.data.data(), size, access, flags_of(o.mode), nullptr, 0);
        case operation::kind::set:
            return zoo_set_op_init(&op, path, o.data.data(), size, o.version, stat);
        case operation::kind::remove:
            return zoo_delete_op_init(&op, path, o.version);
        }
    }

    static void on_reply(int code, void const* context) noexcept {
        call_of<commit_request>::from(context).answer(code);
    }

    deferred<transaction, Loop> batch;
    deferred<std::vector<zoo_op_result_t>, Loop> results{};
    Stat written{};
};

} // namespace elasticjob::zk
#endif // ELASTICJOB_REGISTRY_ZK_REQUESTS_HPP
