// SPDX-License-Identifier: Apache-2.0
/// \file \brief Catches the exceptions of a sink.
#ifndef ELASTICJOB_EVENTS_GUARDED_SINK_HPP
#define ELASTICJOB_EVENTS_GUARDED_SINK_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/standard_error.hpp>
#include <elasticjob/events/event_sink.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// The wrapper through which a scheduler calls its sink. If the sink throws although it must not, it loses that event,
/// but nothing else happens, and standard error reports the first exception.
template <event_sink Sink>
class guarded_sink {
public:
    explicit guarded_sink(Sink s) : sink_(std::move(s)) {}

    template <class E>
    void operator()(E const& e) {
        if constexpr (std::invocable<Sink&, E const&>) {
            auto const told = guarded_call([&] { sink_(e); });
            if (!told && !std::exchange(has_thrown_, true))
                tell_standard_error(
                    "elasticjob: " + std::string{e.from.job} +
                    ": an event sink throws, and loses the events at which it throws: " + told.error().what);
        }
    }

private:
    Sink sink_;
    bool has_thrown_ = false;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_GUARDED_SINK_HPP
