// SPDX-License-Identifier: Apache-2.0
/// \file \brief A reference to an event sink of any type, so that the code that reports events is compiled once.
#ifndef ELASTICJOB_EVENTS_SINK_REF_HPP
#define ELASTICJOB_EVENTS_SINK_REF_HPP

#include <elasticjob/events/event.hpp>

#include <concepts>
#include <cstddef>

namespace elasticjob::detail {

/// An object pointer and a function pointer. The sink takes every event, as a `guarded_sink` does, and must outlive
/// this object. Threads: the sink's.
class sink_ref {
public:
    template <class Sink>
    requires(!std::same_as<Sink, sink_ref>) explicit sink_ref(Sink& s) noexcept : sink_{&s}, tell_{&tell<Sink>} {}

    template <class E>
    void operator()(E const& e) const {
        tell_(sink_, all::index_of<E>(), &e);
    }

private:
    template <class... Es>
    struct list {
        template <class E>
        static constexpr std::size_t index_of() {
            static_assert((std::same_as<E, Es> || ...), "an event that is not in the list below");
            std::size_t n = 0;
            (void)((std::same_as<E, Es> || (++n, false)) || ...);
            return n;
        }
        template <class Sink>
        static void tell(Sink& sink, std::size_t index, void const* e) {
            std::size_t n = 0;
            (void)((index == n++ && (sink(*static_cast<Es const*>(e)), true)) || ...);
        }
    };
    using all = list<events::joined, events::left, events::session_changed, events::leadership_changed,
                     events::resharded, events::share_changed, events::item_started, events::item_finished,
                     events::script_output, events::item_progressed, events::item_fenced, events::item_misfired,
                     events::item_skipped, events::trouble>;

    template <class Sink>
    static void tell(void* sink, std::size_t index, void const* e) {
        all::tell(*static_cast<Sink*>(sink), index, e);
    }

    void* sink_;
    void (*tell_)(void* sink, std::size_t index, void const* e);
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_SINK_REF_HPP
