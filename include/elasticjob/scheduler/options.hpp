// SPDX-License-Identifier: Apache-2.0
/// \file \brief The numbers that a scheduler can be given.
#ifndef ELASTICJOB_SCHEDULER_OPTIONS_HPP
#define ELASTICJOB_SCHEDULER_OPTIONS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/worker_pool.hpp>

#include <cstdint>
#include <string>

namespace elasticjob {

/// What a scheduler is told about its instance, its limits and its time-outs. Every member has a default.
struct scheduler_options {
    /// What the instances of this process call their server, an IPv4 address. Empty: the first public address of this
    /// machine's interfaces, else the last private one, as the original chooses; without any, 127.0.0.1.
    std::string server_ip{};

    /// How much this instance takes, compared with the others: for strategies that go by it, as WeightedAllocation.
    std::uint32_t instance_weight = 1;

    /// What this instance has that items may need: words with blanks between them, `gpu zone=a`. For strategies that go
    /// by labels, as LabelAllocation.
    std::string instance_labels{};

    /// The most items of a job that this instance accepts from the registry, where anybody may have written the count:
    /// an item takes some hundred bytes and some requests. More are accepted for a job whose own configuration, given
    /// to `schedule`, has more. A job beyond that is refused with invalid_config; one that runs already goes on as it
    /// was.
    std::uint32_t items_max = 1'000;

    /// How long the destructors let running items finish before they ask them to stop. They wait until all have.
    std::chrono::milliseconds drain_timeout{30'000};

    /// How long `schedule` waits for the registry.
    std::chrono::milliseconds start_timeout{15'000};

    /// How long a firing waits for somebody else to shard the job. After that it is reported, and runs by the owners of
    /// before, if there are any.
    std::chrono::milliseconds sharding_timeout{10'000};

    /// How long the first of several items that end about the same time waits for the others, so that one transaction
    /// serves all.
    std::chrono::milliseconds completion_linger{2};

    /// How long the items of a round wait for the hook before it; see execution/listeners.hpp.
    std::chrono::milliseconds round_start_timeout{30'000};

    /// How long a round may take before its end is given up.
    std::chrono::milliseconds round_end_timeout{3'600'000};

    /// The node of a server, `servers/<ip>`, that has no instance, holds nothing and was last written longer ago than
    /// this is removed by the leader. Zero: never. No server is removed while a Java member is registered.
    std::chrono::hours server_retention{24};

    /// The pool of the scheduler's own, if it is not given one.
    thread_pool_options pool{};

    /// Where the names that nobody else has come from. 0: from the machine. A simulation sets it.
    std::uint64_t seed = 0;
};

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_OPTIONS_HPP
