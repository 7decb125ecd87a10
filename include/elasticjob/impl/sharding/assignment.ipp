// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_ASSIGNMENT_IPP
#define ELASTICJOB_IMPL_SHARDING_ASSIGNMENT_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/sharding/assignment.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::uint32_t assignment::items() const noexcept {
    return visit([](auto const& a) { return a.items(); });
}

ELASTICJOB_DECL slot_index assignment::owner(item_index item) const {
    return visit([&](auto const& a) { return a.owner(item); });
}

ELASTICJOB_DECL instance_id const& assignment::owner_id(item_index item) const {
    auto const slot = owner(item);
    return slot == no_slot ? nobody_ : instances_[slot];
}

ELASTICJOB_DECL bool assignment::allocates(std::uint32_t count) const noexcept {
    if (has_form_) return form_.instances() == instances_.size() && form_.items() == count;
    return items() == count && is_run_list(static_cast<std::uint32_t>(instances_.size()), runs_, true);
}

ELASTICJOB_DECL std::uint32_t assignment::count_left() const noexcept {
    std::uint32_t left = 0;
    item_index begin = 0;
    for (auto const& r : runs_) {
        if (r.owner == no_slot) left += r.end - begin;
        begin = r.end;
    }
    return left;
}

ELASTICJOB_DECL std::vector<run> assignment::runs_among(std::vector<instance_id> const& others) const {
    auto const slots = slots_among(instances_, others);
    std::vector<run> runs;
    if (has_form_)
        runs = renumbered_runs(form_, slots);
    else
        runs = renumbered_runs(run_list_view{0, runs_}, slots);
    return runs;
}

ELASTICJOB_DECL std::vector<item_index> assignment::items_of(instance_id const& id) const {
    std::vector<item_index> mine;
    auto const at = std::find(instances_.begin(), instances_.end(), id);
    if (at == instances_.end() || id.str().empty()) return mine;
    visit([&](auto const& a) {
        for (auto const i : a.items_of(static_cast<slot_index>(at - instances_.begin()))) mine.push_back(i);
    });
    return mine;
}

ELASTICJOB_DECL std::string assignment::to_text() const {
    std::string text{header};
    auto line = [&](std::string_view key, std::string const& value) {
        text.append(key).append(" ").append(value).append("\n");
    };
    line("epoch", std::to_string(epoch_));
    line("strategy", strategy_);
    line("published", published_ ? "yes" : "no");
    if (traits_print_ != 0) line("traits", std::to_string(traits_print_));
    for (auto const& id : instances_) line("instance", id.str());
    if (has_form_) {
        line("average", std::to_string(form_.items()) + (form_.order().reversed ? " reversed " : " straight ") +
                            std::to_string(form_.order().rotated_left));
    } else {
        std::string runs;
        for (auto const& r : runs_)
            runs.append(runs.empty() ? "" : ",")
                .append(std::to_string(r.end))
                .append(":")
                .append(r.owner == no_slot ? "-" : std::to_string(r.owner));
        line("runs", runs);
    }
    return text;
}

ELASTICJOB_DECL result<assignment> assignment::parse(std::string_view text) {
    auto refuse = [](std::string_view line) {
        return error{errc::malformed_data, "not a line of an assignment", detail::cut_short(line)};
    };
    if (!text.starts_with(header)) return refuse(text.substr(0, text.find('\n')));
    text.remove_prefix(header.size());
    assignment a;
    bool has_shape = false;
    while (!text.empty()) {
        auto const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        auto const space = line.find(' ');
        if (space == line.npos || has_shape) return refuse(line);
        auto const key = line.substr(0, space);
        auto const value = line.substr(space + 1);
        bool good = true;
        if (key == "epoch") {
            good = detail::read_number(value, a.epoch_);
        } else if (key == "strategy") {
            a.strategy_ = value;
        } else if (key == "published") {
            good = value == "yes" || value == "no";
            a.published_ = value == "yes";
        } else if (key == "traits") {
            good = detail::read_number(value, a.traits_print_);
        } else if (key == "instance") {
            auto id = value.empty() ? result<instance_id>{instance_id{}} : instance_id::parse(value);
            if (!id) return std::move(id).error();
            a.instances_.push_back(*std::move(id));
        } else if (key == "average") {
            good = has_shape = a.parse_average(value);
        } else if (key == "runs") {
            good = has_shape = a.parse_runs(value);
        } else {
            good = false;
        }
        if (!good) return refuse(line);
    }
    if (!has_shape) return refuse("(end)");
    return a;
}

ELASTICJOB_DECL bool assignment::parse_average(std::string_view value) {
    auto const parts = detail::split(value, " ");
    if (parts.size() != 3 || (parts[1] != "reversed" && parts[1] != "straight")) return false;
    std::uint32_t items = 0;
    std::int64_t rotated = 0;
    if (!detail::read_number(parts[0], items) || items > items_max || !detail::read_number(parts[2], rotated))
        return false;
    form_ = closed_form{static_cast<std::uint32_t>(instances_.size()), items, {parts[1] == "reversed", rotated}};
    return true;
}

ELASTICJOB_DECL bool assignment::parse_runs(std::string_view value) {
    std::vector<run> runs;
    for (auto const piece : detail::split(value, ",")) {
        auto const colon = piece.find(':');
        if (colon == piece.npos) return false;
        run r{};
        if (!detail::read_number(piece.substr(0, colon), r.end)) return false;
        auto const owner = piece.substr(colon + 1);
        if (owner == "-")
            r.owner = no_slot;
        else if (!detail::read_number(owner, r.owner) || r.owner == no_slot)
            return false;
        runs.push_back(r);
    }
    if (!is_run_list(static_cast<std::uint32_t>(instances_.size()), runs, true)) return false;
    has_form_ = false;
    runs_ = std::move(runs);
    return true;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SHARDING_ASSIGNMENT_IPP
