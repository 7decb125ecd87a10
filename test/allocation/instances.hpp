// SPDX-License-Identifier: Apache-2.0
/// \file \brief Instance lists and requests for the tests of this folder.
#ifndef ELASTICJOB_TEST_ALLOCATION_INSTANCES_HPP
#define ELASTICJOB_TEST_ALLOCATION_INSTANCES_HPP

#include <elasticjob/allocation/strategy.hpp>

#include <cstdint>
#include <span>
#include <string_view>

/// No strategy here looks at the ids, so they may all be empty, and a request may be a constant.
inline elasticjob::instance_id const nameless_instances[1000];

constexpr elasticjob::sharding_request request_for(std::uint32_t instances, std::uint32_t items,
                                                   std::string_view job = "test_job") {
    return {.job_name = job, .instances = std::span{nameless_instances}.first(instances), .item_count = items};
}

#endif // ELASTICJOB_TEST_ALLOCATION_INSTANCES_HPP
