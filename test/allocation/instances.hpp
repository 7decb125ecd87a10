// SPDX-License-Identifier: Apache-2.0
/// \file \brief Instance lists and requests for the tests of this folder.
#ifndef ELASTICJOB_TEST_ALLOCATION_INSTANCES_HPP
#define ELASTICJOB_TEST_ALLOCATION_INSTANCES_HPP

#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Strategies that ignore the ids accept empty ones, so a request can be a constant.
inline elasticjob::instance_id const nameless_instances[1000];

constexpr elasticjob::sharding_request request_for(std::uint32_t instances, std::uint32_t items,
                                                   std::string_view job = "test_job") {
    return {.job_name = job, .instances = std::span{nameless_instances}.first(instances), .item_count = items};
}

/// `10.0.0.1@-@1` and so on, in ElasticJob's order.
inline std::vector<elasticjob::instance_id> named_instances(std::uint32_t count) {
    std::vector<elasticjob::instance_id> ids;
    for (std::uint32_t i = 1; i <= count; ++i)
        ids.push_back(elasticjob::instance_id::parse("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) +
                                                     "@-@" + std::to_string(i))
                          .value());
    std::ranges::sort(ids, std::greater<>{});
    return ids;
}

inline std::vector<elasticjob::instance_id> without(std::vector<elasticjob::instance_id> ids, std::size_t which) {
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(which));
    return ids;
}

/// The owners of all items.
template <elasticjob::allocation A>
std::vector<elasticjob::slot_index> owners_of(A const& a) {
    std::vector<elasticjob::slot_index> owners;
    for (elasticjob::item_index item = 0; item != a.items(); ++item) owners.push_back(a.owner(item));
    return owners;
}

/// The number of items of each slot.
template <elasticjob::allocation A>
std::vector<std::uint32_t> shares_of(A const& a) {
    std::vector<std::uint32_t> shares(a.instances());
    for (auto const owner : owners_of(a))
        if (owner < shares.size()) ++shares[owner];
    return shares;
}

/// A random request with every optional part: a strategy must cope with each.
struct random_request {
    std::vector<elasticjob::instance_id> instances;
    std::vector<elasticjob::slot_index> owners;
    std::vector<elasticjob::run> runs;
    std::vector<std::string> labels;
    std::vector<elasticjob::instance_traits> traits;
    std::vector<elasticjob::item_need> needs;
    std::string job;
    elasticjob::sharding_request request;

    random_request(std::mt19937& random, std::uint32_t n, std::uint32_t m) : instances{named_instances(n)} {
        job = "job-" + std::to_string(random() % 100);
        // Some have left, some items are new, and some items have been cut off.
        auto const known = random() % 4 == 0 ? 0 : static_cast<std::uint32_t>(random() % (m + m / 4 + 2));
        auto const stretch = random() % 2 == 0 ? 1 : 1 + static_cast<std::uint32_t>(random() % 8);
        for (std::uint32_t i = 0; i != known; ++i) {
            auto const owner = static_cast<elasticjob::slot_index>(random() % (n + 1));
            owners.push_back(i % stretch != 0 ? owners.back() : owner == n ? elasticjob::no_slot : owner);
        }
        request = {.job_name = job, .instances = instances, .item_count = m};
        if (random() % 2 == 0) {
            request.previous_owners = owners;
        } else {
            for (std::uint32_t i = 0; i != known; ++i) {
                if (runs.empty() || runs.back().owner != owners[i]) runs.push_back({i, owners[i]});
                runs.back().end = i + 1;
            }
            request.previous_runs = runs;
        }
        if (random() % 4 != 0) {
            for (std::uint32_t i = 0; i != n; ++i) labels.push_back(random_labels(random));
            for (std::uint32_t i = 0; i != n; ++i)
                traits.push_back({static_cast<std::uint32_t>(random() % 4), labels[i]});
            for (std::uint32_t begin = 0; begin < m;) {
                auto const end = begin + 1 + static_cast<std::uint32_t>(random() % 5);
                static constexpr std::string_view sets[]{"", "a", "b", "a b", "c", "b a"};
                if (random() % 2 == 0) needs.push_back({begin, end, sets[random() % 6]});
                begin = end;
            }
            request.traits = traits;
            request.needs = needs;
        }
    }
    random_request(random_request const&) = delete;
    random_request& operator=(random_request const&) = delete;

private:
    static std::string random_labels(std::mt19937& random) {
        std::string text;
        for (char const* const one : {"a", "b", "c"})
            if (random() % 2 == 0) text += (text.empty() ? "" : " ") + std::string{one};
        return text;
    }
};

#endif // ELASTICJOB_TEST_ALLOCATION_INSTANCES_HPP
