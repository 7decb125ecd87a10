// SPDX-License-Identifier: Apache-2.0
/// \file \brief A reference to a registry of any type, so that the code above it is compiled once for all of them.
#ifndef ELASTICJOB_REGISTRY_REGISTRY_REF_HPP
#define ELASTICJOB_REGISTRY_REGISTRY_REF_HPP

#include <elasticjob/registry/registry.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {
/// A registry with the loop of the reference, and no such reference itself.
template <class R, class Reference>
concept referred_by = !std::same_as<std::remove_cv_t<R>, Reference> && registry<R> &&
                      std::same_as<typename R::loop_type, typename Reference::loop_type>;
} // namespace detail

/// Passes everything on to a registry with this loop, and is a registry itself. For code whose time is spent in
/// requests and not in calls, such as the console. Costs: an object pointer and a pointer to the functions of that
/// type, and one indirect call for each operation; no coroutine and no allocation of its own. Copies refer to the same
/// registry, which must outlive them and must not be moved meanwhile. A function that takes a `Registry&` needs this
/// object until its task has ended, as it needs any registry. Threads: as for that registry.
template <loop Loop>
class registry_ref {
public:
    using loop_type = Loop;

    template <detail::referred_by<registry_ref> Registry>
    registry_ref(Registry& r) noexcept : registry_{&r},
                                         calls_{&calls_of<Registry>} {}

    Loop& loop() const { return calls_->loop(registry_); }
    session_view session() const { return calls_->session(registry_); }
    event_count<Loop>& session_changed() const { return calls_->session_changed(registry_); }
    registry_limits limits() const { return calls_->limits(registry_); }
    void abandon(abandoned_nodes what) const { calls_->abandon(registry_, std::move(what)); }

    task<result<node>> get(node_path path, node_watch<Loop>* w = nullptr) const {
        return calls_->get(registry_, std::move(path), w);
    }
    task<result<std::optional<node_stat>>> exists(node_path path, node_watch<Loop>* w = nullptr) const {
        return calls_->exists(registry_, std::move(path), w);
    }
    task<result<std::vector<std::string>>> children(node_path path, node_watch<Loop>* w = nullptr) const {
        return calls_->children(registry_, std::move(path), w);
    }
    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current()) const {
        return calls_->create(registry_, std::move(path), std::move(data), mode, g);
    }
    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current()) const {
        return calls_->set(registry_, std::move(path), std::move(data), version, g);
    }
    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current()) const {
        return calls_->remove(registry_, std::move(path), version, g);
    }
    task<result<commit_reply>> commit(transaction t) const { return calls_->commit(registry_, std::move(t)); }

private:
    using watch = node_watch<Loop>;

    struct calls {
        Loop& (*loop)(void*);
        session_view (*session)(void*);
        event_count<Loop>& (*session_changed)(void*);
        registry_limits (*limits)(void*);
        void (*abandon)(void*, abandoned_nodes);
        task<result<node>> (*get)(void*, node_path, watch*);
        task<result<std::optional<node_stat>>> (*exists)(void*, node_path, watch*);
        task<result<std::vector<std::string>>> (*children)(void*, node_path, watch*);
        task<result<node_path>> (*create)(void*, node_path, std::string, create_mode, session_generation);
        task<result<node_stat>> (*set)(void*, node_path, std::string, node_version, session_generation);
        task<result<void>> (*remove)(void*, node_path, node_version, session_generation);
        task<result<commit_reply>> (*commit)(void*, transaction);
    };

    template <class R>
    static R& as(void* r) noexcept {
        return *static_cast<R*>(r);
    }

    template <class R>
    static constexpr calls calls_of{
        [](void* r) -> Loop& { return as<R>(r).loop(); },
        [](void* r) { return as<R>(r).session(); },
        [](void* r) -> event_count<Loop>& { return as<R>(r).session_changed(); },
        [](void* r) { return as<R>(r).limits(); },
        [](void* r, abandoned_nodes what) { as<R>(r).abandon(std::move(what)); },
        [](void* r, node_path path, watch* w) { return as<R>(r).get(std::move(path), w); },
        [](void* r, node_path path, watch* w) { return as<R>(r).exists(std::move(path), w); },
        [](void* r, node_path path, watch* w) { return as<R>(r).children(std::move(path), w); },
        [](void* r, node_path path, std::string data, create_mode mode, session_generation g) {
            return as<R>(r).create(std::move(path), std::move(data), mode, g);
        },
        [](void* r, node_path path, std::string data, node_version version, session_generation g) {
            return as<R>(r).set(std::move(path), std::move(data), version, g);
        },
        [](void* r, node_path path, node_version version, session_generation g) {
            return as<R>(r).remove(std::move(path), version, g);
        },
        [](void* r, transaction t) { return as<R>(r).commit(std::move(t)); },
    };

    void* registry_;
    calls const* calls_;
};

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_REGISTRY_REF_HPP
