// SPDX-License-Identifier: Apache-2.0
/// \file \brief A sink on a thread of its own, so that it may be slow.
#ifndef ELASTICJOB_EVENTS_QUEUED_HPP
#define ELASTICJOB_EVENTS_QUEUED_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/events/queue_thread.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

namespace elasticjob {

namespace detail {

template <class Sink>
struct sink_worker {
    Sink sink;

    template <class Queue>
    void work(events::event_ring const& batch, Queue& queue) {
        for (std::size_t n = 0; n < batch.size(); ++n) {
            if (queue.is_abandoned()) {
                queue.account().dropped += batch.size() - n;
                return;
            }
            auto const told = guarded_call([&] {
                batch[n].tell([&](auto const& e) {
                    if constexpr (std::invocable<Sink&, decltype(e)>) sink(e);
                });
            });
            ++(told ? queue.account().done : queue.account().failed);
        }
        if constexpr (requires { sink.flush(); }) (void)guarded_call([&] { sink.flush(); });
    }
    static mono_time next_look() noexcept { return mono_time::max(); }
};

} // namespace detail

/// Calls `Sink` on a thread of its own, in the order of the events. The loop only copies an event into a bounded queue,
/// so it never waits for the sink. If the queue is full, its oldest event is dropped and counted. Exceptions of the
/// sink are caught and counted. If the sink has a `flush()`, it is called after each batch.
///
/// The destructor waits for an empty queue, for at most `drain_timeout`; it drops and counts the rest. If the sink
/// still has not returned, the destructor leaves it on its thread, so everything that it refers to must live as long as
/// the process. Movable. Threads: events on the loop; `account` on any.
template <event_sink Sink>
class Queued {
public:
    /// Throws std::system_error if no thread can be started.
    explicit Queued(Sink sink, queue_options options = {})
        : queue_{detail::sink_worker<Sink>{std::move(sink)}, options} {}

    template <class E>
    void operator()(E const& e) {
        queue_.push(e);
    }

    /// Stays valid and current when this object is moved into a scheduler.
    std::shared_ptr<queue_account const> account() const { return queue_.account(); }

private:
    detail::queue_thread<detail::sink_worker<Sink>> queue_;
};

static_assert(event_sink<Queued<NoEvents>>);

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_QUEUED_HPP
