// SPDX-License-Identifier: Apache-2.0
/// \file \brief An owning copy of an event.
#ifndef ELASTICJOB_EVENTS_KEPT_EVENT_HPP
#define ELASTICJOB_EVENTS_KEPT_EVENT_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/event.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace elasticjob::events {

/// Stores any of the structs of events/event.hpp. `keep` stores a copy, and `tell` passes an equal event to a function.
/// The next `keep` reuses the memory, so a ring of these objects stops allocating after some time. A value.
class kept_event {
public:
    kept_event() = default;
    template <class E>
    explicit kept_event(E const& e) {
        keep(e);
    }

    void keep(joined const& e);
    void keep(left const& e) { begin(kind::left, e.from); }
    void keep(leadership_changed const& e);
    void keep(session_changed const& e);
    void keep(resharded const& e);
    void keep(share_changed const& e);
    void keep(item_started const& e);
    void keep(item_finished const& e);
    void keep(script_output const& e);
    void keep(item_progressed const& e);
    void keep(item_fenced const& e);
    void keep(item_misfired const& e) { begin(kind::item_misfired, e.from, e.item, e.due, {}); }
    void keep(item_skipped const& e);
    void keep(trouble const& e);

    /// Calls `f(e)` with the stored event, which refers to this object. Has no effect if there is no event.
    template <class F>
    void tell(F&& f) const {
        origin const from{job_, instance_, at_};
        auto const run = run_of();
        switch (kind_) {
        case kind::none:
            return;
        case kind::joined:
            return void(f(joined{from, text_}));
        case kind::left:
            return void(f(left{from}));
        case kind::leadership_changed:
            return void(f(leadership_changed{from, leads_}));
        case kind::session_changed:
            return void(f(session_changed{from, session_}));
        case kind::resharded:
            return void(f(resharded{from, count_, numbers_[0], numbers_[1], numbers_[2], numbers_[3]}));
        case kind::share_changed:
            return void(f(share_changed{from, items_}));
        case kind::item_started:
            return void(f(item_started{from, item_, due_, source_, numbers_[0], token_, run}));
        case kind::item_finished:
            return void(f(item_finished{from, item_, due_, took_, failure_, token_, run, retry_at_}));
        case kind::script_output:
            return void(f(script_output{from, item_, due_, stream_, line_, dropped_, count_, run}));
        case kind::item_progressed:
            return void(f(item_progressed{from, item_, due_, count_, total_, run}));
        case kind::item_fenced:
            return void(f(item_fenced{from, item_, due_, token_, run}));
        case kind::item_misfired:
            return void(f(item_misfired{from, item_, due_}));
        case kind::item_skipped:
            return void(f(item_skipped{from, item_, due_, why_, count_, run}));
        case kind::trouble:
            return void(f(trouble{from, *failure_}));
        }
    }

    std::string const& job() const noexcept { return job_; }
    instance_id const& instance() const noexcept { return instance_; }
    wall_time at() const noexcept { return at_; }

    /// Whether the stored event is of that type.
    template <class E>
    bool is() const {
        bool answer = false;
        tell([&](auto const& e) { answer = std::is_same_v<std::remove_cvref_t<decltype(e)>, E>; });
        return answer;
    }

private:
    enum class kind : std::uint8_t {
        none,
        joined,
        left,
        leadership_changed,
        session_changed,
        resharded,
        share_changed,
        item_started,
        item_finished,
        script_output,
        item_progressed,
        item_fenced,
        item_misfired,
        item_skipped,
        trouble
    };

    void begin(kind k, origin const& from);
    void begin(kind k, origin const& from, item_index item, wall_time due, run_name const& run);
    run_name run_of() const;

    kind kind_ = kind::none;
    bool leads_ = false;
    skip_reason why_{};
    session_state session_{};
    run_source source_{};
    item_index item_ = 0;
    std::uint32_t numbers_[4]{};
    wall_time at_{}, due_{};
    std::int64_t token_ = 0;
    std::uint64_t count_ = 0, total_ = 0;
    std::chrono::nanoseconds took_{};
    run_name run_{};
    script_stream stream_{};
    std::size_t dropped_ = 0;
    std::string job_, text_, line_;
    instance_id instance_;
    std::vector<item_index> items_;
    std::optional<error> failure_;
    std::optional<wall_time> retry_at_;
};

} // namespace elasticjob::events

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/kept_event.ipp>
#endif
#endif // ELASTICJOB_EVENTS_KEPT_EVENT_HPP
