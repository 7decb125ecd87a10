// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_MISFIRE_IPP
#define ELASTICJOB_IMPL_EXECUTION_MISFIRE_IPP

#include <elasticjob/execution/misfire.hpp>

namespace elasticjob {

ELASTICJOB_DECL void due_instants::add(wall_time t, std::size_t keep) {
    auto const at = std::lower_bound(newest.begin(), newest.end(), t);
    if (at != newest.end() && *at == t) return;
    ++count;
    newest.insert(at, t);
    if (newest.size() > keep) newest.erase(newest.begin());
}

ELASTICJOB_DECL std::size_t instants_to_keep(misfire_policy const& policy) {
    return policy.rule == misfire_rule::all ? std::size_t{policy.runs_max} + 1 : 2;
}

ELASTICJOB_DECL catch_up decide(due_instants const& due, wall_time now, std::optional<wall_time> idle_since,
                                misfire_policy const& policy) {
    auto const is_late = [&](wall_time t) { return (idle_since && t <= *idle_since) || now - t > on_time_span; };
    auto const is_too_late = [&](wall_time t) {
        return (policy.max_lateness.count() > 0 && now - t > policy.max_lateness) ||
               (policy.rule == misfire_rule::skip && is_late(t));
    };
    auto const newest = due.newest.back();
    catch_up c;
    c.through = newest;
    if (is_too_late(newest)) {
        c.skipped = {newest, due.count};
        return c;
    }
    auto chosen = due.newest.size() - 1;
    if (policy.rule == misfire_rule::all)
        for (chosen = due.newest.size() - std::min<std::size_t>(due.newest.size(), policy.runs_max);
             is_too_late(due.newest[chosen]);)
            ++chosen;
    c.run = c.through = due.newest[chosen];
    c.source = is_late(*c.run) ? run_source::misfire : run_source::schedule;
    auto const before = due.count - (due.newest.size() - chosen);
    if (before == 0) return c;
    auto const last = chosen > 0 ? due.newest[chosen - 1] : *c.run;
    // It is unknown which of the instants that are not kept individually are too late, so all count like the last one.
    bool const is_made_up_for = policy.rule == misfire_rule::once && !is_too_late(last);
    (is_made_up_for ? c.coalesced : c.skipped) = {last, before};
    return c;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_MISFIRE_IPP
