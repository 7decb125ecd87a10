// SPDX-License-Identifier: Apache-2.0
/// \file \brief Laws of registries: nodes, their data, versions, names and limits.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_NODES_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_NODES_HPP

#include <laws/registry/report.hpp>
#include <laws/registry/world.hpp>

#include <elasticjob/registry/registry.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace laws {

using namespace elasticjob;

template <loop Loop>
task<law_report> a_second_create_keeps_the_first_data(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/a");
    auto const first = co_await r.create(a, "first", create_mode::persistent);
    LAW_SUCCEEDS(first);
    LAW(*first == a);
    auto const second = co_await r.create(a, "second", create_mode::persistent);
    LAW_FAILS(second, errc::node_exists);
    auto const third = co_await r.create(a, "third", create_mode::ephemeral);
    LAW_FAILS(third, errc::node_exists);
    auto const found = co_await r.get(a);
    LAW_SUCCEEDS(found);
    LAW(found->data == "first");
    LAW(found->stat.version == 0);
    LAW(found->stat.owner == 0);
    co_return kept();
}

template <loop Loop>
task<law_report> what_was_written_is_read_by_every_session(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const a = at("/a");
    std::string const bytes{"\0\x01\xff line\n/", 10};
    auto const made = co_await r.create(a, bytes, create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const fresh = co_await other.get(a);
    LAW_SUCCEEDS(fresh);
    LAW(fresh->data == bytes);
    LAW(fresh->stat.version == 0);
    LAW(fresh->stat.created != 0);
    LAW(fresh->stat.modified == fresh->stat.created);
    LAW(fresh->stat.children == 0);
    LAW(fresh->stat.owner == 0);

    auto const after = co_await r.set(a, "");
    LAW_SUCCEEDS(after);
    LAW(after->version == 1);
    LAW(after->created == fresh->stat.created);
    LAW(after->modified > fresh->stat.modified);
    auto const seen = co_await other.exists(a);
    LAW_SUCCEEDS(seen);
    LAW(seen->has_value());
    LAW(**seen == *after);
    auto const emptied = co_await other.get(a);
    LAW_SUCCEEDS(emptied);
    LAW(emptied->data.empty());
    LAW(emptied->stat == *after);

    auto const gone = co_await other.remove(a);
    LAW_SUCCEEDS(gone);
    auto const absent = co_await r.exists(a);
    LAW_SUCCEEDS(absent);
    LAW(!absent->has_value());
    co_return kept();
}

template <loop Loop>
task<law_report> what_is_absent_is_no_node(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/absent");
    auto const got = co_await r.get(a);
    LAW_FAILS(got, errc::no_node);
    auto const seen = co_await r.exists(a);
    LAW_SUCCEEDS(seen);
    LAW(!seen->has_value());
    auto const names = co_await r.children(a);
    LAW_FAILS(names, errc::no_node);
    auto const changed = co_await r.set(a, "x");
    LAW_FAILS(changed, errc::no_node);
    auto const versioned = co_await r.set(a, "x", 0);
    LAW_FAILS(versioned, errc::no_node);
    auto const removed = co_await r.remove(a);
    LAW_FAILS(removed, errc::no_node);
    co_return kept();
}

template <loop Loop>
task<law_report> the_parent_must_exist(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const orphan = at("/a/b");
    auto const early = co_await r.create(orphan, "x", create_mode::persistent);
    LAW_FAILS(early, errc::no_node);
    auto const parent = co_await r.exists(at("/a"));
    LAW_SUCCEEDS(parent);
    LAW(!parent->has_value());
    auto const made = co_await r.create(at("/a"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const late = co_await r.create(orphan, "x", create_mode::persistent);
    LAW_SUCCEEDS(late);
    co_return kept();
}

template <loop Loop>
task<law_report> a_node_with_children_is_not_removed(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const parent = at("/a");
    auto const child = at("/a/b");
    auto made = co_await r.create(parent, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(child, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto removed = co_await r.remove(parent);
    LAW_FAILS(removed, errc::not_empty);
    auto const seen = co_await r.exists(child);
    LAW_SUCCEEDS(seen);
    LAW(seen->has_value());
    removed = co_await r.remove(child);
    LAW_SUCCEEDS(removed);
    removed = co_await r.remove(parent);
    LAW_SUCCEEDS(removed);
    co_return kept();
}

template <loop Loop>
task<law_report> children_are_listed_by_name_and_counted(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const parent = at("/a");
    auto made = co_await r.create(parent, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto names = co_await r.children(parent);
    LAW_SUCCEEDS(names);
    LAW(names->empty());
    made = co_await r.create(at("/a/one"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/a/two"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/a/one/deeper"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/aa"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    names = co_await r.children(parent);
    LAW_SUCCEEDS(names);
    std::sort(names->begin(), names->end());
    LAW(*names == std::vector<std::string>{"one", "two"});
    auto const stat = co_await r.exists(parent);
    LAW_SUCCEEDS(stat);
    LAW(stat->has_value());
    LAW((*stat)->children == 2);
    LAW((*stat)->version == 0);
    co_return kept();
}

template <loop Loop>
task<law_report> an_ephemeral_node_has_no_children(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto made = co_await r.create(at("/a"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/a/b"), "", create_mode::persistent);
    LAW_FAILS(made, errc::no_children_for_ephemerals);
    made = co_await r.create(at("/a/b"), "", create_mode::ephemeral_sequential);
    LAW_FAILS(made, errc::no_children_for_ephemerals);
    co_return kept();
}

template <loop Loop>
task<law_report> set_wants_the_version_that_is_there(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/a");
    auto const made = co_await r.create(a, "zero", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto after = co_await r.set(a, "wrong", 1);
    LAW_FAILS(after, errc::version_conflict);
    after = co_await r.set(a, "one", 0);
    LAW_SUCCEEDS(after);
    LAW(after->version == 1);
    after = co_await r.set(a, "stale", 0);
    LAW_FAILS(after, errc::version_conflict);
    auto found = co_await r.get(a);
    LAW_SUCCEEDS(found);
    LAW(found->data == "one");
    LAW(found->stat.version == 1);
    after = co_await r.set(a, "two", any_version);
    LAW_SUCCEEDS(after);
    LAW(after->version == 2);
    found = co_await r.get(a);
    LAW_SUCCEEDS(found);
    LAW(found->data == "two");
    LAW(found->stat.version == 2);
    co_return kept();
}

template <loop Loop>
task<law_report> remove_wants_the_version_that_is_there(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/a");
    auto made = co_await r.create(a, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const set = co_await r.set(a, "");
    LAW_SUCCEEDS(set);
    auto removed = co_await r.remove(a, 0);
    LAW_FAILS(removed, errc::version_conflict);
    auto const before = co_await r.exists(a);
    LAW_SUCCEEDS(before);
    LAW(before->has_value());
    removed = co_await r.remove(a, 1);
    LAW_SUCCEEDS(removed);

    // Another node with the same path starts anew, and differs from the first one.
    made = co_await r.create(a, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const again = co_await r.exists(a);
    LAW_SUCCEEDS(again);
    LAW(again->has_value());
    LAW((*again)->version == 0);
    LAW((*again)->created > (*before)->created);
    co_return kept();
}

template <loop Loop>
task<law_report> sequence_numbers_count_all_creations(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto made = co_await r.create(at("/q"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/q/n-"), "first", create_mode::persistent_sequential);
    LAW_SUCCEEDS(made);
    LAW(made->str() == "/q/n-0000000000");
    made = co_await r.create(at("/q/plain"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/q/m-"), "", create_mode::ephemeral_sequential);
    LAW_SUCCEEDS(made);
    LAW(made->str() == "/q/m-0000000002");
    auto const removed = co_await r.remove(*made);
    LAW_SUCCEEDS(removed);
    made = co_await r.create(at("/q/n-"), "", create_mode::persistent_sequential);
    LAW_SUCCEEDS(made);
    LAW(made->str() == "/q/n-0000000003");
    auto const refused = co_await r.create(at("/q/plain"), "", create_mode::persistent);
    LAW_FAILS(refused, errc::node_exists);
    made = co_await r.create(at("/q/n-"), "", create_mode::persistent_sequential);
    LAW_SUCCEEDS(made);
    LAW(made->str() == "/q/n-0000000004");
    auto const found = co_await r.get(at("/q/n-0000000000"));
    LAW_SUCCEEDS(found);
    LAW(found->data == "first");
    auto const prefix = co_await r.exists(at("/q/n-"));
    LAW_SUCCEEDS(prefix);
    LAW(!prefix->has_value());
    co_return kept();
}

template <loop Loop>
task<law_report> what_is_too_large_is_refused_here(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const before = r.session();
    auto const limit = r.limits().request_bytes_max;
    auto const a = at("/a");
    std::string const huge(limit, 'x');
    auto made = co_await r.create(a, huge, create_mode::persistent);
    LAW_FAILS(made, errc::too_large);
    made = co_await r.create(a, "small", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const after = co_await r.set(a, huge);
    LAW_FAILS(after, errc::too_large);
    transaction t{before.generation};
    std::string const half(limit / 2, 'x');
    t.set(a, half).set(a, half).set(a, half);
    auto const committed = co_await r.commit(std::move(t));
    LAW_FAILS(committed, errc::too_large);
    auto const found = co_await r.get(a);
    LAW_SUCCEEDS(found);
    LAW(found->data == "small");
    LAW(found->stat.version == 0);
    LAW(r.session().state == session_state::connected);
    LAW(r.session().generation == before.generation);
    LAW(r.session().id == before.id);
    co_return kept();
}

template <loop Loop>
task<law_report> too_many_operations_are_refused_here(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const before = r.session();
    auto const limits = r.limits();
    transaction t{before.generation};
    auto const root = node_path{};
    while (t.has_room(limits)) t.check(root);
    auto const committed = co_await r.commit(std::move(t));
    LAW_FAILS(committed, errc::too_large);
    auto const seen = co_await r.exists(root);
    LAW_SUCCEEDS(seen);
    LAW(r.session().generation == before.generation);
    LAW(r.session().id == before.id);
    co_return kept();
}

template <loop Loop>
task<law_report> what_just_fits_is_served(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const limits = r.limits();
    auto const a = at("/a");
    operation whole{operation::kind::create, a};
    std::string const data(limits.request_bytes_max - whole.bytes() - limits.more_bytes_each, 'x');
    auto const made = co_await r.create(a, data, create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const found = co_await r.get(a);
    LAW_SUCCEEDS(found);
    LAW(found->data == data);
    auto const emptied = co_await r.set(a, "");
    LAW_SUCCEEDS(emptied);

    transaction t{r.session().generation};
    auto const b = at("/b");
    t.create(b, "");
    operation rest{operation::kind::set, b};
    auto const taken = t.bytes() + rest.bytes() + 2 * limits.more_bytes_each;
    t.set(b, std::string(limits.request_bytes_max - taken, 'y'));
    auto const committed = co_await r.commit(std::move(t));
    LAW_SUCCEEDS(committed);
    LAW(!committed->refused);
    co_return kept();
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_REGISTRY_NODES_HPP
