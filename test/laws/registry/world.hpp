// SPDX-License-Identifier: Apache-2.0
/// \file \brief The worlds in which the laws of registries are tested, and the form in which the laws see them.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_WORLD_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_WORLD_HPP

#include <laws/registry/report.hpp>

#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/memory/memory_server.hpp> // request_fate
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/registry_ref.hpp>

#include <chrono>
#include <concepts>

namespace laws {

using namespace elasticjob;

/// A registry with an empty tree of its own, and the faults that a test can cause in it. Each law runs in a new world.
///
/// | expression             | gives                | must hold                                                       |
/// |------------------------|----------------------|-----------------------------------------------------------------|
/// | `World::registry_type` | a registry           | |
/// | `w.registry()`         | one session          | connected when the world is new                                 |
/// | `w.second()`           | another              | on the same loop and tree; connected when the world is new      |
/// | `w.end_second()`       | `task<>`             | closes the second session in order; it is not used any more     |
/// | `w.limit()`            | milliseconds         | what a law may take, by the loop's clock                        |
/// | `w.expire(r)`          | `task<>`, optional   | ends the session of `r`, which opens another                    |
/// | `w.disconnect(r)`      | `task<>`, optional   | breaks the connection of `r` until `reconnect(r)`               |
/// | `w.lose_next_write(f)` | nothing, optional    | the next write, of any session, meets that fate                 |
///
/// In the optional ones, `r` is `w.registry()`.
///
/// Models: MemoryWorld, ThreadedMemoryWorld, FaultyWorld (test/support/memory_world.hpp), ZkWorld
/// (test/support/zk_world.hpp). Threads: made and destroyed off the loop; the rest on it.
template <class W>
concept registry_world = registry<typename W::registry_type> && requires(W& w) {
    { w.registry() } -> std::same_as<typename W::registry_type&>;
    { w.second() } -> std::same_as<typename W::registry_type&>;
    { w.end_second() } -> std::same_as<task<>>;
    { w.limit() } -> std::same_as<std::chrono::milliseconds>;
};

template <class W>
concept world_that_expires = registry_world<W> && requires(W& w) {
    { w.expire(w.registry()) } -> std::same_as<task<>>;
};

template <class W>
concept world_that_disconnects = registry_world<W> && requires(W& w) {
    { w.disconnect(w.registry()) } -> std::same_as<task<>>;
    { w.reconnect(w.registry()) } -> std::same_as<task<>>;
};

template <class W>
concept world_that_loses = registry_world<W> && requires(W& w) {
    w.lose_next_write(request_fate::reply_lost);
};

/// A reference to a world. The laws are coroutines that take long to compile, so they are compiled for each type of
/// loop, and not for each type of world. The world must outlive it. A fault that the world cannot cause must not be
/// asked for.
template <loop Loop>
class world_ref {
public:
    using registry_type = registry_ref<Loop>;

    template <registry_world World>
    explicit world_ref(World& w) : first_{w.registry()}, second_{w.second()}, world_{&w}, calls_{&calls_of<World>} {}
    world_ref(world_ref const&) = delete;
    world_ref& operator=(world_ref const&) = delete;

    registry_type& registry() noexcept { return first_; }
    registry_type& second() noexcept { return second_; }
    task<> end_second() { return calls_->end_second(world_); }
    task<> expire() { return calls_->expire(world_); }
    task<> disconnect() { return calls_->disconnect(world_); }
    task<> reconnect() { return calls_->reconnect(world_); }
    void lose_next_write(request_fate fate) { calls_->lose_next_write(world_, fate); }

private:
    struct calls {
        task<> (*end_second)(void*);
        task<> (*expire)(void*) = nullptr;
        task<> (*disconnect)(void*) = nullptr;
        task<> (*reconnect)(void*) = nullptr;
        void (*lose_next_write)(void*, request_fate) = nullptr;
    };

    template <class World>
    static World& as(void* w) noexcept {
        return *static_cast<World*>(w);
    }

    template <class World>
    static constexpr calls calls_of = [] {
        calls c{[](void* w) { return as<World>(w).end_second(); }};
        if constexpr (world_that_expires<World>)
            c.expire = [](void* w) { return as<World>(w).expire(as<World>(w).registry()); };
        if constexpr (world_that_disconnects<World>) {
            c.disconnect = [](void* w) { return as<World>(w).disconnect(as<World>(w).registry()); };
            c.reconnect = [](void* w) { return as<World>(w).reconnect(as<World>(w).registry()); };
        }
        if constexpr (world_that_loses<World>)
            c.lose_next_write = [](void* w, request_fate fate) { as<World>(w).lose_next_write(fate); };
        return c;
    }();

    registry_type first_, second_;
    void* world_;
    calls const* calls_;
};

template <registry_world World>
world_ref(World&) -> world_ref<typename World::registry_type::loop_type>;

/// Runs a law, or what `law(world_ref)` returns, in a world, within the world's limit.
template <registry_world World, class Law>
law_report check_in(World& world, Law const& law) {
    world_ref w{world};
    return run_within(world.registry().loop(), law(w), world.limit());
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_REGISTRY_WORLD_HPP
