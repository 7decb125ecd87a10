// SPDX-License-Identifier: Apache-2.0
/// \file \brief One event of each kind, with all its fields set, and the name of a kind.
#ifndef ELASTICJOB_TEST_EVENTS_KINDS_HPP
#define ELASTICJOB_TEST_EVENTS_KINDS_HPP

#include <elasticjob/events/event.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace elasticjob::test {

inline wall_time at_ms(std::int64_t ms) { return wall_time{std::chrono::milliseconds{ms}}; }

/// The values that the events refer to.
struct happenings {
    std::string job = "settle";
    std::string task = "settle@-@0,1@-@READY@-@10.0.0.1@-@7-x";
    instance_id id = instance_id::parse("10.0.0.1@-@7-x").value();
    std::optional<error> none{};
    std::optional<error> failure{error{errc::job_threw, "out of \"paper\"\nand ink", "tray 2"}};
    std::vector<item_index> items{0, 2};
    wall_time due = at_ms(1'767'225'600'000);   // 2026-01-01 00:00:00 UTC
    wall_time begun = at_ms(1'767'225'600'025); // 25 ms late
    wall_time ended = at_ms(1'767'225'601'275);

    events::origin from(wall_time at) const { return {job, id, at}; }
    events::run_name run(std::uint64_t number = 5, run_source source = run_source::schedule) const {
        return {number, task, source, 2, begun};
    }
    events::item_started started(std::uint64_t number = 5, run_source source = run_source::schedule) const {
        return {from(begun), 1, due, source, 2, 77, run(number, source)};
    }
    events::item_finished succeeded(std::uint64_t number = 5) const {
        return {from(ended), 1, due, std::chrono::milliseconds{1250}, none, 77, run(number)};
    }
    events::item_finished failed(std::uint64_t number = 5) const {
        return {from(ended), 1, due, std::chrono::milliseconds{1250}, failure, 77, run(number)};
    }
    events::script_output wrote() const {
        return {from(begun), 1, due, script_stream::err, "half \"a\"\tline", 12, 3, run()};
    }
    events::item_progressed progressed() const { return {from(ended), 1, due, 40, 100, run()}; }
    events::item_fenced fenced() const { return {from(ended), 1, due, 77, run()}; }
    events::item_misfired misfired() const { return {from(ended), 1, due}; }
    events::item_skipped skipped(events::skip_reason why = events::skip_reason::disabled) const {
        return {from(ended), 1, due, why, 3};
    }
    events::item_skipped refused() const { return {from(ended), 1, due, events::skip_reason::overloaded, 1, run()}; }

    /// Calls `f` with each event.
    template <class F>
    void tell(F&& f) const {
        f(events::joined{from(begun), "cron is a, not b"});
        f(events::leadership_changed{from(begun), true});
        f(events::session_changed{from(begun), session_state::suspended});
        f(events::resharded{from(begun), 9, 4, 3, 2, 1});
        f(events::share_changed{from(begun), items});
        f(started());
        f(wrote());
        f(progressed());
        f(succeeded());
        f(failed());
        f(fenced());
        f(misfired());
        f(skipped());
        f(refused());
        f(events::trouble{from(begun), *failure});
        f(events::left{from(ended)});
    }
    static constexpr std::size_t count = 16;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_EVENTS_KINDS_HPP
