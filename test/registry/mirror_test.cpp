// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/mirror.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using registry_type = basic_memory_registry<virtual_loop>;
using mirror_type = mirror<registry_type>;

/// Records a mirror's notifications: `+a=data`, `*a=data`, `-a=last data`.
struct diary : change_listener {
    diary() : change_listener{&write} {}
    static void write(change_listener& self, node_change const& c) {
        constexpr char const* signs[] = {"+", "*", "-"};
        static_cast<diary&>(self).lines.push_back(signs[static_cast<int>(c.what)] + std::string{c.path} + "=" +
                                                  c.value.data);
    }
    std::vector<std::string> take() { return std::exchange(lines, {}); }
    std::vector<std::string> lines;
};

using lines = std::vector<std::string>;

struct world {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop};
    registry_type writer{server};
    registry_type reader{server};
    event_count<virtual_loop> news{loop};
    diary told;
    node_path root = *node_path::parse("/root");

    void create(node_path const& path, std::string data, create_mode mode = create_mode::persistent) {
        REQUIRE(block_on(loop, writer.create(path, std::move(data), mode)));
        loop.run_for(1s);
    }
    void set(node_path const& path, std::string data) {
        REQUIRE(block_on(loop, writer.set(path, std::move(data))));
        loop.run_for(1s);
    }
    void remove(node_path const& path) {
        REQUIRE(block_on(loop, writer.remove(path)));
        loop.run_for(1s);
    }
};

} // namespace

TEST_CASE("registry.mirror: shows a root that is absent, created, changed and removed, and reports this in order") {
    world w;
    mirror_type m{w.reader, w.root, mirror_scope::root_only(), w.news, &w.told};
    CHECK_FALSE(m.is_loaded());
    w.loop.run_for(1s);
    CHECK(m.is_loaded());
    CHECK(m.root() == nullptr);
    CHECK(w.told.take().empty());

    w.create(w.root, "one");
    REQUIRE(m.root());
    CHECK(m.root()->data == "one");
    w.set(w.root, "two");
    w.remove(w.root);
    CHECK(m.root() == nullptr);
    CHECK(w.told.take() == lines{"+=one", "*=two", "-=two"});
}

TEST_CASE("registry.mirror: reports a node that was recreated between two reads as removed and added") {
    world w;
    w.create(w.root, "first");
    mirror_type m{w.reader, w.root, mirror_scope::root_only(), w.news, &w.told};
    w.loop.run_for(1s);
    w.reader.disconnect(); // the mirror sees the changes from here on as one
    REQUIRE(block_on(w.loop, w.writer.remove(w.root)));
    REQUIRE(block_on(w.loop, w.writer.create(w.root, "second", create_mode::persistent)));
    w.reader.reconnect();
    w.loop.run_for(1s);
    CHECK(w.told.take() == lines{"+=first", "-=first", "+=second"});
}

TEST_CASE("registry.mirror: keeps the new children of a node that was recreated with them between two reads") {
    world w;
    w.create(w.root, "1");
    w.create(w.root / "a", "1");
    w.create(w.root / "b", "1");
    mirror_type m{w.reader, w.root, mirror_scope::children(), w.news, &w.told};
    w.loop.run_for(1s);
    w.told.take();
    transaction t{session_generation::current()};
    t.remove(w.root / "a").remove(w.root / "b").remove(w.root).create(w.root, "2").create(w.root / "a", "2");
    REQUIRE(block_on(w.loop, w.writer.commit(std::move(t))));
    w.loop.run_for(1s);
    CHECK(m.nodes().size() == 2);
    CHECK(w.told.take() == lines{"-a=1", "+a=2", "-b=1", "-=1", "+=2"});
    REQUIRE(m.find("a"));
    CHECK(m.find("a")->data == "2");
    w.set(w.root / "a", "3");
    CHECK(m.find("a")->data == "3");
}

TEST_CASE("registry.mirror: holds the children with their data, as deep as asked") {
    world w;
    w.create(w.root, "");
    w.create(w.root / "b", "2");
    w.create(w.root / "a", "1");
    w.create(w.root / "a" / "below", "deep");
    diary deep_told;
    mirror_type children{w.reader, w.root, mirror_scope::children(), w.news, &w.told};
    mirror_type subtree{w.reader, w.root, mirror_scope::subtree(), w.news, &deep_told};
    w.loop.run_for(1s);
    CHECK(children.is_loaded());
    CHECK(w.told.take() == lines{"+=", "+a=1", "+b=2"});
    CHECK(deep_told.take() == lines{"+=", "+a=1", "+b=2", "+a/below=deep"});
    CHECK(children.find("a")->data == "1");
    CHECK(children.find("a/below") == nullptr);
    CHECK(subtree.find("a/below")->data == "deep");

    w.set(w.root / "b", "3");
    w.remove(w.root / "a" / "below");
    w.remove(w.root / "a");
    w.create(w.root / "c", "4");
    CHECK(w.told.take() == lines{"*b=3", "-a=1", "+c=4"});
    CHECK(deep_told.take() == lines{"*b=3", "-a/below=deep", "-a=1", "+c=4"});
}

TEST_CASE("registry.mirror: keeps its last state while the connection is down, and shows the latest state afterwards") {
    world w;
    w.create(w.root, "");
    w.create(w.root / "a", "1");
    mirror_type m{w.reader, w.root, mirror_scope::children(), w.news, &w.told};
    w.loop.run_for(1s);
    w.told.take();

    w.reader.disconnect();
    w.set(w.root / "a", "2");
    w.remove(w.root / "a");
    w.create(w.root / "b", "3");
    CHECK(m.find("a")->data == "1");
    CHECK(w.told.take().empty());
    w.reader.reconnect();
    w.loop.run_for(1s);
    CHECK(m.find("a") == nullptr);
    CHECK(m.find("b")->data == "3");
    CHECK(w.told.take() == lines{"-a=1", "+b=3"});
}

TEST_CASE("registry.mirror: continues with a new session") {
    world w;
    w.create(w.root, "1");
    mirror_type m{w.reader, w.root, mirror_scope::root_only(), w.news, &w.told};
    w.loop.run_for(1s);
    w.reader.expire();
    w.loop.run_for(1s);
    w.set(w.root, "2");
    CHECK(w.told.take() == lines{"+=1", "*=2"});
}

TEST_CASE("registry.mirror: tells of each failure to read an unchanged node, and of its end") {
    world w;
    w.create(w.root, "1");
    w.create(w.root / "a", "2");
    mirror_type m{w.reader, w.root, mirror_scope::children(), w.news, &w.told};
    w.loop.run_for(1s);
    w.told.take();
    for (int outage = 0; outage < 2; ++outage) {
        CAPTURE(outage);
        auto told = w.news.edition();
        w.server.set_unreadable(w.root / "a", true);
        w.reader.expire(); // the new session reads again
        w.loop.run_for(1s);
        CHECK(m.failure());
        CHECK(w.news.edition() > told);
        told = w.news.edition();
        w.server.set_unreadable(w.root / "a", false);
        w.loop.run_for(11s);
        CHECK_FALSE(m.failure());
        CHECK(w.news.edition() > told);
    }
    CHECK(w.told.take().empty());
}

TEST_CASE("registry.mirror: a read whose reply is lost confirms nothing") {
    // Whichever of the first replies is lost, the mirror ends up with the registry's state.
    for (int lost = 0; lost < 6; ++lost) {
        CAPTURE(lost);
        world w;
        w.create(w.root, "");
        w.create(w.root / "a", "1");
        struct counting {
            std::int64_t session;
            int left;
        } filter{w.reader.session().id, lost};
        w.server.set_filter({[](void* context, std::int64_t session, operation::kind const*) {
                                 auto& c = *static_cast<counting*>(context);
                                 bool const hits = session == c.session && c.left-- == 0;
                                 return hits ? request_fate::reply_lost : request_fate::served;
                             },
                             &filter});
        mirror_type m{w.reader, w.root, mirror_scope::children(), w.news, &w.told};
        w.loop.run_for(5s);
        w.set(w.root / "a", "2");
        w.create(w.root / "b", "3");
        w.loop.run_for(5s);
        CHECK(m.is_loaded());
        REQUIRE(m.find("a"));
        CHECK(m.find("a")->data == "2");
        CHECK(m.find("b"));
    }
}

TEST_CASE("registry.mirror: ends with its owner, whatever it is waiting for") {
    world w;
    w.create(w.root, "");
    for (int turns = 0; turns < 8; ++turns) {
        mirror_type m{w.reader, w.root, mirror_scope::subtree(), w.news, &w.told};
        for (int i = 0; i < turns; ++i) w.loop.step();
    }
    w.told.take();
    w.set(w.root, "later");
    CHECK(w.told.take().empty());
}
