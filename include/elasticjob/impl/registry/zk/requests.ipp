// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_REQUESTS_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_REQUESTS_IPP

#include <elasticjob/registry/zk/requests.hpp>

namespace elasticjob::zk {

ELASTICJOB_DECL int get_request::submit(handle& h, call& c) const {
    return zoo_awget(h.raw(), c.on_server.c_str(), this->watcher(h, c), h.sink(), &on_reply, &c);
}

ELASTICJOB_DECL result<node> get_request::conclude(int code, node_path const& path) && {
    if (code != ZOK) return failure(code, path);
    return std::move(found);
}

ELASTICJOB_DECL void get_request::on_reply(int code, char const* data, int size, Stat const* stat,
                                           void const* context) noexcept {
    auto& c = call_of<get_request>::from(context);
    if (code == ZOK) {
        if (size > 0) c.request.found.data.assign(data, static_cast<std::size_t>(size));
        c.request.found.stat = stat_of(*stat);
    }
    c.answer(code, code == ZOK);
}

ELASTICJOB_DECL int exists_request::submit(handle& h, call& c) const {
    return zoo_awexists(h.raw(), c.on_server.c_str(), this->watcher(h, c), h.sink(), &on_reply, &c);
}

ELASTICJOB_DECL result<std::optional<node_stat>> exists_request::conclude(int code, node_path const& path) && {
    if (code != ZOK && code != ZNONODE) return failure(code, path);
    return found;
}

ELASTICJOB_DECL void exists_request::on_reply(int code, Stat const* stat, void const* context) noexcept {
    auto& c = call_of<exists_request>::from(context);
    if (code == ZOK) c.request.found = stat_of(*stat);
    c.answer(code, code == ZOK || code == ZNONODE);
}

ELASTICJOB_DECL int children_request::submit(handle& h, call& c) const {
    return zoo_awget_children(h.raw(), c.on_server.c_str(), this->watcher(h, c), h.sink(), &on_reply, &c);
}

ELASTICJOB_DECL result<std::vector<std::string>> children_request::conclude(int code, node_path const& path) && {
    if (code != ZOK) return failure(code, path);
    return std::move(names);
}

ELASTICJOB_DECL void children_request::on_reply(int code, String_vector const* found, void const* context) noexcept {
    auto& c = call_of<children_request>::from(context);
    auto& names = c.request.names;
    if (code == ZOK) names.assign(found->data, found->data + found->count);
    if (c.on_server == "/") std::erase(names, "zookeeper"); // the server's own; an ensemble's looks like a job
    c.answer(code, code == ZOK);
}

ELASTICJOB_DECL int create_request::submit(handle& h, call& c) const {
    return zoo_acreate(h.raw(), c.on_server.c_str(), data.data(), static_cast<int>(data.size()), h.access(),
                       flags_of(mode), &on_reply, &c);
}

ELASTICJOB_DECL result<node_path> create_request::conclude(int code, node_path const& path) && {
    if (code != ZOK) return failure(code, path);
    if (!is_sequential(mode)) return path;
    // Only the last element is unknown.
    auto const name = std::string_view{created}.substr(created.rfind('/') + 1);
    return path.parent() / name;
}

ELASTICJOB_DECL void create_request::on_reply(int code, char const* path, void const* context) noexcept {
    auto& c = call_of<create_request>::from(context);
    if (code == ZOK) c.request.created = path;
    c.answer(code);
}

ELASTICJOB_DECL int set_request::submit(handle& h, call& c) const {
    return zoo_aset(h.raw(), c.on_server.c_str(), data.data(), static_cast<int>(data.size()), version, &on_reply, &c);
}

ELASTICJOB_DECL result<node_stat> set_request::conclude(int code, node_path const& path) && {
    if (code != ZOK) return failure(code, path);
    return after;
}

ELASTICJOB_DECL void set_request::on_reply(int code, Stat const* stat, void const* context) noexcept {
    auto& c = call_of<set_request>::from(context);
    if (code == ZOK) c.request.after = stat_of(*stat);
    c.answer(code);
}

ELASTICJOB_DECL int remove_request::submit(handle& h, call& c) const {
    return zoo_adelete(h.raw(), c.on_server.c_str(), version, &on_reply, &c);
}

ELASTICJOB_DECL result<void> remove_request::conclude(int code, node_path const& path) && {
    if (code != ZOK) return failure(code, path);
    return success();
}

ELASTICJOB_DECL void remove_request::on_reply(int code, void const* context) noexcept {
    call_of<remove_request>::from(context).answer(code);
}

ELASTICJOB_DECL int remove_watch_request::submit(handle& h, call& c) const {
    // Not zoo_aremove_watches, which only makes the server check that the watch exists and leaves it in place.
    auto const type = kind == watch_kind::data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
    // By mistake its parameter is a pointer to a callback: libzookeeper calls the pointer that it receives.
    auto* const callback = reinterpret_cast<void_completion_t*>(&on_reply);
    return zoo_aremove_all_watches(h.raw(), c.on_server.c_str(), type, 0, callback, &c);
}

ELASTICJOB_DECL result<void> remove_watch_request::conclude(int code, node_path const& path) && {
    if (code != ZOK && code != ZNOWATCHER) return failure(code, path); // it may have fired meanwhile
    return success();
}

ELASTICJOB_DECL void remove_watch_request::on_reply(int code, void const* context) noexcept {
    call_of<remove_watch_request>::from(context).answer(code);
}

ELASTICJOB_DECL int commit_request::submit(handle& h, call& c) {
    auto const& operations = batch.operations();
    std::vector<std::string> paths;
    paths.reserve(operations.size());
    std::vector<zoo_op_t> ops(operations.size());
    results.resize(operations.size());
    Stat* stat = &written; // a single one is enough: all operations of a transaction have the same revision
    for (std::size_t i = 0; i < operations.size(); ++i) {
        paths.push_back(h.on_server(operations[i].path));
        describe(operations[i], paths.back().c_str(), h.access(), stat, ops[i]);
        if (operations[i].what == operation::kind::set) stat = nullptr;
    }
    return zoo_amulti(h.raw(), static_cast<int>(ops.size()), ops.data(), results.data(), &on_reply, &c);
}

ELASTICJOB_DECL result<commit_reply> commit_request::conclude(int code, node_path const& path) && {
    commit_reply reply;
    if (code == ZOK) {
        reply.at = written.mzxid;
        return reply;
    }
    std::size_t failed = 0;
    while (failed < results.size() && results[failed].err != code) ++failed;
    if (failed == results.size()) return failure(code, path);
    if (!is_refusal(code)) return failure(code, batch.operations()[failed].path);
    reply.refused = commit_reply::refusal{failed, failure(code, path).code};
    return reply;
}

ELASTICJOB_DECL void commit_request::describe(operation const& o, char const* path, ACL_vector const* access,
                                              Stat* stat, zoo_op_t& op) {
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

ELASTICJOB_DECL void commit_request::on_reply(int code, void const* context) noexcept {
    call_of<commit_request>::from(context).answer(code);
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_REQUESTS_IPP
