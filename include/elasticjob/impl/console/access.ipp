// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_ACCESS_IPP
#define ELASTICJOB_IMPL_CONSOLE_ACCESS_IPP

#include <elasticjob/console/access.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <array>
#include <cstddef>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(console_role r) noexcept {
    constexpr std::array<std::string_view, 4> names{"none", "viewer", "operator", "administrator"};
    return names[static_cast<std::size_t>(r)];
}

} // namespace elasticjob

namespace elasticjob::detail {

// After a mismatch, the last `*` takes one byte more: no other one needs to.
ELASTICJOB_DECL bool matches_glob(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = pattern.npos, taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != pattern.npos) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == pattern.npos;
}

ELASTICJOB_DECL console_rights::console_rights(std::vector<console_grant> const& all, std::string_view operator_name) {
    for (auto const& g : all)
        if (matches_glob(g.operators, operator_name)) grants_.push_back(g);
}

ELASTICJOB_DECL console_role console_rights::in_job(std::string_view job) const {
    auto role = console_role::none;
    for (auto const& g : grants_)
        if (matches_glob(g.jobs, job)) role = std::max(role, g.role);
    return role;
}

ELASTICJOB_DECL console_role console_rights::in_all_jobs() const {
    auto role = console_role::none;
    for (auto const& g : grants_)
        if (g.jobs == "*") role = std::max(role, g.role);
    return role;
}

ELASTICJOB_DECL console_role console_rights::somewhere() const {
    auto role = console_role::none;
    for (auto const& g : grants_) role = std::max(role, g.role);
    return role;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_ACCESS_IPP
