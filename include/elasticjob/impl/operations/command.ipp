// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_COMMAND_IPP
#define ELASTICJOB_IMPL_OPERATIONS_COMMAND_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/operations/command.hpp>

#include <array>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(command_result::effect e) noexcept {
    constexpr std::array<std::string_view, 4> names{"done", "unchanged", "repeated", "planned"};
    return names[static_cast<std::size_t>(e)];
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL std::string new_key() { return random_source{random_source::machine_seed()}.uuid(); }

ELASTICJOB_DECL result<command_by> checked(command_by by) {
    std::string fit;
    auto const max = audit_trail::word_bytes_max;
    bool const is_whole = append_line_text(fit, by.operator_name, max);
    if (by.operator_name.empty() || !is_whole || fit != by.operator_name || fit.size() > max)
        return error{errc::invalid_argument, "an operator's name has 1 to 100 bytes of UTF-8 and no control characters",
                     "operator_name"};
    auto const is_visible = [](char c) { return '!' <= c && c <= '~'; };
    if (by.key.size() > max || !std::all_of(by.key.begin(), by.key.end(), is_visible))
        return error{errc::invalid_argument, "a key has at most 100 characters, all of them visible ASCII", "key"};
    if (by.key.empty()) by.key = new_key();
    return by;
}

ELASTICJOB_DECL audit_entry entry_of(command_by const& by, command_title const& title, command_outcome outcome,
                                     std::string note, wall_time now) {
    return {0, now, outcome, by.operator_name, by.key, title.verb, title.subject, std::move(note)};
}

ELASTICJOB_DECL transaction command_base::begin(job_layout const& at, command_title const& title) const {
    transaction t{generation};
    if (!title.may_create && !is_removed()) t.check(at.config(), nodes[3]->stat.version);
    if (!has_root()) t.create(at.root(), {});
    if (!has_ext()) t.create(at.ext(), {});
    if (is_removed())
        t.check(at.removed(), nodes[2]->stat.version);
    else
        t.check_absent(at.removed());
    return t;
}

ELASTICJOB_DECL void command_base::record(transaction& t, job_layout const& at, audit_entry e,
                                          bool leaves_only_trail) const {
    auto next = trail;
    next.add(std::move(e));
    if (leaves_only_trail)
        put_trail_alone(t, at, nodes[4], next.to_text());
    else if (nodes[4])
        t.set(at.audit(), next.to_text(), nodes[4]->stat.version);
    else
        t.create(at.audit(), next.to_text());
}

ELASTICJOB_DECL void put_trail_alone(transaction& t, job_layout const& at, std::optional<node> const& trail,
                                     std::string text) {
    if (trail) t.remove(at.audit(), trail->stat.version);
    t.remove(at.ext()).remove(at.root());
    t.create(at.root(), {}).create(at.ext(), {}).create(at.audit(), std::move(text));
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_COMMAND_IPP
