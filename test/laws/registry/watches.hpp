// SPDX-License-Identifier: Apache-2.0
/// \file \brief Laws of registries: the notifications of watches, and their times and numbers.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_WATCHES_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_WATCHES_HPP

#include <laws/registry/report.hpp>
#include <laws/registry/world.hpp>

#include <elasticjob/registry/registry.hpp>

#include <optional>
#include <string>

namespace laws {

using namespace elasticjob;

template <loop Loop>
task<law_report> a_watch_on_an_absent_node_tells_of_its_creation(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const a = at("/a");
    event_watch<Loop> watch{r.loop()};
    auto const absent = co_await r.exists(a, &watch);
    LAW_SUCCEEDS(absent);
    LAW(!absent->has_value());
    LAW(watch.is_linked());
    auto const made = co_await other.create(a, "new", create_mode::persistent);
    LAW_SUCCEEDS(made);
    co_await watch.fired();
    LAW(!watch.is_linked());
    auto const found = co_await r.get(a);
    LAW_SUCCEEDS(found);
    LAW(found->data == "new");
    co_return kept();
}

template <loop Loop>
task<law_report> a_data_watch_tells_of_change_and_deletion(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const a = at("/a");
    auto const made = co_await other.create(a, "0", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> by_get{r.loop()};
    event_watch<Loop> by_exists{r.loop()};

    auto found = co_await r.get(a, &by_get);
    LAW_SUCCEEDS(found);
    auto seen = co_await r.exists(a, &by_exists);
    LAW_SUCCEEDS(seen);
    LAW(by_get.is_linked());
    LAW(by_exists.is_linked());
    auto const changed = co_await other.set(a, "1");
    LAW_SUCCEEDS(changed);
    co_await by_get.fired();
    co_await by_exists.fired();

    found = co_await r.get(a, &by_get);
    LAW_SUCCEEDS(found);
    LAW(found->data == "1"); // the cause is readable when the watch has fired
    seen = co_await r.exists(a, &by_exists);
    LAW_SUCCEEDS(seen);
    LAW(by_get.is_linked());
    LAW(by_exists.is_linked());
    auto const removed = co_await other.remove(a);
    LAW_SUCCEEDS(removed);
    co_await by_get.fired();
    co_await by_exists.fired();
    seen = co_await r.exists(a);
    LAW_SUCCEEDS(seen);
    LAW(!seen->has_value());
    co_return kept();
}

template <loop Loop>
task<law_report> a_children_watch_tells_of_names(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const parent = at("/p");
    auto const child = at("/p/c");
    auto made = co_await other.create(parent, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> watch{r.loop()};
    auto names = co_await r.children(parent, &watch);
    LAW_SUCCEEDS(names);
    LAW(watch.is_linked());
    made = co_await other.create(child, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    co_await watch.fired();
    names = co_await r.children(parent, &watch);
    LAW_SUCCEEDS(names);
    LAW(names->size() == 1);
    LAW(watch.is_linked());
    auto removed = co_await other.remove(child);
    LAW_SUCCEEDS(removed);
    co_await watch.fired();
    names = co_await r.children(parent, &watch);
    LAW_SUCCEEDS(names);
    LAW(names->empty());
    LAW(watch.is_linked());
    removed = co_await other.remove(parent); // a removed node has no children's names any more
    LAW_SUCCEEDS(removed);
    co_await watch.fired();
    co_return kept();
}

template <loop Loop>
task<law_report> data_and_children_are_watched_apart(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const parent = at("/p");
    auto const child = at("/p/c");
    auto made = co_await r.create(parent, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(child, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> data{r.loop()};
    event_watch<Loop> names{r.loop()};
    auto const listed = co_await r.children(parent, &names);
    LAW_SUCCEEDS(listed);
    // Changes by the session itself: when their replies have arrived, their watches would have fired.
    auto changed = co_await r.set(parent, "x");
    LAW_SUCCEEDS(changed);
    changed = co_await r.set(child, "x");
    LAW_SUCCEEDS(changed);
    made = co_await r.create(at("/p/c/deeper"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    LAW(names.is_linked());
    auto const found = co_await r.get(parent, &data);
    LAW_SUCCEEDS(found);
    made = co_await r.create(at("/p/d"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const removed = co_await r.remove(at("/p/d"));
    LAW_SUCCEEDS(removed);
    auto const probe = co_await r.get(parent);
    LAW_SUCCEEDS(probe);
    LAW(data.is_linked());
    LAW(!names.is_linked());
    co_return kept();
}

template <loop Loop>
task<law_report> a_watch_fires_once_for_each_arming(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/a");
    auto const b = at("/b");
    auto made = co_await r.create(a, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(b, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> watch{r.loop()};
    auto found = co_await r.get(a, &watch);
    LAW_SUCCEEDS(found);
    auto changed = co_await r.set(a, "1");
    LAW_SUCCEEDS(changed);
    co_await watch.fired();
    found = co_await r.get(b, &watch);
    LAW_SUCCEEDS(found);
    LAW(watch.is_linked());
    changed = co_await r.set(a, "2"); // this change is not watched any more
    LAW_SUCCEEDS(changed);
    found = co_await r.get(a);
    LAW_SUCCEEDS(found);
    LAW(found->data == "2");
    LAW(watch.is_linked());
    changed = co_await r.set(b, "1");
    LAW_SUCCEEDS(changed);
    co_await watch.fired();
    LAW(!watch.is_linked());
    co_return kept();
}

template <loop Loop>
task<law_report> a_failed_read_arms_nothing(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/absent");
    event_watch<Loop> watch{r.loop()};
    auto const found = co_await r.get(a, &watch);
    LAW_FAILS(found, errc::no_node);
    LAW(!watch.is_linked());
    auto const names = co_await r.children(a, &watch);
    LAW_FAILS(names, errc::no_node);
    LAW(!watch.is_linked());
    co_await watch.fired(); // at once
    co_return kept();
}

template <loop Loop>
task<law_report> every_watch_of_a_node_fires(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const a = at("/a");
    auto const made = co_await r.create(a, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> one{r.loop()}, two{r.loop()}, elsewhere{r.loop()};
    std::optional<event_watch<Loop>> destroyed;
    destroyed.emplace(r.loop());
    auto found = co_await r.get(a, &one);
    LAW_SUCCEEDS(found);
    found = co_await r.get(a, &*destroyed);
    LAW_SUCCEEDS(found);
    found = co_await r.get(a, &two);
    LAW_SUCCEEDS(found);
    found = co_await other.get(a, &elsewhere);
    LAW_SUCCEEDS(found);
    destroyed.reset(); // this disarms only this watch
    LAW(one.is_linked());
    LAW(two.is_linked());
    LAW(elsewhere.is_linked());
    auto const changed = co_await r.set(a, "1");
    LAW_SUCCEEDS(changed);
    co_await one.fired();
    co_await two.fired();
    co_await elsewhere.fired();
    co_return kept();
}

template <loop Loop>
task<law_report> a_read_that_shows_a_change_comes_after_its_watch(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const a = at("/a");
    auto const made = co_await r.create(a, "0", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> watch{r.loop()};
    for (int round = 1; round <= 20; ++round) {
        auto found = co_await r.get(a, &watch);
        LAW_SUCCEEDS(found);
        LAW(watch.is_linked());
        auto const wanted = std::to_string(round);
        std::optional<result<node_stat>> changed;
        task_scope writer; // changes it while this session reads
        writer.spawn([](auto& s, node_path path, std::string data, auto& answer) -> task<> {
            answer.emplace(co_await s.set(std::move(path), std::move(data)));
        }(other, a, wanted, changed));
        // At any speed of the reads, the session never sees the change before the watch has fired.
        for (int reads_left = 100'000; found->data != wanted; --reads_left) {
            LAW(reads_left > 0);
            found = co_await r.get(a);
            LAW_SUCCEEDS(found);
        }
        LAW(!watch.is_linked());
        while (!writer.empty()) co_await yield(r.loop());
        LAW_SUCCEEDS(*changed);
    }
    co_return kept();
}

template <loop Loop>
task<law_report> a_transaction_fires_watches(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto made = co_await r.create(at("/p"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    made = co_await r.create(at("/s"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    event_watch<Loop> names{r.loop()}, data{r.loop()}, absent{r.loop()}, checked{r.loop()};
    auto const listed = co_await r.children(at("/p"), &names);
    LAW_SUCCEEDS(listed);
    auto found = co_await r.get(at("/s"), &data);
    LAW_SUCCEEDS(found);
    auto seen = co_await r.exists(at("/p/a"), &absent);
    LAW_SUCCEEDS(seen);
    seen = co_await r.exists(at("/p"), &checked);
    LAW_SUCCEEDS(seen);

    transaction refused{other.session().generation};
    refused.set(at("/s"), "1").create(at("/p/a"), "").check(at("/nowhere"));
    auto reply = co_await other.commit(std::move(refused));
    LAW_SUCCEEDS(reply);
    LAW(reply->refused.has_value());
    found = co_await r.get(at("/s"));
    LAW_SUCCEEDS(found);
    LAW(names.is_linked());
    LAW(data.is_linked());
    LAW(absent.is_linked());

    transaction t{other.session().generation};
    t.check(at("/p")).set(at("/s"), "1").create(at("/p/a"), "").create(at("/p/b"), "");
    reply = co_await other.commit(std::move(t));
    LAW_SUCCEEDS(reply);
    LAW(!reply->refused);
    co_await names.fired();
    auto const after = co_await r.children(at("/p"));
    LAW_SUCCEEDS(after);
    LAW(after->size() == 2);
    co_await data.fired();
    co_await absent.fired();
    LAW(checked.is_linked()); // a check changes nothing
    co_return kept();
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_REGISTRY_WATCHES_HPP
