// SPDX-License-Identifier: Apache-2.0
/// \file \brief Laws of registries: transactions.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_TRANSACTIONS_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_TRANSACTIONS_HPP

#include <laws/registry/report.hpp>
#include <laws/registry/world.hpp>

#include <elasticjob/registry/registry.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace laws {

using namespace elasticjob;

template <loop Loop>
task<law_report> a_transaction_happens_in_one_revision(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const made = co_await r.create(at("/s"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const removed_later = co_await r.create(at("/r"), "", create_mode::persistent);
    LAW_SUCCEEDS(removed_later);
    transaction t{r.session().generation};
    t.create(at("/a"), "1").create(at("/e"), "2", create_mode::ephemeral).set(at("/s"), "3").remove(at("/r"));
    auto const reply = co_await r.commit(std::move(t));
    LAW_SUCCEEDS(reply);
    LAW(!reply->refused);
    auto const a = co_await r.get(at("/a"));
    auto const e = co_await r.get(at("/e"));
    auto const s = co_await r.get(at("/s"));
    auto const gone = co_await r.exists(at("/r"));
    LAW_SUCCEEDS(a);
    LAW_SUCCEEDS(e);
    LAW_SUCCEEDS(s);
    LAW_SUCCEEDS(gone);
    LAW(a->data == "1" && e->data == "2" && s->data == "3");
    LAW(a->stat.owner == 0);
    LAW(e->stat.owner == r.session().id);
    LAW(!gone->has_value());
    LAW(reply->at != 0);
    LAW(a->stat.created == reply->at && a->stat.modified == reply->at);
    LAW(e->stat.created == reply->at);
    LAW(s->stat.modified == reply->at);
    LAW(s->stat.created < reply->at);
    LAW(s->stat.version == 1);
    co_return kept();
}

template <loop Loop>
task<law_report> revisions_of_sets_grow_strictly(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto& other = world.second();
    auto const s = at("/s");
    auto const made = co_await r.create(s, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    revision last = 0;
    for (int round = 0; round < 5; ++round) {
        auto& turn = round % 2 == 0 ? r : other;
        transaction t{turn.session().generation};
        t.set(s, "x");
        auto const reply = co_await turn.commit(std::move(t));
        LAW_SUCCEEDS(reply);
        LAW(!reply->refused);
        LAW(reply->at > last);
        last = reply->at;
        auto const after = co_await turn.set(s, "y");
        LAW_SUCCEEDS(after);
        LAW(after->modified > last);
        last = after->modified;
    }
    transaction without{r.session().generation};
    without.check(s);
    auto const reply = co_await r.commit(std::move(without));
    LAW_SUCCEEDS(reply);
    LAW(!reply->refused);
    LAW(reply->at == 0);
    co_return kept();
}

template <loop Loop>
task<law_report> operations_of_a_transaction_see_each_other(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const made = co_await r.create(at("/old"), "old", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const before = co_await r.exists(at("/old"));
    LAW_SUCCEEDS(before);
    LAW(before->has_value());
    transaction t{r.session().generation};
    t.create(at("/a"), "")
        .create(at("/a/b"), "0")
        .check(at("/a/b"), 0)
        .set(at("/a/b"), "1", 0)
        .check(at("/a/b"), 1)
        .remove(at("/old"))
        .create(at("/old"), "new")
        .create(at("/gone"), "")
        .remove(at("/gone"));
    auto const reply = co_await r.commit(std::move(t));
    LAW_SUCCEEDS(reply);
    LAW(!reply->refused);
    auto const b = co_await r.get(at("/a/b"));
    LAW_SUCCEEDS(b);
    LAW(b->data == "1" && b->stat.version == 1);
    auto const old = co_await r.get(at("/old"));
    LAW_SUCCEEDS(old);
    LAW(old->data == "new" && old->stat.version == 0);
    LAW(old->stat.created > (*before)->created);
    auto const gone = co_await r.exists(at("/gone"));
    LAW_SUCCEEDS(gone);
    LAW(!gone->has_value());
    co_return kept();
}

/// Every possible refusal, each after two operations that would have succeeded, and before one that would also fail.
template <loop Loop>
task<law_report> a_refused_transaction_did_nothing(world_ref<Loop>& world) {
    auto& r = world.registry();
    for (auto const* const path : {"/s", "/full", "/full/child"}) {
        auto const made = co_await r.create(at(path), "0", create_mode::persistent);
        LAW_SUCCEEDS(made);
    }
    auto const ephemeral = co_await r.create(at("/e"), "", create_mode::ephemeral);
    LAW_SUCCEEDS(ephemeral);
    auto const before = co_await r.get(at("/s"));
    LAW_SUCCEEDS(before);

    std::vector<std::pair<transaction, errc>> refusals;
    auto with = [&] { // the failing operation has index 2
        transaction t{r.session().generation};
        t.create(at("/new"), "").set(at("/s"), "changed");
        return t;
    };
    refusals.emplace_back(with().check(at("/absent")), errc::no_node);
    refusals.emplace_back(with().set(at("/absent"), ""), errc::no_node);
    refusals.emplace_back(with().remove(at("/absent")), errc::no_node);
    refusals.emplace_back(with().create(at("/absent/child"), ""), errc::no_node);
    refusals.emplace_back(with().create(at("/s"), ""), errc::node_exists);
    refusals.emplace_back(with().create(at("/new"), ""), errc::node_exists);
    refusals.emplace_back(with().check(at("/s"), 0), errc::version_conflict); // the version is 1 by now
    refusals.emplace_back(with().set(at("/s"), "", 7), errc::version_conflict);
    refusals.emplace_back(with().remove(at("/s"), 0), errc::version_conflict);
    refusals.emplace_back(with().remove(at("/full")), errc::not_empty);
    refusals.emplace_back(with().create(at("/e/child"), ""), errc::no_children_for_ephemerals);
    for (auto& [t, why] : refusals) {
        t.check(at("/absent"));
        auto const reply = co_await r.commit(std::move(t));
        LAW_SUCCEEDS(reply);
        LAW(reply->refused.has_value());
        LAW(reply->refused->operation == 2);
        LAW(reply->refused->why == why);
        LAW(reply->at == 0);
        auto const s = co_await r.get(at("/s"));
        LAW_SUCCEEDS(s);
        LAW(*s == *before);
        auto const fresh = co_await r.exists(at("/new"));
        LAW_SUCCEEDS(fresh);
        LAW(!fresh->has_value());
    }
    auto const child = co_await r.exists(at("/full/child"));
    LAW_SUCCEEDS(child);
    LAW(child->has_value());
    co_return kept();
}

template <loop Loop>
task<law_report> a_refused_transaction_uses_up_no_sequence_number(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto made = co_await r.create(at("/q"), "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    transaction t{r.session().generation};
    t.create(at("/q/n-"), "", create_mode::persistent_sequential).check(at("/absent"));
    auto const reply = co_await r.commit(std::move(t));
    LAW_SUCCEEDS(reply);
    LAW(reply->refused.has_value());
    made = co_await r.create(at("/q/n-"), "", create_mode::persistent_sequential);
    LAW_SUCCEEDS(made);
    LAW(made->str() == "/q/n-0000000000");
    co_return kept();
}

template <loop Loop>
task<law_report> a_check_asks_for_a_version_or_for_existence(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/a");
    auto const made = co_await r.create(a, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    auto const set = co_await r.set(a, "");
    LAW_SUCCEEDS(set);
    transaction right{r.session().generation};
    right.check(a, 1).check(a, any_version);
    auto reply = co_await r.commit(std::move(right));
    LAW_SUCCEEDS(reply);
    LAW(!reply->refused);
    transaction wrong{r.session().generation};
    wrong.check(a).check(a, 0);
    reply = co_await r.commit(std::move(wrong));
    LAW_SUCCEEDS(reply);
    LAW(reply->refused.has_value());
    LAW(reply->refused->operation == 1);
    LAW(reply->refused->why == errc::version_conflict);
    transaction absent{r.session().generation};
    absent.check(at("/absent"), any_version);
    reply = co_await r.commit(std::move(absent));
    LAW_SUCCEEDS(reply);
    LAW(reply->refused.has_value());
    LAW(reply->refused->operation == 0);
    LAW(reply->refused->why == errc::no_node);
    auto const after = co_await r.exists(a);
    LAW_SUCCEEDS(after);
    LAW(after->has_value());
    LAW(**after == *set); // a check changes nothing
    co_return kept();
}

template <loop Loop>
task<law_report> check_absent_refuses_what_is_there(world_ref<Loop>& world) {
    auto& r = world.registry();
    auto const a = at("/a");
    auto const s = at("/s");
    auto const made = co_await r.create(s, "", create_mode::persistent);
    LAW_SUCCEEDS(made);
    transaction passes{r.session().generation};
    passes.check_absent(a).set(s, "1");
    auto reply = co_await r.commit(std::move(passes));
    LAW_SUCCEEDS(reply);
    LAW(!reply->refused);
    auto const still = co_await r.exists(a);
    LAW_SUCCEEDS(still);
    LAW(!still->has_value());
    auto const there = co_await r.create(a, "", create_mode::ephemeral);
    LAW_SUCCEEDS(there);
    transaction refused{r.session().generation};
    refused.set(s, "2").check_absent(a);
    reply = co_await r.commit(std::move(refused));
    LAW_SUCCEEDS(reply);
    LAW(reply->refused.has_value());
    LAW(reply->refused->operation == 1);
    LAW(reply->refused->why == errc::node_exists);
    auto const after = co_await r.get(s);
    LAW_SUCCEEDS(after);
    LAW(after->data == "1");
    co_return kept();
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_REGISTRY_TRANSACTIONS_HPP
