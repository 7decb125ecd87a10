// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/gather.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <integration/zk_lab.hpp>

#include <cstddef>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE("ZkRegistry: ephemeral nodes have a budget, because the end of a session must fit into one transaction") {
    shared_zk_server server;
    auto options = to(server);
    auto other = connected(options);
    std::string const stem = "/" + std::string(1000, 'e');
    {
        auto r = connected(options);
        on_loop(r.loop(), [&]() -> task<> {
            std::vector<task<result<node_path>>> creations;
            for (int n = 0; n < 1000; ++n)
                creations.push_back(r.create(at(stem + std::to_string(n)), {}, create_mode::ephemeral));
            auto const made = co_await gather(r.loop(), std::move(creations));
            std::size_t made_count = 0, refused = 0;
            for (auto const& m : made) {
                made_count += m.has_value();
                refused += !m && m.error() == errc::too_large;
            }
            CHECK(made_count + refused == 1000);
            CHECK(made_count > 880);
            CHECK(made_count < 900);

            transaction start{r.session().generation};
            start.create(at("/plain"), {}).create(at(stem + "one more"), {}, create_mode::ephemeral);
            auto const reply = co_await r.commit(std::move(start));
            REQUIRE(!reply);
            CHECK(reply.error() == errc::too_large);
            auto const plain = co_await r.exists(at("/plain"));
            CHECK((plain && !*plain)); // nothing of it was sent

            auto const removed = co_await r.remove(at(stem + "0"));
            REQUIRE_MESSAGE(removed.has_value(), to_string(removed.error()));
            auto const again = co_await r.create(at(stem + "one more"), {}, create_mode::ephemeral);
            CHECK(again.has_value());
        });
    }
    on_loop(other.loop(), [&]() -> task<> { // the session ends, so the server could write that transaction
        co_await until_exists(other, at(stem + "one more"), false);
        auto const left = co_await other.children(node_path{});
        REQUIRE(left.has_value());
        for (auto const& name : *left) CHECK(name.size() < 1000);
    });
}
