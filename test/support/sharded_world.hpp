// SPDX-License-Identifier: Apache-2.0
/// \file \brief A job with instances and a leader, and the effects of a leader of ours and of a Java leader on its
/// items.
#ifndef ELASTICJOB_TEST_SUPPORT_SHARDED_WORLD_HPP
#define ELASTICJOB_TEST_SUPPORT_SHARDED_WORLD_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/sharding/item_claim.hpp>
#include <elasticjob/sharding/resharder.hpp>

#include <support/job_world.hpp>

#include <memory>
#include <stdexcept>

namespace elasticjob::test {

inline instance_id id_of(int n) {
    return instance_id::parse("10.0.0." + std::to_string(n) + "@-@" + std::to_string(n) + "-x").value();
}

/// Instance 1 leads, with session `one`.
struct sharded_world : job_world {
    using view_type = job_view<session_type>;

    event_count<virtual_loop> news{loop};
    std::unique_ptr<view_type> view;   ///< the leader's
    std::unique_ptr<view_type> second; ///< instance 2's
    resharder<session_type> leader{one, at, detail::strategy_ref::of<AverageAllocation>()};

    explicit sharded_world(int instances = 2, memory_server_options o = {}) : job_world{o} {
        create(at.config(), "c");
        create(at.sharding_necessary());
        create(at.election_latch());
        create_as(one, at.leader_instance(), id_of(1).str(), create_mode::ephemeral);
        for (int n = 1; n <= instances; ++n) join(n, n == 1 ? one : two);
        post(loop, [this] {
            view = std::make_unique<view_type>(one, at, id_of(1), news);
            second = std::make_unique<view_type>(two, at, id_of(2), news);
        });
        loop.run_ready();
    }
    ~sharded_world() {
        view.reset();
        second.reset();
    }

    void join(int n, session_type& r) {
        create_as(r, at.instance(id_of(n)), {}, create_mode::ephemeral);
        if (!has(at.server(id_of(n).server()))) create(at.server(id_of(n).server()));
    }

    sharding_basis basis(std::uint32_t count) const {
        return {one.session().generation, "settle", count, view->config()->stat.version, view->available_instances()};
    }
    result<sharding_report> shard(std::uint32_t count) { return shard(basis(count)); }
    result<sharding_report> shard(sharding_basis b) {
        auto done = wait_for(leader.shard(*view, std::move(b)));
        loop.run_for(1s);
        return done;
    }
    result<item_claim> claim(int n, std::uint32_t count, std::chrono::milliseconds patience = 0ms) {
        auto done = wait_for(claim_items(n == 1 ? one : two, n == 1 ? *view : *second, at, id_of(n), count,
                                         loop.now() + patience));
        return done;
    }
    static std::vector<item_index> items(item_claim const& c) {
        std::vector<item_index> all;
        for (auto const& s : c.shares) all.push_back(s.item);
        return all;
    }

    // The actions of a Java leader, one request after another.

    void java_begins() { create_as(by_hand, at.sharding_processing(), {}, create_mode::ephemeral); }
    void java_clears(item_index i) {
        if (has(at.item_instance(i))) remove(at.item_instance(i));
        if (!has(at.item(i))) create(at.item(i));
    }
    void java_commits(std::vector<std::string> const& owners) {
        transaction t{by_hand.session().generation};
        for (item_index i = 0; i < owners.size(); ++i) t.create(at.item_instance(i), owners[i]);
        if (has(at.sharding_necessary())) t.remove(at.sharding_necessary());
        t.remove(at.sharding_processing());
        expect_success(wait_for(by_hand.commit(std::move(t))).value());
    }
    void java_shards(std::vector<std::string> const& owners) {
        java_begins();
        for (item_index i = 0; i < owners.size(); ++i) java_clears(i);
        java_commits(owners);
    }

private:
    static void expect_success(commit_reply const& r) {
        if (!r) throw std::logic_error{"the test's own transaction was refused"};
    }
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_SHARDED_WORLD_HPP
