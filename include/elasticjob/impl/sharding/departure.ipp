// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_DEPARTURE_IPP
#define ELASTICJOB_IMPL_SHARDING_DEPARTURE_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/election/elector.hpp> // leads
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/departure.hpp>
#include <elasticjob/sharding/in_force.hpp>

#include <cassert>
#include <cstddef>
#include <string_view>
#include <utility>

namespace elasticjob {

ELASTICJOB_DECL departure::departure(job_layout at, instance_id self, session_generation g, mono_time deadline,
                                     bool has_traits, bool has_java_members)
    : at_{std::move(at)},
      self_{std::move(self)},
      generation_{g},
      deadline_{deadline},
      has_traits_{has_traits},
      has_java_members_{has_java_members},
      releases_left_{has_java_members ? java_releases : 1} {}

ELASTICJOB_DECL departure_step departure::begin(session_view const& session) {
    if (session.generation != generation_ || session.id == 0) return finish(success()); // our nodes ended with it
    phase_ = phase::reading;
    departure_step step{departure_step::kind::read, {at_.instance(self_), at_.leader_instance()}};
    if (releases_items())
        for (auto const& path : {at_.sharding_necessary(), at_.assignment(), at_.item_instance(0)})
            step.paths.push_back(path);
    if (has_traits_) step.paths.push_back(at_.traits_of(self_));
    return step;
}

ELASTICJOB_DECL departure_step departure::nodes_read(result<std::vector<std::optional<node>>> nodes,
                                                     registry_limits const& limits, session_view const& session,
                                                     mono_time now) {
    assert(phase_ == phase::reading);
    if (!nodes) return failed(std::move(nodes).error(), now);
    auto next = nodes->begin();
    auto const take = [&next] { return std::move(*next++); };
    reading read;
    read.instance = take();
    read.leader = take();
    if (releases_items()) {
        read.necessary = take();
        read.assignment = take();
        read.first_item = take();
    }
    if (has_traits_) read.traits = take();

    auto removals = removal(read, session);
    if (removals.empty() || !releases_items()) return remove(std::move(removals));
    if (is_in_force(read.assignment, read.first_item))
        return remove(release_assigned(std::move(removals), read, limits));
    if (!has_java_members_) return remove(std::move(removals));
    phase_ = phase::reading_items;
    removals_ = std::move(removals);
    return {departure_step::kind::read_items};
}

ELASTICJOB_DECL departure_step departure::items_read(result<item_nodes> items, registry_limits const& limits,
                                                     mono_time now) {
    assert(phase_ == phase::reading_items);
    if (!items) return failed(std::move(items).error(), now);
    return remove(release_named(std::move(removals_), *items, limits));
}

ELASTICJOB_DECL departure_step departure::remove(transaction changes) {
    departure_step step{departure_step::kind::commit};
    step.changes = std::move(changes);
    phase_ = phase::removing;
    if (step.changes.empty()) {
        if (has_written_) return finish(success());
        phase_ = phase::catching_up;
        step.changes = catch_up_write(generation_, at_.config());
    }
    return step;
}

ELASTICJOB_DECL departure_step departure::committed(result<commit_reply> reply, session_view const& session,
                                                    mono_time now) {
    assert(phase_ == phase::removing || phase_ == phase::catching_up);
    if (!reply) return failed(std::move(reply).error(), now);
    has_written_ = true;
    if (phase_ == phase::catching_up) return begin(session);
    if (*reply) return finish(success());
    // If another client has removed nodes of items, a repetition cannot bring them back. The leader handles them.
    --releases_left_;
    if (reply->refused->why == errc::no_node) releases_left_ = std::min(releases_left_, 2);
    bool const is_patient = ++refusals_ < refusals_max && now < deadline_;
    if (is_patient) return begin(session);
    return try_later({errc::version_conflict,
                      "this instance could not leave in time, because the job's nodes kept changing",
                      at_.instance(self_).str()},
                     now);
}

ELASTICJOB_DECL departure_step departure::finish(result<void> outcome) {
    phase_ = phase::gone;
    departure_step step;
    step.outcome = std::move(outcome);
    return step;
}

ELASTICJOB_DECL departure_step departure::try_later(error why, mono_time now) {
    if (now >= deadline_ && is_transient(why))
        return finish(error{errc::timed_out,
                            "the registry did not answer in time, so it is not known whether this instance has left",
                            at_.instance(self_).str()});
    if (now >= deadline_) return finish(std::move(why));
    phase_ = phase::pausing;
    return {departure_step::kind::pause};
}

ELASTICJOB_DECL departure_step departure::failed(error why, mono_time now) {
    bool const is_final = why == errc::closed || why == errc::no_auth;
    return is_final ? finish(std::move(why)) : try_later(std::move(why), now);
}

ELASTICJOB_DECL transaction departure::removal(reading const& now, session_view const& session) const {
    transaction t{session.generation};
    if (leads(now.leader ? &*now.leader : nullptr, self_, session)) t.remove(at_.leader_instance());
    if (now.instance && now.instance->stat.owner == session.id) t.remove(at_.instance(self_));
    if (now.traits && now.traits->stat.owner == session.id) t.remove(at_.traits_of(self_));
    if (t.empty()) return t;         // none of our nodes is left
    if (!releases_items()) return t; // the leader notices that the instance has gone
    if (!now.necessary) t.create(at_.sharding_necessary(), {});
    if (!now.assignment || !now.first_item || is_in_force(now.assignment, now.first_item)) return t;
    // If a leader of ours writes the assignment between the two reads, this transaction is refused.
    t.check(at_.assignment(), now.assignment->stat.version);
    t.check(at_.item_instance(0), now.first_item->stat.version);
    return t;
}

ELASTICJOB_DECL transaction departure::release_assigned(transaction removals, reading const& now,
                                                        registry_limits const& limits) const {
    auto written = assignment::parse(now.assignment->data);
    if (!written || !written->has(self_)) return removals;

    auto const mine = written->items_of(self_);
    written->release(self_);
    auto t = removals;
    t.set(at_.assignment(), written->to_text(), now.assignment->stat.version);
    t.set(at_.item_instance(0), owner_text(written->owner_id(0).str()), now.first_item->stat.version);
    for (auto const i : mine)
        if (i != 0) t.set(at_.item_instance(i), owner_text({}));
    return t.has_room(limits) ? t : removals;
}

ELASTICJOB_DECL transaction departure::release_named(transaction removals, item_nodes const& items,
                                                     registry_limits const& limits) const {
    auto t = removals;
    for (item_index i = 0; i < items.end(); ++i)
        if (items.has_owner_node(i) && items.owner(i) == self_.str())
            t.set(at_.item_instance(i), owner_text({}), items.version(i));
    return t.has_room(limits) ? t : removals;
}

ELASTICJOB_DECL std::string to_string(departure const& d) {
    static constexpr std::string_view names[]{"reading", "reading items", "removing", "catching up", "pausing", "gone"};
    std::string text{names[static_cast<std::size_t>(d.phase_)]};
    text += "; " + std::to_string(d.releases_left_) + " releases left; " + std::to_string(d.refusals_) + " refusals";
    return d.has_written_ ? text + "; has written" : text;
}

namespace detail {

ELASTICJOB_DECL abandoned_nodes left_behind(job_layout const& at, instance_id const& self, session_generation g,
                                            std::optional<node_path> candidate) {
    return {g, {{at.instance(self)}, {at.leader_instance(), self.str()}, {at.traits_of(self)}}, std::move(candidate)};
}

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SHARDING_DEPARTURE_IPP
