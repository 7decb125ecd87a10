// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_FIRING_TRACER_IPP
#define ELASTICJOB_IMPL_EVENTS_FIRING_TRACER_IPP

#include <elasticjob/events/firing_tracer.hpp>

#include <elasticjob/config/task_id_parser.hpp>
#include <elasticjob/core/algorithm.hpp> // sort, lower_bound

#include <iterator> // prev

namespace elasticjob::trace {
namespace detail {

/// The items of the task, sorted. If the task does not name the item, that item alone.
inline std::vector<item_index> items_of(std::string_view task, item_index item) {
    auto const read = task_id::parse(task);
    if (!read) return {item};
    auto items = read->meta.items;
    std::sort(items.begin(), items.end());
    if (!std::binary_search(items.begin(), items.end(), item)) return {item};
    return items;
}

/// Such as `[0, 1]`, as Java prints a list.
inline std::string list_text(std::vector<item_index> const& items) {
    std::string text;
    for (auto const i : items) text += (text.empty() ? "[" : ", ") + std::to_string(i);
    return text + "]";
}

/// Sets the state and the message: `{0=why, 1=why}`, as Java prints a map.
inline void tell_outcome(status_trace_event& row, std::map<item_index, std::string> const& failures) {
    row.state = failures.empty() ? "TASK_FINISHED" : "TASK_ERROR";
    row.message.clear();
    if (failures.empty()) return;
    std::string text;
    for (auto const& [item, why] : failures) text += (text.empty() ? "{" : ", ") + std::to_string(item) + "=" + why;
    row.message = elasticjob::detail::clean_text(text + "}", text_units_max);
}

/// A message contains at most this many bytes of failures, because a UTF-16 code unit takes at most three.
inline constexpr std::size_t failure_bytes_max = 3 * text_units_max;

} // namespace detail

ELASTICJOB_DECL auto firing_tracer::firing::find(item_index i) -> state* {
    auto const at = std::lower_bound(items.begin(), items.end(), i);
    return at != items.end() && *at == i ? &states[static_cast<std::size_t>(at - items.begin())] : nullptr;
}

ELASTICJOB_DECL std::size_t firing_tracer::firing::bytes() const {
    constexpr std::size_t node = 64; // roughly the overhead of a list or a map for each element
    return sizeof(firing) + 2 * node + task.size() + items.size() * (sizeof(item_index) + sizeof(state)) +
           failures.size() * (sizeof(std::string) + node) + failure_bytes;
}

ELASTICJOB_DECL std::optional<std::string> firing_tracer::begin(std::string_view task, item_index item) {
    if (auto const at = known_.find(task); at != known_.end()) {
        auto* const now = at->second->find(item);
        if (now && *now == firing::state::not_begun) {
            *now = firing::state::running;
            return std::nullopt;
        }
        forget(at->second); // the item begins again, so an end was lost
    }
    auto items = detail::items_of(task, item);
    auto text = detail::list_text(items);
    if (items.size() == 1) return text;
    auto const count = items.size();
    open_.push_back({std::string{task}, std::move(items), std::vector(count, firing::state::not_begun), count});
    auto const at = std::prev(open_.end());
    known_.emplace(at->task, at);
    *at->find(item) = firing::state::running;
    bytes_ += at->bytes();
    forget_oldest();
    return text;
}

ELASTICJOB_DECL bool firing_tracer::end(item_index item, std::optional<std::string> failure, status_trace_event& row) {
    if (auto const at = known_.find(row.task_id); at != known_.end()) {
        auto& one = *at->second;
        auto* const now = one.find(item);
        if (!now || *now == firing::state::over) return false;
        *now = firing::state::over;
        --one.left;
        if (failure) note_failure(one, item, *std::move(failure));
        if (one.left > 0) {
            forget_oldest();
            return false;
        }
        row.sharding_items = detail::list_text(one.items);
        detail::tell_outcome(row, one.failures);
        forget(at->second);
        return true;
    }
    if (detail::items_of(row.task_id, item).size() > 1) return false; // it belongs to a firing that has been dropped
    std::map<item_index, std::string> failures;
    if (failure) failures.emplace(item, *std::move(failure));
    detail::tell_outcome(row, failures);
    return true;
}

/// Keeps only failures for which the message has room, beginning with the first item.
ELASTICJOB_DECL void firing_tracer::note_failure(firing& one, item_index item, std::string why) {
    bytes_ -= one.bytes();
    one.failure_bytes += why.size();
    one.failures.emplace(item, std::move(why));
    for (auto last = std::prev(one.failures.end());
         one.failures.size() > 1 && one.failure_bytes - last->second.size() > detail::failure_bytes_max;
         last = std::prev(one.failures.end())) {
        one.failure_bytes -= last->second.size();
        one.failures.erase(last);
    }
    bytes_ += one.bytes();
}

ELASTICJOB_DECL void firing_tracer::forget(place at) {
    bytes_ -= at->bytes();
    known_.erase(at->task);
    open_.erase(at);
}

ELASTICJOB_DECL void firing_tracer::forget_oldest() {
    while (bytes_ > bytes_max_ && open_.size() > 1) forget(open_.begin());
}

} // namespace elasticjob::trace
#endif // ELASTICJOB_IMPL_EVENTS_FIRING_TRACER_IPP
