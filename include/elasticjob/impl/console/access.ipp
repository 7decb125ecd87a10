// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_ACCESS_IPP
#define ELASTICJOB_IMPL_CONSOLE_ACCESS_IPP

#include <elasticjob/config/text.hpp> // trim
#include <elasticjob/console/access.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp> // utf8_length
#include <elasticjob/operations/audit_trail.hpp>

#include <array>
#include <cstddef>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(console_role r) noexcept {
    constexpr std::array<std::string_view, 4> names{"none", "viewer", "operator", "administrator"};
    return names[static_cast<std::size_t>(r)];
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL bool is_operator_name(std::string_view name) {
    if (name.empty() || name.size() > audit_trail::word_bytes_max || trim(name).size() != name.size()) return false;
    for (auto rest = name; !rest.empty();) {
        auto const c = static_cast<unsigned char>(rest.front());
        auto const length = utf8_length(rest);
        if (length == 0 || c < 0x20 || c == 0x7f) return false;
        rest.remove_prefix(length);
    }
    return true;
}

// After a mismatch, the last `*` takes one more byte. Earlier ones do not need to.
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

ELASTICJOB_DECL console_rights::console_rights(std::vector<console_grant> const& all, std::string_view operator_name,
                                               std::vector<std::string> const& groups) {
    for (auto const& g : all) {
        std::string_view pattern = g.operators;
        bool const is_of_groups = pattern.starts_with('@');
        if (is_of_groups) pattern.remove_prefix(1);
        auto const is_named = [&](std::string_view name) { return matches_glob(pattern, name); };
        if (is_of_groups ? std::any_of(groups.begin(), groups.end(), is_named) : is_named(operator_name))
            grants_.push_back(g);
    }
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
