// SPDX-License-Identifier: Apache-2.0
/// \file \brief Combines several sinks into one.
#ifndef ELASTICJOB_EVENTS_SINKS_HPP
#define ELASTICJOB_EVENTS_SINKS_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/event_sink.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace elasticjob {

/// Passes every event to each sink, in the order of the arguments. Exceptions of a sink are caught and counted; only
/// that sink loses the event. A sink that blocks makes the others and the loop wait: put it into a Queued.
template <event_sink... S>
class Sinks {
public:
    /// The number of events at which each sink has thrown. Threads: any.
    using account = std::array<std::atomic<std::uint64_t>, sizeof...(S)>;

    explicit Sinks(S... sinks) : sinks_{std::move(sinks)...}, thrown_{std::make_shared<account>()} {}

    template <class E>
    void operator()(E const& e) {
        tell(e, std::index_sequence_for<S...>{});
    }

    /// Stays valid and current when this object is moved into a scheduler.
    std::shared_ptr<account const> thrown() const { return thrown_; }

private:
    template <class E, std::size_t... N>
    void tell(E const& e, std::index_sequence<N...>) {
        (tell_one<N>(e), ...);
    }
    template <std::size_t N, class E>
    void tell_one(E const& e) {
        if constexpr (std::invocable<decltype(std::get<N>(sinks_)), E const&>) {
            auto const told = detail::guarded_call([&] { std::get<N>(sinks_)(e); });
            if (!told) (*thrown_)[N].fetch_add(1, std::memory_order_relaxed);
        }
    }

    std::tuple<S...> sinks_;
    std::shared_ptr<account> thrown_;
};

static_assert(event_sink<Sinks<NoEvents, NoEvents>> && event_sink<Sinks<>>);

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_SINKS_HPP
