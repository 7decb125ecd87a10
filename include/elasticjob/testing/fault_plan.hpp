// SPDX-License-Identifier: Apache-2.0
/// \file \brief The faults of a simulated cluster and their times, as a list that is made from a seed, printed and
/// parsed.
#ifndef ELASTICJOB_TESTING_FAULT_PLAN_HPP
#define ELASTICJOB_TESTING_FAULT_PLAN_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/result.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// | kind              | what happens                                                            | uses              |
/// |-------------------|-------------------------------------------------------------------------|-------------------|
/// | slow_network      | each message of the node takes up to `span` / 20                        | node, span        |
/// | partition         | no message passes between the node and the registry in either direction | node, span        |
/// | deafness          | the node's requests arrive, but no message comes back                   | node, span        |
/// | reset             | the connection breaks; messages already sent may still arrive           | node              |
/// | lose_request      | the request after the next `count` is lost before its effect            | node, count       |
/// | lose_reply        | the reply to it is lost, after its effect                               | node, count       |
/// | expire            | the server ends the node's session                                      | node              |
/// | pause             | the node's process stands still                                         | node, span        |
/// | crash             | the process dies now, and a new one starts after `span`                 | node, span        |
/// | crash_before      | dies when the request after the next `count` arrives, before its effect | node, count, span |
/// | crash_after       | the same, after its effect                                              | node, count, span |
/// | clock_jump        | the node's wall clock jumps by `span`, which may be negative            | node, span        |
/// | slow_bodies       | runs that begin within `span` take `count` times as long                | node, span, count |
/// | throwing_bodies   | runs that begin within `span` throw                                     | node, span        |
/// | hanging_bodies    | runs that begin within `span` last until its end, unless stopped        | node, span        |
/// | full_pool         | the worker pool refuses all work                                        | node, span        |
/// | join              | the node joins the job                                                  | node, job         |
/// | leave             | the node leaves the job in order                                        | node, job         |
/// | trigger           | an operator orders the job's items to run now                           | node, job         |
/// | disable           | an operator disables the node's server for the job                      | node, job         |
/// | enable            | an operator enables it again                                            | node, job         |
/// | disable_item      | an operator disables an item                                            | job, count        |
/// | enable_item       | an operator enables it again                                            | job, count        |
/// | set_items         | an operator changes the number of items                                 | job, count        |
/// | set_cron          | an operator changes the job's schedule; an even `count` restores it     | job, count        |
/// | set_failover      | an operator switches failover off; an even `count` switches it on       | job, count        |
/// | set_misfire       | the same for misfire                                                    | job, count        |
/// | remove_instance   | an operator removes the node's instance                                 | node, job         |
/// | stop_run          | an operator stops the current run of an item                            | job, count        |
/// | stale_reads       | the node reads from a follower that is up to `span` / 20 behind         | node, span        |
/// | read_only_records | the job's run records are read-only, as with an access list or a quota  | job, span         |
/// | end_scheduler     | the scheduler ends in order; another begins in its session after `span` | node, span        |
/// | suspend           | the machine sleeps: like pause, but its monotonic clock stands still    | node, span        |
/// | deploy            | the process ends in order; one of version `count` starts after `span`   | node, span, count |
enum class fault_kind : std::uint8_t {
    slow_network,
    partition,
    deafness,
    reset,
    lose_request,
    lose_reply,
    expire,
    pause,
    crash,
    crash_before,
    crash_after,
    clock_jump,
    slow_bodies,
    throwing_bodies,
    hanging_bodies,
    full_pool,
    join,
    leave,
    trigger,
    disable,
    enable,
    disable_item,
    enable_item,
    set_items,
    remove_instance,
    stop_run,
    set_cron,
    set_failover,
    set_misfire,
    stale_reads,
    read_only_records,
    end_scheduler,
    suspend,
    deploy,
};

inline constexpr std::array<std::string_view, 34> fault_names{"slow_network",
                                                              "partition",
                                                              "deafness",
                                                              "reset",
                                                              "lose_request",
                                                              "lose_reply",
                                                              "expire",
                                                              "pause",
                                                              "crash",
                                                              "crash_before",
                                                              "crash_after",
                                                              "clock_jump",
                                                              "slow_bodies",
                                                              "throwing_bodies",
                                                              "hanging_bodies",
                                                              "full_pool",
                                                              "join",
                                                              "leave",
                                                              "trigger",
                                                              "disable",
                                                              "enable",
                                                              "disable_item",
                                                              "enable_item",
                                                              "set_items",
                                                              "remove_instance",
                                                              "stop_run",
                                                              "set_cron",
                                                              "set_failover",
                                                              "set_misfire",
                                                              "stale_reads",
                                                              "read_only_records",
                                                              "end_scheduler",
                                                              "suspend",
                                                              "deploy"};

constexpr std::string_view name_of(fault_kind k) noexcept { return fault_names[static_cast<std::size_t>(k)]; }

/// One fault or command. Numbers beyond the cluster's size are taken modulo that size.
struct fault {
    std::chrono::milliseconds at{}; ///< since the beginning of the plan
    fault_kind what{};
    std::uint32_t node = 0;
    std::uint32_t job = 0;
    std::chrono::milliseconds span{};
    std::uint32_t count = 0;

    friend bool operator==(fault const&, fault const&) = default;
};

/// `12345 partition node=2 span=8000`: the time in milliseconds, the kind, and all parameters that are not 0.
std::string to_string(fault const& f);

/// Ordered by time.
using fault_plan = std::vector<fault>;

/// One line per fault.
std::string to_string(fault_plan const& plan);

namespace detail {

std::string_view take_word(std::string_view& line);

bool parse_fault(std::string_view line, fault& f);

} // namespace detail

/// Parses the output of `to_string`. Lines may also be separated by `;`, and `#` begins a comment. Errors:
/// malformed_data, with the line.
result<fault_plan> parse_fault_plan(std::string_view text);

/// The relative frequency of each kind.
struct fault_rates {
    std::array<std::uint32_t, fault_names.size()> weights{2, 4, 2, 4, 8, 8, 2,                   // network
                                                          4, 3, 4, 4, 2,                         // process
                                                          2, 2, 2, 1,                            // bodies
                                                          4, 3, 4, 3, 3, 2, 2, 3, 1, 2, 2, 2, 1, // operators
                                                          4, 2, 3, 0, 0};
    std::chrono::milliseconds mean_pause{3'000}; ///< between two faults
    std::chrono::milliseconds clock_jump_most{20'000};

    std::uint32_t& operator[](fault_kind k) noexcept { return weights[static_cast<std::size_t>(k)]; }
    std::uint32_t operator[](fault_kind k) const noexcept { return weights[static_cast<std::size_t>(k)]; }

    /// No faults of any kind, as a starting point.
    static fault_rates none();
};

/// The targets that a plan may use.
struct fault_targets {
    std::uint32_t nodes = 1;
    std::uint32_t jobs = 1;
    std::uint32_t items = 9;
};

/// A plan of the given length. The same arguments give the same plan.
fault_plan make_fault_plan(std::uint64_t seed, std::chrono::milliseconds length, fault_targets targets,
                           fault_rates const& rates = {});

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/fault_plan.ipp>
#endif
#endif // ELASTICJOB_TESTING_FAULT_PLAN_HPP
