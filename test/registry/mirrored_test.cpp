// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/mirrored.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using one_node_registry = basic_memory_registry<virtual_loop>;

struct one_node_world {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop};
    one_node_registry writer{server};
    one_node_registry reader{server};
    event_count<virtual_loop> news{loop};
    node_path path = *node_path::parse("/node");

    void create(std::string data) {
        REQUIRE(block_on(loop, writer.create(path, std::move(data), create_mode::persistent)));
        loop.run_for(1s);
    }
    void set(std::string data) {
        REQUIRE(block_on(loop, writer.set(path, std::move(data))));
        loop.run_for(1s);
    }
    void remove() {
        REQUIRE(block_on(loop, writer.remove(path)));
        loop.run_for(1s);
    }
};

/// Its node comes and goes: a hundred times, each read finds the opposite of what the one before it found.
struct flickering_registry : one_node_registry {
    using one_node_registry::one_node_registry;
    node_path path = *node_path::parse("/node");
    int changes_left = 100;

    task<result<node>> get(node_path p, node_watch<virtual_loop>* w = nullptr) {
        if (changes_left-- > 0) (void)co_await remove(path);
        co_return co_await one_node_registry::get(std::move(p), w);
    }
    task<result<std::optional<node_stat>>> exists(node_path p, node_watch<virtual_loop>* w = nullptr) {
        if (changes_left-- > 0) (void)co_await create(path, "here", create_mode::persistent);
        co_return co_await one_node_registry::exists(std::move(p), w);
    }
};

std::string data_of(mirrored_node<one_node_registry> const& n) { return n.get() ? n.get()->data : "absent"; }

} // namespace

TEST_CASE("registry.mirrored: shows an absent, created, changed and removed node, and reports each change") {
    one_node_world w;
    mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
    CHECK_FALSE(n.is_loaded());
    CHECK(n.is_unread());
    w.loop.run_for(1s);
    CHECK(n.is_loaded());
    CHECK_FALSE(n.is_unread());
    CHECK(data_of(n) == "absent");

    auto told = w.news.edition();
    w.create("one");
    CHECK(data_of(n) == "one");
    CHECK(w.news.edition() > told);
    told = w.news.edition();
    w.set("two");
    CHECK(data_of(n) == "two");
    CHECK(w.news.edition() == told + 1);
    w.remove();
    CHECK(data_of(n) == "absent");
    CHECK(w.news.edition() > told + 1);
}

TEST_CASE("registry.mirrored: one request finds out that a rare node is absent, and one that a common node exists") {
    one_node_world w;
    auto const reads_of = [&w](node_presence presence) {
        w.server.counts() = {};
        mirrored_node<one_node_registry> n{w.reader, w.path, w.news, {.presence = presence}};
        w.loop.run_for(1s);
        return w.server.counts().reads;
    };
    CHECK(reads_of(node_presence::rare) == 1);
    CHECK(reads_of(node_presence::common) == 2);
    w.create("1");
    CHECK(reads_of(node_presence::rare) == 2);
    CHECK(reads_of(node_presence::common) == 1);

    mirrored_node<one_node_registry> n{w.reader, w.path, w.news, {.presence = node_presence::rare}};
    w.loop.run_for(1s);
    w.server.counts() = {};
    w.set("2");
    CHECK(data_of(n) == "2");
    CHECK(w.server.counts().reads == 1); // a node that is known to exist is read like an ordinary one
}

TEST_CASE("registry.mirrored: a value that is known is read only from the moment at which it is followed") {
    one_node_world w;
    w.create("1");
    w.server.counts() = {};
    node const known{"1", w.server.tree().find(w.path)->stat};
    mirrored_node<one_node_registry> n{w.reader, w.path, w.news, {.known = known}};
    CHECK(n.is_loaded());
    CHECK_FALSE(n.is_unread());
    w.loop.run_for(1s);
    w.set("2");
    CHECK(data_of(n) == "1");
    CHECK(w.server.counts().reads == 0);

    auto const told = w.news.edition();
    n.follow();
    CHECK(data_of(n) == "1"); // until it has been read
    w.loop.run_for(1s);
    CHECK(data_of(n) == "2");
    CHECK(w.news.edition() == told + 1);
    n.follow();
    w.loop.run_for(1s);
    CHECK(w.server.counts().reads == 1); // it is followed already
    w.set("3");
    n.follow(); // whatever has been read by then
    w.loop.run_for(1s);
    CHECK(data_of(n) == "3");
    CHECK(w.server.counts().reads == 2);
}

TEST_CASE("registry.mirrored: a node counts as unread from its creation until its data has been read") {
    one_node_world w;
    mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
    w.loop.run_for(1s);
    bool was_unread = false;
    REQUIRE(block_on(w.loop, w.writer.create(w.path, "1", create_mode::persistent)));
    while (!n.get()) {
        was_unread |= n.is_unread();
        w.loop.step();
    }
    CHECK(was_unread);
    CHECK_FALSE(n.is_unread());
}

TEST_CASE("registry.mirrored: the last known state stays while the connection is down, and goes on in a new session") {
    one_node_world w;
    w.create("1");
    mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
    w.loop.run_for(1s);
    w.reader.disconnect();
    w.set("2");
    CHECK(data_of(n) == "1");
    w.reader.reconnect();
    w.loop.run_for(1s);
    CHECK(data_of(n) == "2");
    w.reader.expire();
    w.loop.run_for(1s);
    w.set("3");
    CHECK(data_of(n) == "3");
}

TEST_CASE("registry.mirrored: a read whose reply is lost confirms nothing") {
    for (int lost = 0; lost < 4; ++lost) {
        CAPTURE(lost);
        one_node_world w;
        if (lost % 2 != 0) w.create("1");
        struct counting {
            std::int64_t session;
            int left;
        } filter{w.reader.session().id, lost / 2};
        w.server.set_filter({[](void* context, std::int64_t session, operation::kind const*) {
                                 auto& c = *static_cast<counting*>(context);
                                 bool const hits = session == c.session && c.left-- == 0;
                                 return hits ? request_fate::reply_lost : request_fate::served;
                             },
                             &filter});
        mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
        w.loop.run_for(5s);
        CHECK(n.is_loaded());
        if (lost % 2 != 0)
            w.set("2");
        else
            w.create("2");
        CHECK(data_of(n) == "2");
    }
}

TEST_CASE("registry.mirrored: tells of each failure to read an unchanged node, and of its end") {
    one_node_world w;
    w.create("1");
    mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
    w.loop.run_for(1s);
    for (int outage = 0; outage < 2; ++outage) {
        CAPTURE(outage);
        auto told = w.news.edition();
        w.server.set_unreadable(w.path, true);
        w.reader.expire(); // the new session reads again
        w.loop.run_for(1s);
        CHECK(n.failure());
        CHECK(w.news.edition() > told);
        told = w.news.edition();
        w.server.set_unreadable(w.path, false);
        w.loop.run_for(11s);
        CHECK_FALSE(n.failure());
        CHECK(data_of(n) == "1");
        CHECK(w.news.edition() > told);
    }
}

TEST_CASE("registry.mirrored: ends with its owner, whatever it is waiting for") {
    one_node_world w;
    w.create("1");
    for (int turns = 0; turns < 6; ++turns) {
        mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
        for (int i = 0; i < turns; ++i) w.loop.step();
    }
    auto const told = w.news.edition();
    w.set("2");
    CHECK(w.news.edition() == told);
}

TEST_CASE("registry.mirrored: one request reads a stat, whether the node exists or not") {
    one_node_world w;
    auto const before = w.server.counts().reads;
    mirrored_stat<one_node_registry> n{w.reader, w.path, w.news};
    w.loop.run_for(1s);
    CHECK(n.is_loaded());
    CHECK(n.get() == nullptr);
    CHECK(w.server.counts().reads == before + 1);
    w.create("1");
    REQUIRE(n.get());
    auto const created = n.get()->created;
    CHECK(n.get()->version == 0);
    w.set("2");
    CHECK(n.get()->version == 1);
    CHECK(n.get()->modified > created);
    CHECK(w.server.counts().reads == before + 3);
    w.remove();
    CHECK(n.get() == nullptr);
}

TEST_CASE("registry.mirrored: holds the names of children in order, and does not watch each") {
    one_node_world w;
    w.create("");
    for (int i = 9; i >= 0; --i)
        REQUIRE(block_on(w.loop, w.writer.create(w.path / std::to_string(i), "data", create_mode::persistent)));
    w.server.counts() = {};
    mirrored_names<one_node_registry> n{w.reader, w.path, w.news};
    w.loop.run_for(1s);
    REQUIRE(n.get());
    CHECK(*n.get() == node_names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    CHECK(w.server.counts().reads == 1);
    auto const told = w.news.edition();
    REQUIRE(block_on(w.loop, w.writer.set(w.path / "7", "changed")));
    w.loop.run_for(1s);
    CHECK(w.news.edition() == told);
    REQUIRE(block_on(w.loop, w.writer.remove(w.path / "7")));
    w.loop.run_for(1s);
    CHECK(w.news.edition() == told + 1);
    CHECK(*n.get() == node_names{"0", "1", "2", "3", "4", "5", "6", "8", "9"});
}

TEST_CASE("registry.mirrored: shows names under a parent that does not exist yet once it exists") {
    one_node_world w;
    struct counter : value_listener {
        counter() : value_listener{[](value_listener& self) { ++static_cast<counter&>(self).changes; }} {}
        int changes = 0;
    } counter;
    mirrored_names<one_node_registry> n{w.reader, w.path, w.news, {.listener = &counter}};
    w.loop.run_for(1s);
    CHECK(n.is_loaded());
    CHECK(n.get() == nullptr);
    CHECK(counter.changes == 0);
    w.create("");
    REQUIRE(n.get());
    CHECK(n.get()->empty());
    REQUIRE(block_on(w.loop, w.writer.create(w.path / "a", "", create_mode::persistent)));
    w.loop.run_for(1s);
    CHECK(*n.get() == node_names{"a"});
    CHECK(counter.changes == 2);
    REQUIRE(block_on(w.loop, w.writer.remove(w.path / "a")));
    w.remove();
    CHECK(n.get() == nullptr);
}

TEST_CASE("registry.mirrored: a forgotten text comes back with the next change, and not with the next session") {
    one_node_world w;
    w.create("1");
    mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
    w.loop.run_for(1s);
    n.forget_data();
    CHECK(data_of(n).empty());
    CHECK(n.get()->stat.version == 0);
    auto const told = w.news.edition();
    w.reader.expire();
    w.loop.run_for(1s);
    CHECK(data_of(n).empty());
    CHECK(w.news.edition() == told);
    w.set("2");
    CHECK(data_of(n) == "2");
}

TEST_CASE("registry.mirrored: a change right behind the reply of a read leads to one more read") {
    int changes_seen = 0;
    for (int steps = 0; steps < 8; ++steps) {
        CAPTURE(steps);
        one_node_world w;
        w.create("1");
        w.server.counts() = {};
        mirrored_node<one_node_registry> n{w.reader, w.path, w.news};
        task_scope writing;
        auto const write = [&]() -> task<> { (void)co_await w.writer.set(w.path, "2"); };
        for (int i = 0; i < steps; ++i) w.loop.step();
        writing.spawn(write());
        w.loop.run_for(1s);
        CHECK(data_of(n) == "2");
        CHECK(w.server.counts().reads <= 2);
        changes_seen += w.server.counts().reads == 2 ? 1 : 0;
    }
    CHECK(changes_seen > 0);
}

TEST_CASE("registry.mirrored: changes around the two reads of a rare node are neither lost nor read more than once") {
    for (int first = 0; first < 8; ++first)
        for (int second = 0; second < 6; ++second) {
            CAPTURE(first);
            CAPTURE(second);
            one_node_world w;
            w.create("1");
            w.server.counts() = {};
            mirrored_node<one_node_registry> n{w.reader, w.path, w.news, {.presence = node_presence::rare}};
            task_scope writing;
            auto const write = [&](std::string data) -> task<> { (void)co_await w.writer.set(w.path, data); };
            for (int i = 0; i < first; ++i) w.loop.step();
            writing.spawn(write("2"));
            for (int i = 0; i < second; ++i) w.loop.step();
            writing.spawn(write("3"));
            for (int i = 0; i < 1'000; ++i) w.loop.step();
            CHECK(data_of(n) == "3");
            CHECK(w.server.counts().reads <= 4);
        }
}

TEST_CASE("registry.mirrored: a node that comes and goes is reported, and read again later") {
    one_node_world w;
    flickering_registry r{w.server};
    mirrored_node<flickering_registry> n{r, w.path, w.news};
    w.loop.run_for(9s);
    REQUIRE(n.failure());
    CHECK(*n.failure() == errc::version_conflict);
    CHECK(w.server.counts().reads == 20);
    w.loop.run_for(60s);
    CHECK_FALSE(n.failure());
    REQUIRE(n.get());
    CHECK(n.get()->data == "here");
}
