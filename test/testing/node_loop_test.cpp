// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/testing/node_loop.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_count.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

struct fixture {
    virtual_loop world{wall_time{1'767'225'600s}};
    testing::node_loop one{world}, two{world};
    std::string log;
    task_scope scope; ///< first to go

    task<> tick(testing::node_loop& l, char name, std::chrono::milliseconds every, int times) {
        for (; times > 0; --times) {
            auto const due = l.now() + every;
            co_await sleep_until(l, due);
            log += name;
        }
    }
};

} // namespace

TEST_CASE("testing.node_loop: processes share the time and take turns") {
    fixture f;
    f.scope.spawn(f.tick(f.one, 'a', 2s, 3));
    f.scope.spawn(f.tick(f.two, 'b', 3s, 2));
    f.world.run_for(6s);
    CHECK(f.log == "ababa");
    for (int i = 0; i < 3; ++i) {
        post(f.one, [&] { f.log += '1'; });
        post(f.two, [&] { f.log += '2'; });
    }
    f.world.run_ready();
    CHECK(f.log == "ababa121212");
}

TEST_CASE("testing.node_loop: a paused process runs nothing, and overdue work runs when it is resumed") {
    fixture f;
    f.scope.spawn(f.tick(f.one, 'a', 1s, 3));
    f.scope.spawn(f.tick(f.two, 'b', 1s, 3));
    post(f.one, [&] { f.log += '1'; });
    f.one.pause();
    f.world.run_for(10s);
    CHECK(f.log == "bbb");
    f.one.resume();
    f.world.run_ready();
    CHECK(f.log == "bbb1a");
    f.world.run_for(2s);
    CHECK(f.log == "bbb1aaa");
    f.one.pause();
    f.one.pause();
    post(f.one, [&] { f.log += '1'; });
    f.one.resume();
    f.one.resume();
    f.world.run_ready();
    CHECK(f.log == "bbb1aaa1");
}

TEST_CASE("testing.node_loop: while a machine is suspended only its monotonic time stands still") {
    fixture f;
    auto const begin = f.one.now();
    f.scope.spawn(f.tick(f.one, 'a', 5s, 1));
    f.world.run_for(2s);
    f.one.suspend();
    f.world.run_for(1h);
    CHECK(f.one.now() == begin + 2s);
    CHECK(f.one.boot_now() == begin + 2s + 1h);
    CHECK(f.one.wall_now() == f.two.wall_now());
    CHECK(f.log.empty());
    std::chrono::seconds paused{0};
    SUBCASE("resumed") {}
    SUBCASE("paused in between, which is not a suspension") {
        f.one.pause();
        f.world.run_for(1s);
        CHECK(f.one.now() == begin + 3s);
        paused = 1s;
    }
    f.one.resume();
    f.world.run_for(3s - paused - 1ns);
    CHECK(f.log.empty());
    f.world.run_for(1ns);
    CHECK(f.log == "a");
}

TEST_CASE("testing.node_loop: a killed process does nothing more, and its coroutines can be destroyed") {
    fixture f;
    auto token = std::make_shared<int>();
    f.scope.spawn(f.tick(f.one, 'a', 1s, 3));
    post(f.one, [&f, token] { f.log += '1'; });
    f.one.kill();
    CHECK(token.use_count() == 1); // discarded at once
    post(f.one, [&f, token] { f.log += '1'; });
    CHECK(token.use_count() == 1);
    f.one.resume();
    f.world.run_for(10s);
    CHECK(f.log.empty());
    CHECK(f.one.is_killed());
}

TEST_CASE("testing.node_loop: a process may end within a step") {
    fixture f;
    post(f.one, [&] {
        f.one.kill();
        f.log += '1';
    });
    post(f.one, [&] { f.log += '2'; });
    f.world.run_for(1s);
    CHECK(f.log == "1");
}

TEST_CASE("testing.node_loop: a blocking call waits while the process is paused, and gives up when it is killed") {
    fixture f;
    auto nap = [](testing::node_loop& l) -> task<result<void>> {
        auto const due = l.now() + 5s;
        co_await sleep_until(l, due);
        co_return success();
    };
    struct at_3s : timer {
        explicit at_3s(fixture& x, void (*f)(fixture&)) : timer{&ring}, f_{x}, act{f} {
            x.world.arm(*this, x.world.now() + 3s);
        }
        static void ring(timer& t) {
            auto& self = static_cast<at_3s&>(t);
            self.act(self.f_);
        }
        fixture& f_;
        void (*act)(fixture&);
    };
    auto const begin = f.world.now();
    CHECK(block_on(f.one, nap(f.one)));
    CHECK(f.world.now() - begin == 5s);

    f.one.pause();
    at_3s const resume{f, [](fixture& x) { x.one.resume(); }};
    CHECK(block_on(f.one, nap(f.one)));
    CHECK(f.world.now() - begin == 13s); // it began when the process was resumed

    at_3s const kill{f, [](fixture& x) { x.one.kill(); }};
    CHECK(block_on(f.one, nap(f.one)).error() == errc::timed_out);
    CHECK(f.world.now() - begin == 16s);
    CHECK(block_on(f.one, nap(f.one)).error() == errc::timed_out);
}

TEST_CASE("testing.node_loop: each process has its own wall clock") {
    fixture f;
    f.one.set_wall_offset(-1h);
    CHECK(f.two.wall_now() - f.one.wall_now() == 1h);
    CHECK(f.one.now() == f.two.now());
    f.world.run_for(1s);
    CHECK(f.one.wall_now() == f.world.wall_now() - 1h);
}
