// SPDX-License-Identifier: Apache-2.0
/// \file \brief What happens to a simulated cluster and when: a list that is made from a seed, printed, and read back.
#ifndef ELASTICJOB_TESTING_FAULT_PLAN_HPP
#define ELASTICJOB_TESTING_FAULT_PLAN_HPP

#include <elasticjob/core/chrono.hpp>
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
};

inline constexpr std::array<std::string_view, 29> fault_names{
    "slow_network",   "partition",   "deafness",     "reset",          "lose_request", "lose_reply",  "expire",
    "pause",          "crash",       "crash_before", "crash_after",    "clock_jump",   "slow_bodies", "throwing_bodies",
    "hanging_bodies", "full_pool",   "join",         "leave",          "trigger",      "disable",     "enable",
    "disable_item",   "enable_item", "set_items",    "remove_instance", "stop_run",    "set_cron",
    "set_failover",   "set_misfire"};

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
inline std::string to_string(fault const& f) {
    auto line = std::to_string(f.at.count()).append(" ").append(name_of(f.what));
    auto add = [&](char const* key, std::int64_t value) {
        if (value != 0) line.append(" ").append(key).append("=").append(std::to_string(value));
    };
    add("node", f.node);
    add("job", f.job);
    add("span", f.span.count());
    add("count", f.count);
    return line;
}

/// In the order of time.
using fault_plan = std::vector<fault>;

/// A line for each.
inline std::string to_string(fault_plan const& plan) {
    std::string text;
    for (auto const& f : plan) text.append(to_string(f)).append("\n");
    return text;
}

namespace detail {

template <class Number>
bool parse_number(std::string_view text, Number& into) {
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), into);
    return failure == std::errc{} && end == text.data() + text.size();
}

inline std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    auto const word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

inline bool parse_fault(std::string_view line, fault& f) {
    std::int64_t at = 0;
    if (!parse_number(take_word(line), at) || at < 0) return false;
    f.at = std::chrono::milliseconds{at};
    auto const kind = std::find(fault_names.begin(), fault_names.end(), take_word(line));
    if (kind == fault_names.end()) return false;
    f.what = static_cast<fault_kind>(kind - fault_names.begin());
    for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
        auto const key = word.substr(0, word.find('='));
        if (key.size() == word.size()) return false;
        auto const value = word.substr(key.size() + 1);
        std::int64_t span = 0;
        if (key == "node"  ? parse_number(value, f.node)
            : key == "job" ? parse_number(value, f.job)
                           : key == "count" && parse_number(value, f.count))
            continue;
        if (key != "span" || !parse_number(value, span)) return false;
        f.span = std::chrono::milliseconds{span};
    }
    return true;
}

} // namespace detail

/// Reads what `to_string` writes; lines may be separated by `;` too, and `#` begins a comment. Errors: malformed_data,
/// with the line.
inline result<fault_plan> parse_fault_plan(std::string_view text) {
    fault_plan plan;
    while (!text.empty()) {
        auto const end = std::min(text.find_first_of("\n;"), text.size());
        auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(' ') == line.npos) continue;
        fault f;
        if (!detail::parse_fault(line, f))
            return error{errc::malformed_data, "a fault must look like '12345 partition node=2 span=8000'",
                         std::string{line}};
        auto const earlier = [](fault const& a, fault const& b) { return a.at < b.at; };
        plan.insert(std::upper_bound(plan.begin(), plan.end(), f, earlier), f);
    }
    return plan;
}

/// How often each kind is drawn, in relation to the others.
struct fault_rates {
    std::array<std::uint32_t, fault_names.size()> weights{2, 4, 2, 4, 8, 8, 2, // network
                                                          4, 3, 4, 4, 2,       // process
                                                          2, 2, 2, 1,          // bodies
                                                          4, 3, 4, 3, 3, 2, 2, 3, 1, 2, 2, 2, 1};
    std::chrono::milliseconds mean_pause{3'000}; ///< between two faults
    std::chrono::milliseconds clock_jump_most{20'000};

    std::uint32_t& operator[](fault_kind k) noexcept { return weights[static_cast<std::size_t>(k)]; }
    std::uint32_t operator[](fault_kind k) const noexcept { return weights[static_cast<std::size_t>(k)]; }

    /// None of any kind: to be added to.
    static fault_rates none() {
        fault_rates r;
        r.weights.fill(0);
        return r;
    }
};

/// What a plan may speak of.
struct fault_targets {
    std::uint32_t nodes = 1;
    std::uint32_t jobs = 1;
    std::uint32_t items = 9;
};

/// A plan for the given time. The same arguments, the same plan.
inline fault_plan make_fault_plan(std::uint64_t seed, std::chrono::milliseconds length, fault_targets targets,
                                  fault_rates const& rates = {}) {
    random_source random{seed ^ 0x66'61'75'6c'74'73ULL};
    auto pick = [&](std::uint64_t below) { return random.next() % std::max<std::uint64_t>(below, 1); };
    std::uint64_t all = 0;
    for (auto const w : rates.weights) all += w;
    fault_plan plan;
    if (all == 0) return plan;
    auto const mean = static_cast<std::uint64_t>(std::max<std::int64_t>(rates.mean_pause.count(), 1));
    for (std::chrono::milliseconds at{};;) {
        // Often close together, so that one fault meets another's recovery.
        at += std::chrono::milliseconds{pick(3) == 0 ? pick(20) : pick(3 * mean)};
        if (at >= length) return plan;
        auto ticket = pick(all);
        std::size_t kind = 0;
        for (; ticket >= rates.weights[kind]; ++kind) ticket -= rates.weights[kind];
        fault f;
        f.at = at;
        f.what = static_cast<fault_kind>(kind);
        f.node = static_cast<std::uint32_t>(pick(targets.nodes));
        f.job = static_cast<std::uint32_t>(pick(targets.jobs));
        // Mostly short; sometimes longer than any session.
        f.span = std::chrono::milliseconds{pick(4) == 0 ? 8'000 + pick(20'000) : 1 + pick(6'000)};
        f.count = static_cast<std::uint32_t>(pick(12));
        switch (f.what) {
        case fault_kind::clock_jump: {
            auto const most = static_cast<std::uint64_t>(rates.clock_jump_most.count());
            f.span = std::chrono::milliseconds{pick(2 * most + 1)} - rates.clock_jump_most;
            break;
        }
        case fault_kind::slow_bodies:
            f.count = 2 + static_cast<std::uint32_t>(pick(10));
            break;
        case fault_kind::disable_item:
        case fault_kind::enable_item:
        case fault_kind::stop_run:
            f.count = static_cast<std::uint32_t>(pick(targets.items));
            break;
        case fault_kind::set_items:
            f.count = 1 + static_cast<std::uint32_t>(pick(targets.items));
            break;
        default:
            break;
        }
        plan.push_back(f);
    }
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_TESTING_FAULT_PLAN_HPP
