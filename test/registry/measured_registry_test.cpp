// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/measured_registry.hpp>

#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

node_path at(char const* text) { return node_path::parse(text).value(); }

struct meter {
    void operator()(registry_request const& r) const {
        told->push_back(std::string{name_of(r.what)} + " " + std::string{r.outcome});
        took->push_back(r.took);
    }
    std::vector<std::string>* told;
    std::vector<std::chrono::nanoseconds>* took;
};

/// A registry whose answers to `get` take two seconds.
struct slow_registry : basic_memory_registry<virtual_loop> {
    using base = basic_memory_registry<virtual_loop>;
    using base::base;
    task<result<node>> get(node_path path, node_watch<virtual_loop>* w = nullptr) {
        co_await sleep_until(loop(), loop().now() + 2s);
        co_return co_await base::get(path, w);
    }
};

struct world {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop};
    slow_registry inner{server};
    std::vector<std::string> told;
    std::vector<std::chrono::nanoseconds> took;
    MeasuredRegistry<slow_registry, meter> measured{inner, meter{&told, &took}};
};

} // namespace

TEST_CASE("registry.measured: each request is reported once, with its outcome") {
    world w;
    auto& r = w.measured;
    auto const g = r.session().generation;
    CHECK(block_on(w.loop, r.create(at("/a"), "1", create_mode::persistent)));
    CHECK_FALSE(block_on(w.loop, r.create(at("/a"), "2", create_mode::persistent)));
    CHECK(block_on(w.loop, r.set(at("/a"), "3", 0)));
    CHECK_FALSE(block_on(w.loop, r.set(at("/a"), "4", 0)));
    CHECK(block_on(w.loop, r.get(at("/a"))).value().data == "3");
    CHECK_FALSE(block_on(w.loop, r.get(at("/b"))));
    CHECK(block_on(w.loop, r.exists(at("/b"))));
    CHECK(block_on(w.loop, r.children(at("/"))).value() == std::vector<std::string>{"a"});
    CHECK(block_on(w.loop, r.commit(transaction{g}.check(at("/a")))));
    CHECK(block_on(w.loop, r.commit(transaction{g}.check(at("/b"))))); // a refusal is not an error
    CHECK(block_on(w.loop, r.remove(at("/a"))));
    w.inner.disconnect();
    CHECK_FALSE(block_on(w.loop, r.commit(transaction{g}.check(at("/a")))));
    CHECK(w.told == std::vector<std::string>{"create success", "create node_exists", "set success", "set version_conflict",
                                             "get success", "get no_node", "exists success", "children success",
                                             "commit success", "commit refused", "remove success", "commit not_sent"});
}

TEST_CASE("registry.measured: the loop's clock measures a request until it ends or is given up") {
    world w;
    (void)block_on(w.loop, w.measured.get(at("/a")));
    (void)block_on(w.loop, w.measured.exists(at("/a")));
    (void)block_on(w.loop, within(w.loop, w.loop.now() + 500ms, w.measured.get(at("/a"))));
    CHECK(w.told == std::vector<std::string>{"get no_node", "exists success", "get abandoned"});
    CHECK(w.took == std::vector<std::chrono::nanoseconds>{2s, 0s, 500ms});
    {
        auto const never_begun = w.measured.get(at("/a"));
        (void)never_begun;
    }
    CHECK(w.told.size() == 3);
}

TEST_CASE("registry.measured: requests are passed on unchanged") {
    world w;
    auto& r = w.measured;
    CHECK(&r.loop() == &w.inner.loop());
    CHECK(&r.session_changed() == &w.inner.session_changed());
    CHECK(r.limits().request_bytes_max == w.inner.limits().request_bytes_max);
    w.inner.expire();
    CHECK(r.session().generation == session_generation{2});
    CHECK(block_on(w.loop, r.create(at("/e"), "", create_mode::ephemeral)));
    CHECK(block_on(w.loop, r.exists(at("/e"))).value()->owner == r.session().id);
    CHECK(block_on(w.loop, r.set(at("/e"), "", any_version, session_generation{1})).error() == errc::session_lost);
    CHECK(block_on(w.loop, r.remove(at("/e"), 7)).error() == errc::version_conflict);
    CHECK(block_on(w.loop, r.remove(at("/e"), any_version, session_generation{1})).error() == errc::session_lost);
    CHECK(block_on(w.loop, r.create(at("/f"), "", create_mode::persistent, session_generation{1})).error() ==
          errc::session_lost);
}
