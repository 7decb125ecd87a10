// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_AUDIT_TRAIL_IPP
#define ELASTICJOB_IMPL_OPERATIONS_AUDIT_TRAIL_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/operations/audit_trail.hpp>

#include <array>

namespace elasticjob {

namespace detail {
inline constexpr std::array<std::string_view, 3> command_outcome_names{"done", "unchanged", "refused"};
}

ELASTICJOB_DECL std::string_view name_of(command_outcome o) noexcept {
    return detail::command_outcome_names[static_cast<std::size_t>(o)];
}

ELASTICJOB_DECL audit_entry const* audit_trail::find(std::string_view key) const {
    auto const found = std::find_if(entries_.begin(), entries_.end(), [&](audit_entry const& e) {
        return e.key == key && e.outcome != command_outcome::refused;
    });
    return found == entries_.end() ? nullptr : &*found;
}

ELASTICJOB_DECL std::string audit_trail::word(std::string_view text) {
    std::string whole;
    detail::append_line_text(whole, text);
    if (whole.size() <= word_bytes_max) return whole;
    constexpr std::size_t hash_size_max = 16;
    std::string begin;
    detail::append_line_text(begin, text, word_bytes_max - hash_size_max - 1);
    return begin + '#' + detail::hash_text(text);
}

ELASTICJOB_DECL void audit_trail::add(audit_entry e) {
    for (auto* text : {&e.operator_name, &e.key, &e.verb, &e.subject}) *text = word(*text);
    std::string note;
    detail::append_line_text(note, e.note, note_bytes_max);
    e.note = std::move(note);
    e.number = entries_.empty() ? 1 : entries_.back().number + 1;
    e.at = std::chrono::floor<std::chrono::milliseconds>(e.at);
    bool const is_refused = e.outcome == command_outcome::refused;
    auto const is_alike = [&](audit_entry const& other) {
        return (other.outcome == command_outcome::refused) == is_refused;
    };
    auto const alike = static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), is_alike));
    if (alike >= (is_refused ? refused_max : carried_out_max))
        entries_.erase(std::find_if(entries_.begin(), entries_.end(), is_alike));
    entries_.push_back(std::move(e));
}

ELASTICJOB_DECL std::string audit_trail::to_text() const {
    std::string text{header};
    for (auto const& e : entries_) {
        auto const at = detail::milliseconds_text(e.at);
        text += std::to_string(e.number);
        for (std::string_view const word :
             {std::string_view{at}, name_of(e.outcome), std::string_view{e.operator_name}, std::string_view{e.key},
              std::string_view{e.verb}, std::string_view{e.subject}, std::string_view{e.note}})
            text.append("\t").append(word);
        text += '\n';
    }
    return text;
}

ELASTICJOB_DECL result<audit_trail> audit_trail::parse(std::string_view text) {
    auto const refuse = [](std::string why, std::size_t line) {
        return error{errc::malformed_data, std::move(why), "line " + std::to_string(line)};
    };
    if (!text.starts_with(header)) return refuse("this is no audit trail of version 1", 1);
    text.remove_prefix(header.size());
    audit_trail trail;
    for (std::size_t line = 2; !text.empty(); ++line) {
        auto const end = text.find('\n');
        if (end == text.npos) return refuse("the line has no end", line);
        auto rest = text.substr(0, end);
        text.remove_prefix(end + 1);
        std::array<std::string_view, 8> words;
        std::size_t count = 0;
        for (; count < words.size(); ++count) {
            auto const tab = count + 1 < words.size() ? rest.find('\t') : rest.npos;
            words[count] = rest.substr(0, tab);
            if (tab == rest.npos) break;
            rest.remove_prefix(tab + 1);
        }
        audit_entry e;
        auto const& names = detail::command_outcome_names;
        auto const outcome = std::find(names.begin(), names.end(), words[2]);
        if (count + 1 != words.size() || !detail::read_number(words[0], e.number) ||
            !detail::read_instant(words[1], e.at) || outcome == names.end())
            return refuse("a command has a number, an instant, an outcome and five texts, separated by tabs", line);
        if (trail.entries_.size() == carried_out_max + refused_max)
            return refuse("there are more commands than are ever written", line);
        e.outcome = static_cast<command_outcome>(outcome - names.begin());
        e.operator_name = words[3];
        e.key = words[4];
        e.verb = words[5];
        e.subject = words[6];
        e.note = words[7];
        trail.entries_.push_back(std::move(e));
    }
    return trail;
}

ELASTICJOB_DECL result<audit_trail> read_audit_node(job_layout const& at, node const* there) {
    if (!there) return audit_trail{};
    auto trail = audit_trail::parse(there->data);
    if (!trail) {
        trail.error().what += "; remove the node to begin a new trail";
        trail.error().where = at.audit().str() + ", " + trail.error().where;
    }
    return trail;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_OPERATIONS_AUDIT_TRAIL_IPP
