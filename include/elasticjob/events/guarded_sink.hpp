// SPDX-License-Identifier: Apache-2.0
/// \file \brief Where the exceptions of a sink end.
#ifndef ELASTICJOB_EVENTS_GUARDED_SINK_HPP
#define ELASTICJOB_EVENTS_GUARDED_SINK_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/standard_error.hpp>
#include <elasticjob/events/event_sink.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// What a scheduler tells its events to. A sink throws nothing; one that does all the same loses that event and disturbs
/// nobody, and the first time it is said on standard error.
template <event_sink Sink>
class guarded_sink {
public:
    explicit guarded_sink(Sink s) : sink_(std::move(s)) {}

    template <class E>
    void operator()(E const& e) {
        if constexpr (std::invocable<Sink&, E const&>) {
            auto const told = guarded_call([&] { sink_(e); });
            if (!told && !std::exchange(has_thrown_, true))
                tell_standard_error("elasticjob: " + std::string{e.from.job} +
                                    ": an event sink throws; what it throws at is lost to it: " + told.error().what);
        }
    }

private:
    Sink sink_;
    bool has_thrown_ = false;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_GUARDED_SINK_HPP
