// SPDX-License-Identifier: Apache-2.0
/// \file \brief Worlds for the laws of registries, with the in-memory registry.
#ifndef ELASTICJOB_TEST_SUPPORT_MEMORY_WORLD_HPP
#define ELASTICJOB_TEST_SUPPORT_MEMORY_WORLD_HPP

#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>

namespace elasticjob::test {

/// The time that a law may take on each kind of loop, before it counts as endless.
inline std::chrono::milliseconds limit_of(virtual_loop const&) { return std::chrono::hours{1}; }
inline std::chrono::milliseconds limit_of(event_loop const&) { return std::chrono::seconds{20}; }

/// A server, two sessions and a loop, in this process. `Registry` is the in-memory registry or a type with its
/// interface.
template <class Registry>
class basic_memory_world {
public:
    using registry_type = Registry;
    using loop_type = typename Registry::loop_type;

    explicit basic_memory_world(memory_server_options options = {}) : server_{loop_, options} {
        first_.emplace(server_);
        second_.emplace(server_);
    }
    basic_memory_world(basic_memory_world const&) = delete;
    basic_memory_world& operator=(basic_memory_world const&) = delete;

    loop_type& loop() noexcept { return loop_; }
    basic_memory_server<loop_type>& server() noexcept { return server_; }
    Registry& registry() noexcept { return *first_; }
    Registry& second() noexcept { return *second_; }
    std::chrono::milliseconds limit() const { return limit_of(loop_); }

    task<> end_second() {
        second_.reset();
        co_return;
    }
    task<> expire(Registry& r) {
        r.expire();
        co_return;
    }
    task<> disconnect(Registry& r) {
        r.disconnect();
        co_return;
    }
    task<> reconnect(Registry& r) {
        r.reconnect();
        co_return;
    }
    void lose_next_write(request_fate fate) {
        next_ = fate;
        server_.set_filter({&decide, this});
    }

private:
    static request_fate decide(void* context, std::int64_t, operation::kind const* write) {
        auto& self = *static_cast<basic_memory_world*>(context);
        return write ? std::exchange(self.next_, request_fate::served) : request_fate::served;
    }

    loop_type loop_;
    basic_memory_server<loop_type> server_;
    request_fate next_ = request_fate::served;
    std::optional<Registry> first_, second_;
};

using MemoryWorld = basic_memory_world<basic_memory_registry<virtual_loop>>;
using ThreadedMemoryWorld = basic_memory_world<MemoryRegistry>;

/// A network that loses requests and replies, and cuts and restores the first session's connection. A seed determines
/// all of that.
template <class Registry>
class basic_faulty_world {
public:
    using registry_type = Registry;

    explicit basic_faulty_world(std::uint64_t seed) : random_{seed} {
        world_.server().set_filter({&decide, this});
        post(world_.loop(), [this] { weather_.spawn(change_weather(*this)); });
    }

    virtual_loop& loop() noexcept { return world_.loop(); }
    Registry& registry() noexcept { return world_.registry(); }
    Registry& second() noexcept { return world_.second(); }
    std::chrono::milliseconds limit() const { return std::chrono::hours{24}; }
    task<> end_second() { return world_.end_second(); }

    /// The number of faults of each kind: a test of faults proves nothing if no fault happens.
    struct counts {
        int requests_lost = 0;
        int replies_lost = 0;
        int interruptions = 0;
        int expiries = 0;
    };
    counts const& faults() const noexcept { return faults_; }

private:
    static request_fate decide(void* context, std::int64_t, operation::kind const*) {
        auto& self = *static_cast<basic_faulty_world*>(context);
        switch (self.random_() % 8) {
        case 0:
            ++self.faults_.requests_lost;
            return request_fate::request_lost;
        case 1:
            ++self.faults_.replies_lost;
            return request_fate::reply_lost;
        default:
            return request_fate::served;
        }
    }

    /// A turn of the loop takes no virtual time. So the connection breaks some turns later, between any two steps.
    static task<> change_weather(basic_faulty_world& self) {
        auto& loop = self.loop();
        for (;;) {
            for (auto turns = self.random_() % 60; turns > 0; --turns) co_await yield(loop);
            auto& r = self.registry();
            if (self.random_() % 4 == 0) {
                ++self.faults_.expiries;
                r.expire();
            } else {
                ++self.faults_.interruptions;
                r.disconnect();
                for (auto turns = self.random_() % 6; turns > 0; --turns) co_await yield(loop);
                // Sometimes longer than the session's time-out.
                auto const seconds = std::chrono::seconds{self.random_() % 14};
                if (self.random_() % 2 == 0) co_await sleep_until(loop, loop.now() + seconds);
                r.reconnect();
            }
        }
    }

    basic_memory_world<Registry> world_;
    std::mt19937_64 random_;
    counts faults_;
    task_scope weather_; ///< destroyed first
};

using FaultyWorld = basic_faulty_world<basic_memory_registry<virtual_loop>>;

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_MEMORY_WORLD_HPP
