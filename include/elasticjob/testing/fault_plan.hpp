// SPDX-License-Identifier: Apache-2.0
/// \file \brief What happens to a simulated cluster and when: a list that is made from a seed, printed, and read back.
#ifndef ELASTICJOB_TESTING_FAULT_PLAN_HPP
#define ELASTICJOB_TESTING_FAULT_PLAN_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/result.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// | kind            | what happens                                                                   | uses             |
/// |-----------------|--------------------------------------------------------------------------------|------------------|
/// | slow_network    | each message of the node takes up to `span` / 20                               | node, span       |
/// | partition       | nothing passes between the node and the registry, either way                   | node, span       |
/// | deafness        | the node's requests arrive, and nothing comes back                             | node, span       |
/// | reset           | the connection breaks; what was sent may still arrive                          | node             |
/// | lose_request    | the request after the next `count` is lost before its effect                   | node, count      |
/// | lose_reply      | the reply to it is lost, after its effect                                      | node, count      |
/// | expire          | the server gives the node's session up                                         | node             |
/// | pause           | nothing of the node runs                                                       | node, span       |
/// | crash           | the process dies now, and starts anew after `span`                             | node, span       |
/// | crash_before    | it dies when the request after the next `count` arrives, before its effect     | node, count, span |
/// | crash_after     | the same, after its effect                                                     | node, count, span |
/// | clock_jump      | the node's wall clock jumps by `span`, which may be negative                   | node, span       |
/// | slow_bodies     | runs that begin within `span` take `count` times as long                       | node, span, count |
/// | throwing_bodies | runs that begin within `span` throw                                            | node, span       |
/// | hanging_bodies  | runs that begin within `span` last until it is over, if nobody stops them      | node, span       |
/// | full_pool       | the worker pool takes nothing                                                  | node, span       |
/// | join            | the node joins the job                                                         | node, job        |
/// | leave           | the node leaves the job in order                                               | node, job        |
/// | trigger         | an operator has the job's items run now                                        | node, job        |
/// | disable         | an operator takes the node's server out of the job                             | node, job        |
/// | enable          | and back in                                                                    | node, job        |
/// | disable_item    | an operator takes an item out                                                  | job, count       |
/// | enable_item     | and back in                                                                    | job, count       |
/// | set_items       | an operator changes the number of items                                        | job, count       |
/// | set_cron        | an operator gives the job another schedule; an even `count`: its own again       | job, count       |
/// | set_failover    | an operator switches failover off; an even `count`: on                         | job, count       |
/// | set_misfire     | the same with misfire                                                          | job, count       |
/// | remove_instance | an operator removes the node's instance                                        | node, job        |
/// | stop_run        | an operator has the run of an item stop that is going on                       | job, count       |
/// | stale_reads     | the node reads from a follower that is up to `span` / 20 behind                | node, span       |
/// | read_only_records | nobody may write the job's run records: an access list, a quota               | job, span        |
/// | end_scheduler   | the scheduler ends in order; after `span` another begins in the same session   | node, span       |
/// | suspend         | the machine sleeps: as pause, and its monotonic clock stands still             | node, span       |
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
};

inline constexpr std::array<std::string_view, 33> fault_names{"slow_network",
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
                                                              "suspend"};

constexpr std::string_view name_of(fault_kind k) noexcept { return fault_names[static_cast<std::size_t>(k)]; }

/// One thing that happens. Numbers that do not fit the cluster are taken modulo what there is.
struct fault {
    std::chrono::milliseconds at{}; ///< since the plan's begin
    fault_kind what{};
    std::uint32_t node = 0;
    std::uint32_t job = 0;
    std::chrono::milliseconds span{};
    std::uint32_t count = 0;

    friend bool operator==(fault const&, fault const&) = default;
};

/// `12345 partition node=2 span=8000`: milliseconds, and what is not 0.
std::string to_string(fault const& f);

/// In the order of time.
using fault_plan = std::vector<fault>;

/// A line for each.
std::string to_string(fault_plan const& plan);

namespace detail {

template <class Number>
bool parse_number(std::string_view text, Number& into) {
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), into);
    return failure == std::errc{} && end == text.data() + text.size();
}

std::string_view take_word(std::string_view& line);

bool parse_fault(std::string_view line, fault& f);

} // namespace detail

/// Reads what `to_string` writes; lines may be separated by `;` too, and `#` begins a comment. Errors: malformed_data,
/// with the line.
result<fault_plan> parse_fault_plan(std::string_view text);

/// How often each kind is drawn, in relation to the others.
struct fault_rates {
    std::array<std::uint32_t, fault_names.size()> weights{2, 4, 2, 4, 8, 8, 2,                   // network
                                                          4, 3, 4, 4, 2,                         // process
                                                          2, 2, 2, 1,                            // bodies
                                                          4, 3, 4, 3, 3, 2, 2, 3, 1, 2, 2, 2, 1, // operators
                                                          4, 2, 3, 0};
    std::chrono::milliseconds mean_pause{3'000}; ///< between two faults
    std::chrono::milliseconds clock_jump_most{20'000};

    std::uint32_t& operator[](fault_kind k) noexcept { return weights[static_cast<std::size_t>(k)]; }
    std::uint32_t operator[](fault_kind k) const noexcept { return weights[static_cast<std::size_t>(k)]; }

    /// None of any kind: to be added to.
    static fault_rates none();
};

/// What a plan may speak of.
struct fault_targets {
    std::uint32_t nodes = 1;
    std::uint32_t jobs = 1;
    std::uint32_t items = 9;
};

/// A plan for the given time. The same arguments, the same plan.
fault_plan make_fault_plan(std::uint64_t seed, std::chrono::milliseconds length, fault_targets targets,
                           fault_rates const& rates = {});

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/fault_plan.ipp>
#endif
#endif // ELASTICJOB_TESTING_FAULT_PLAN_HPP
