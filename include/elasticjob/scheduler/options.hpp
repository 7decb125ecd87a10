// SPDX-License-Identifier: Apache-2.0
/// \file \brief The options of a scheduler.
#ifndef ELASTICJOB_SCHEDULER_OPTIONS_HPP
#define ELASTICJOB_SCHEDULER_OPTIONS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/host_name.hpp>
#include <elasticjob/core/worker_pool.hpp>

#include <cstdint>
#include <string>

namespace elasticjob {

/// The identity, the limits and the time-outs of a scheduler's instances. Every member has a default.
struct scheduler_options {
    /// The server of this process's instances, an IPv4 address. Empty: the first public address of this machine's
    /// interfaces, or else the last private one, as in 2.1.5, or else 127.0.0.1.
    std::string server_ip{};

    /// The host name that `list_servers` and the console show for this server. An instance that joins a job writes it
    /// to `ext/hosts/<ip>`. Default: the name of this machine. Nothing is written if it is empty, longer than 255
    /// characters, or has characters other than visible ASCII ones.
    std::string host_name = find_host_name();

    /// The instance's share of the items, compared with other instances, for strategies that use weights, such as
    /// WeightedAllocation.
    std::uint32_t instance_weight = 1;

    /// The labels of this instance, which items may need: words separated by blanks, `gpu zone=a`. For strategies that
    /// use labels, such as LabelAllocation.
    std::string instance_labels{};

    /// The maximum number of items and of item parameters of a job that this instance accepts from the registry, in
    /// which other programs may have written them: an item takes some hundred bytes and some requests. If the
    /// configuration given to `schedule` has more, that number is the limit. A job with more items is refused with
    /// invalid_config; a job that already runs continues unchanged.
    std::uint32_t items_max = 1'000;

    /// How long the destructors let running items finish before they ask them to stop. Then they wait until all have
    /// ended.
    std::chrono::milliseconds drain_timeout{30'000};

    /// How long `schedule` waits for the registry; a handle's `pause`, `resume` and `reschedule` too.
    std::chrono::milliseconds start_timeout{15'000};

    /// How long a firing waits for another instance to shard the job. After that this is reported, and the former
    /// owners, if any, run the items.
    std::chrono::milliseconds sharding_timeout{10'000};

    /// How long before its due instant a run is put on record, at most 1 s. Its body waits for the instant, so it need
    /// not wait for the registry afterwards. A change in this time, such as a pause, comes too late for that instant.
    /// No effect on jobs that are not monitored, that follow other jobs, or that have Java members.
    std::chrono::milliseconds start_ahead{0};

    /// How long the end of a run waits for the ends of others, so that one transaction records them together.
    std::chrono::milliseconds completion_linger{2};

    /// How long the items of a round wait for the hook before it; see execution/listeners.hpp.
    std::chrono::milliseconds round_start_timeout{30'000};

    /// How long a round may take. After that the library no longer waits for its end.
    std::chrono::milliseconds round_end_timeout{3'600'000};

    /// The leader removes the node of a server, `servers/<ip>`, if it has no instance, is empty and was last written
    /// longer ago than this. Zero: never. No such node is removed while a Java member is registered.
    std::chrono::hours server_retention{24};

    /// The options of the scheduler's own pool, if no pool is given.
    thread_pool_options pool{};

    /// The seed of random names. 0: seeded by the machine. Only a simulation may set it: two processes with the same
    /// address and seed would have the same ids.
    std::uint64_t seed = 0;
};

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_OPTIONS_HPP
