// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_FAULT_PLAN_IPP
#define ELASTICJOB_IMPL_TESTING_FAULT_PLAN_IPP

#include <elasticjob/config/text.hpp> // read_number
#include <elasticjob/testing/fault_plan.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL std::string to_string(fault const& f) {
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

ELASTICJOB_DECL std::string to_string(fault_plan const& plan) {
    std::string text;
    for (auto const& f : plan) text.append(to_string(f)).append("\n");
    return text;
}

} // namespace elasticjob::testing

namespace elasticjob::testing::detail {

ELASTICJOB_DECL std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    auto const word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

ELASTICJOB_DECL bool parse_fault(std::string_view line, fault& f) {
    using elasticjob::detail::read_number;
    std::int64_t at = 0;
    if (!read_number(take_word(line), at) || at < 0) return false;
    f.at = std::chrono::milliseconds{at};
    auto const kind = std::find(fault_names.begin(), fault_names.end(), take_word(line));
    if (kind == fault_names.end()) return false;
    f.what = static_cast<fault_kind>(kind - fault_names.begin());
    for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
        auto const key = word.substr(0, word.find('='));
        if (key.size() == word.size()) return false;
        auto const value = word.substr(key.size() + 1);
        std::int64_t span = 0;
        if (key == "node"  ? read_number(value, f.node)
            : key == "job" ? read_number(value, f.job)
                           : key == "count" && read_number(value, f.count))
            continue;
        if (key != "span" || !read_number(value, span)) return false;
        f.span = std::chrono::milliseconds{span};
    }
    return true;
}

} // namespace elasticjob::testing::detail

namespace elasticjob::testing {

ELASTICJOB_DECL result<fault_plan> parse_fault_plan(std::string_view text) {
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

ELASTICJOB_DECL fault_rates fault_rates::none() {
    fault_rates r;
    r.weights.fill(0);
    return r;
}

ELASTICJOB_DECL fault_plan make_fault_plan(std::uint64_t seed, std::chrono::milliseconds length, fault_targets targets,
                                           fault_rates const& rates) {
    random_source random{seed ^ 0x66'61'75'6c'74'73ULL};
    auto pick = [&](std::uint64_t below) { return random.next() % std::max<std::uint64_t>(below, 1); };
    std::uint64_t all = 0;
    for (auto const w : rates.weights) all += w;
    fault_plan plan;
    if (all == 0) return plan;
    auto const mean = static_cast<std::uint64_t>(std::max<std::int64_t>(rates.mean_pause.count(), 1));
    for (std::chrono::milliseconds at{};;) {
        // Faults are often close together, so that a fault hits the recovery from another one.
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
        // Faults are mostly short, but sometimes longer than any session.
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
#endif // ELASTICJOB_IMPL_TESTING_FAULT_PLAN_IPP
