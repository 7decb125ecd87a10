// SPDX-License-Identifier: Apache-2.0
/// \file \brief Laws of registries: sessions that end, connections that break, replies that are lost.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_SESSIONS_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_SESSIONS_HPP

#include <laws/registry/report.hpp>
#include <laws/registry/world.hpp>

#include <elasticjob/registry/registry.hpp>

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace laws {

using namespace elasticjob;

template <loop Loop>
task<law_report> a_session_is_told_apart(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const mine = co_await connected_session(r);
    LAW_SUCCEEDS(mine);
    LAW(mine->id != 0);
    LAW(mine->generation.value != 0);
    LAW(mine->timeout.count() > 0);
    auto const theirs = co_await connected_session(other);
    LAW_SUCCEEDS(theirs);
    LAW(theirs->id != mine->id);
    auto const made = co_await r.create(at("/mine"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    auto const seen = co_await other.exists(at("/mine"));
    LAW_SUCCEEDS(seen);
    LAW(seen->has_value());
    LAW((*seen)->owner == mine->id);
    co_return kept();
}

/// Removes the nodes of the session, but not other nodes, although they are named.
template <loop Loop>
task<law_report> abandoned_nodes_are_removed(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto made = co_await r.create(at("/left"), "mine", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/kept"), "of another scheduler", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await other.create(at("/theirs"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/queue"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await other.create(at("/queue/b-"), "", create_mode::ephemeral_sequential);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/queue/a-"), "", create_mode::ephemeral_sequential);
    LAW_SUCCEEDS(made);
    event_watch<Loop> left{r.loop()}, queue{r.loop()};
    auto const seen = co_await r.exists(at("/left"), &left);
    LAW_SUCCEEDS(seen);
    auto const standing = co_await r.children(at("/queue"), &queue);
    LAW_SUCCEEDS(standing);
    LAW(standing->size() == 2);
    r.abandon({r.session().generation,
               {{at("/left")}, {at("/kept"), "mine"}, {at("/theirs")}, {at("/absent")}},
               at("/queue/a-")});
    co_await left.fired();
    co_await queue.fired();
    auto const gone = co_await r.exists(at("/left"));
    LAW_SUCCEEDS(gone);
    LAW(!gone->has_value());
    auto const rest = co_await r.children(at("/queue"));
    LAW_SUCCEEDS(rest);
    LAW(rest->size() == 1);
    LAW(rest->front().starts_with("b-"));
    for (auto const* path : {"/kept", "/theirs"}) {
        auto const stays = co_await r.exists(at(path));
        LAW_SUCCEEDS(stays);
        LAW(stays->has_value());
    }
    co_return kept();
}

template <loop Loop>
task<law_report> ephemeral_nodes_end_with_their_session(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto made = co_await other.create(at("/stays"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await other.create(at("/stays/goes"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await other.create(at("/stays/goes-"), "", create_mode::ephemeral_sequential);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/stays/mine"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    event_watch<Loop> watch{r.loop()};
    auto const seen = co_await r.exists(at("/stays/goes"), &watch);
    LAW_SUCCEEDS(seen);
    LAW(seen->has_value());
    LAW((*seen)->owner == other.session().id);
    co_await world.end_second();
    co_await watch.fired();
    auto const names = co_await r.children(at("/stays"));
    LAW_SUCCEEDS(names);
    LAW(*names == std::vector<std::string>{"mine"});
    auto const stat = co_await r.exists(at("/stays"));
    LAW_SUCCEEDS(stat);
    LAW(stat->has_value());
    LAW((*stat)->children == 1);
    co_return kept();
}

/// Nodes that end together can be recognized afterwards, although they are gone.
template <loop Loop>
task<law_report> a_node_tells_when_its_children_last_changed(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    for (auto const* path : {"/a", "/b", "/c"}) {
        auto const made = co_await r.create(at(path), "", create_mode::persistent);
        LAW_SUCCEEDS(made);
    }
    auto a = co_await r.exists(at("/a"));
    LAW_SUCCEEDS(a);
    LAW((*a)->children_changed == (*a)->created);
    for (auto const* path : {"/a/x", "/b/x", "/c/x"}) {
        auto const made = co_await other.create(at(path), "", create_mode::ephemeral);
        LAW_SUCCEEDS(made);
    }
    auto const x = co_await r.exists(at("/a/x"));
    LAW_SUCCEEDS(x);
    a = co_await r.exists(at("/a"));
    LAW_SUCCEEDS(a);
    LAW((*a)->children_changed == (*x)->created);
    auto const written = co_await other.set(at("/a/x"), "y");
    LAW_SUCCEEDS(written);
    auto const itself = co_await r.set(at("/a"), "y");
    LAW_SUCCEEDS(itself);
    transaction t{r.session().generation};
    t.create(at("/a/z"), "").remove(at("/a/x"), 77);
    auto const refused = co_await r.commit(std::move(t));
    LAW_SUCCEEDS(refused);
    LAW(refused->refused.has_value());
    auto const again = co_await r.exists(at("/a"));
    LAW_SUCCEEDS(again);
    LAW((*again)->children_changed == (*a)->children_changed);
    auto const removed = co_await other.remove(at("/c/x"));
    LAW_SUCCEEDS(removed);
    event_watch<Loop> watch{r.loop()};
    auto const seen = co_await r.exists(at("/b/x"), &watch);
    LAW_SUCCEEDS(seen);
    LAW(seen->has_value());
    co_await world.end_second();
    co_await watch.fired();
    a = co_await r.exists(at("/a"));
    LAW_SUCCEEDS(a);
    auto const b = co_await r.exists(at("/b"));
    LAW_SUCCEEDS(b);
    auto const c = co_await r.exists(at("/c"));
    LAW_SUCCEEDS(c);
    LAW((*a)->children_changed == (*b)->children_changed); // both belonged to the same session
    LAW((*c)->children_changed < (*a)->children_changed);
    LAW((*a)->children_changed > (*again)->modified);
    co_return kept();
}

// ---- For worlds that can end a session while the registry continues.

template <loop Loop>
task<law_report> after_an_expiry_comes_another_session(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const before = r.session();
    auto made = co_await r.create(at("/goes"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/stays"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const seen = r.session_changed().edition();
    co_await world.expire();
    auto const after = co_await connected_session(r);
    LAW_SUCCEEDS(after);
    LAW(r.session_changed().edition() > seen);
    LAW(after->generation.value > before.generation.value);
    LAW(after->id != before.id);
    LAW(after->id != 0);
    for (;;) { // the server may consider the former session alive a little longer than its owner does
        event_watch<Loop> watch{r.loop()};
        auto const goes = co_await r.exists(at("/goes"), &watch);
        LAW_SUCCEEDS(goes);
        if (!goes->has_value()) break;
        co_await watch.fired();
    }
    auto const there = co_await r.exists(at("/stays"));
    LAW_SUCCEEDS(there);
    LAW(there->has_value());
    co_return kept();
}

template <loop Loop>
task<law_report> a_write_under_an_old_generation_never_lands(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto made = co_await r.create(at("/a"), "0", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const old = r.session().generation;
    made = co_await r.create(at("/under-its-own"), "", create_mode::persistent, old);
    LAW_SUCCEEDS(made);
    transaction prepared{old};
    prepared.set(at("/a"), "transaction");
    co_await world.expire();
    auto const after = co_await connected_session(r);
    LAW_SUCCEEDS(after);
    made = co_await r.create(at("/late"), "", create_mode::persistent, old);
    LAW_FAILS(made, errc::session_lost);
    auto const set = co_await r.set(at("/a"), "set", any_version, old);
    LAW_FAILS(set, errc::session_lost);
    auto const removed = co_await r.remove(at("/a"), any_version, old);
    LAW_FAILS(removed, errc::session_lost);
    auto const committed = co_await r.commit(std::move(prepared));
    LAW_FAILS(committed, errc::session_lost);
    auto const late = co_await r.exists(at("/late"));
    LAW_SUCCEEDS(late);
    LAW(!late->has_value());
    auto const a = co_await r.get(at("/a"));
    LAW_SUCCEEDS(a);
    LAW(a->data == "0" && a->stat.version == 0);
    made = co_await r.create(at("/late"), "", create_mode::persistent, after->generation);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/later"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    co_return kept();
}

template <loop Loop>
task<law_report> watches_fire_when_their_session_ends(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const made = co_await r.create(at("/a"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> data{r.loop()}, names{r.loop()}, absent{r.loop()};
    auto const found = co_await r.get(at("/a"), &data);
    LAW_SUCCEEDS(found);
    auto const listed = co_await r.children(at("/a"), &names);
    LAW_SUCCEEDS(listed);
    auto const seen = co_await r.exists(at("/absent"), &absent);
    LAW_SUCCEEDS(seen);
    LAW(data.is_linked() && names.is_linked() && absent.is_linked());
    co_await world.expire();
    co_await data.fired();
    co_await names.fired();
    co_await absent.fired();
    LAW(!data.is_linked() && !names.is_linked() && !absent.is_linked());
    co_return kept();
}

namespace detail {

/// Pending operations, each with its outcome once it has ended.
template <class Registry>
struct in_flight {
    explicit in_flight(Registry& r) : ended{r.loop()} {}

    template <class T>
    void start(task<result<T>> operation) {
        ++started;
        scope.spawn(note(std::move(operation), outcomes.emplace_back(), *this));
    }

    std::size_t started = 0;
    std::size_t finished = 0;
    std::deque<std::optional<error>> outcomes; ///< in the order of the starts; nothing for a success
    event_count<typename Registry::loop_type> ended;
    task_scope scope;

private:
    template <class T>
    static task<> note(task<result<T>> operation, std::optional<error>& outcome, in_flight& all) {
        auto const r = co_await std::move(operation);
        if (!r) outcome = r.error();
        ++all.finished;
        all.ended.notify();
    }
};

inline bool is_end_of_session(errc code) {
    return is_connection(code) || code == errc::session_lost || code == errc::closed;
}

} // namespace detail

template <loop Loop>
task<law_report> every_operation_ends_when_its_session_ends(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const made = co_await r.create(at("/a"), "0", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const spare = co_await r.create(at("/spare"), "", create_mode::persistent);
    LAW_SUCCEEDS(spare);
    auto const old = r.session().generation;
    detail::in_flight<registry_ref<Loop>> operations{r};
    transaction t{old};
    t.create(at("/by-commit"), "").set(at("/a"), "by commit");
    operations.start(r.create(at("/by-create"), "", create_mode::persistent, old));
    operations.start(r.set(at("/a"), "by set", any_version, old));
    operations.start(r.remove(at("/spare"), any_version, old));
    operations.start(r.commit(std::move(t)));
    operations.start(r.create(at("/ephemeral"), "", create_mode::ephemeral, old));
    operations.start(r.get(at("/a")));
    operations.start(r.exists(at("/a")));
    operations.start(r.children(at("/a")));
    co_await world.expire();
    while (operations.finished != operations.started) co_await operations.ended.newer_than(operations.ended.edition());
    for (auto const& e : operations.outcomes) {
        if (e) {
            LAW(detail::is_end_of_session(e->code));
        }
    }
    // A request that certainly had no effect has created no node, and one that succeeded has created its node.
    auto const after = co_await connected_session(r);
    LAW_SUCCEEDS(after);
    auto const created = co_await r.exists(at("/by-create"));
    LAW_SUCCEEDS(created);
    auto const committed = co_await r.exists(at("/by-commit"));
    LAW_SUCCEEDS(committed);
    auto const left = co_await r.exists(at("/spare"));
    LAW_SUCCEEDS(left);
    auto matches = [&](std::size_t i, bool effect) {
        auto const& e = operations.outcomes[i];
        return !e ? effect : *e == errc::unknown_outcome || !effect;
    };
    LAW(matches(0, created->has_value()));
    LAW(matches(2, !left->has_value()));
    LAW(matches(3, committed->has_value()));
    auto const ephemeral = co_await r.exists(at("/ephemeral"));
    LAW_SUCCEEDS(ephemeral);
    LAW(!ephemeral->has_value() || (*ephemeral)->owner != after->id); // it belongs to one session only
    co_return kept();
}

// ---- For worlds that can break a connection.

template <loop Loop>
task<law_report> a_session_survives_a_short_interruption(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const before = r.session();
    auto made = co_await r.create(at("/e"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/a"), "0", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> missed{r.loop()}, quiet{r.loop()};
    auto found = co_await r.get(at("/a"), &missed);
    LAW_SUCCEEDS(found);
    auto const seen = co_await r.exists(at("/e"), &quiet);
    LAW_SUCCEEDS(seen);
    auto const edition = r.session_changed().edition();
    co_await world.disconnect();
    co_await r.session_changed().newer_than(edition);
    LAW(r.session().state == session_state::suspended);
    LAW(r.session().generation == before.generation);

    auto const unsent = co_await r.create(at("/unsent"), "", create_mode::persistent);
    LAW_FAILS(unsent, errc::not_sent);
    auto const unread = co_await r.get(at("/a"));
    LAW_FAILS(unread, errc::not_sent);
    auto const changed = co_await other.set(at("/a"), "1");
    LAW_SUCCEEDS(changed);
    LAW(missed.is_linked()); // the session cannot know the change yet

    co_await world.reconnect();
    auto const after = co_await connected_session(r);
    LAW_SUCCEEDS(after);
    LAW(after->generation == before.generation);
    LAW(after->id == before.id);
    co_await missed.fired();
    found = co_await r.get(at("/a"));
    LAW_SUCCEEDS(found);
    LAW(found->data == "1");
    LAW(quiet.is_linked());
    auto const absent = co_await r.exists(at("/unsent"));
    LAW_SUCCEEDS(absent);
    LAW(!absent->has_value());
    auto const still = co_await r.exists(at("/e"));
    LAW_SUCCEEDS(still);
    LAW(still->has_value());
    LAW((*still)->owner == before.id);
    co_return kept();
}

template <loop Loop>
task<law_report> a_session_does_not_survive_a_long_interruption(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const before = r.session();
    auto const made = co_await r.create(at("/e"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    event_watch<Loop> watch{r.loop()}, theirs{r.loop()};
    auto const seen = co_await r.exists(at("/e"), &watch);
    LAW_SUCCEEDS(seen);
    auto const noticed = co_await other.exists(at("/e"), &theirs);
    LAW_SUCCEEDS(noticed);
    co_await world.disconnect();
    co_await theirs.fired(); // when the server has given the session up
    co_await watch.fired();  // by the clock of the disconnected registry, at the latest after its return
    LAW(r.session().generation.value > before.generation.value);
    co_await world.reconnect();
    auto const after = co_await connected_session(r);
    LAW_SUCCEEDS(after);
    LAW(after->id != before.id);
    LAW(after->generation.value > before.generation.value);
    co_return kept();
}

// ---- For worlds that can lose a request or its reply on demand.

template <loop Loop>
task<law_report> a_lost_request_is_unknown_and_had_no_effect(world_ref<Loop>& world) {
    auto& r = world.registry();
    world.lose_next_write(request_fate::request_lost);
    auto const made = co_await r.create(at("/a"), "", create_mode::persistent);
    LAW_FAILS(made, errc::unknown_outcome);
    auto const seen = co_await r.exists(at("/a"));
    LAW_SUCCEEDS(seen);
    LAW(!seen->has_value());
    world.lose_next_write(request_fate::request_lost);
    transaction t{r.session().generation};
    t.create(at("/a"), "");
    auto const committed = co_await r.commit(std::move(t));
    LAW_FAILS(committed, errc::unknown_outcome);
    auto const again = co_await r.exists(at("/a"));
    LAW_SUCCEEDS(again);
    LAW(!again->has_value());
    co_return kept();
}

template <loop Loop>
task<law_report> a_lost_reply_is_unknown_and_had_its_effect(world_ref<Loop>& world) {
    auto& r = world.registry();
    world.lose_next_write(request_fate::reply_lost);
    auto const made = co_await r.create(at("/a"), "0", create_mode::persistent);
    LAW_FAILS(made, errc::unknown_outcome);
    world.lose_next_write(request_fate::reply_lost);
    auto const set = co_await r.set(at("/a"), "1");
    LAW_FAILS(set, errc::unknown_outcome);
    auto const found = co_await r.get(at("/a"));
    LAW_SUCCEEDS(found);
    LAW(found->data == "1");
    LAW(found->stat.version == 1); // once, because the registry repeats nothing by itself
    co_return kept();
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_REGISTRY_SESSIONS_HPP
