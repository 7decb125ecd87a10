// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_DEAD_LETTER_QUERY_IPP
#define ELASTICJOB_IMPL_OPERATIONS_DEAD_LETTER_QUERY_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/operations/dead_letter_query.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string to_text(letter_place const& place) {
    return place.job + "/" + (place.item ? std::to_string(*place.item) : std::string{});
}

ELASTICJOB_DECL result<letter_place> parse_letter_place(std::string_view cursor) {
    if (cursor.empty()) return letter_place{};
    auto const slash = cursor.rfind('/');
    auto const digits = slash == cursor.npos ? std::string_view{"none"} : cursor.substr(slash + 1);
    letter_place place{std::string{cursor.substr(0, slash)}};
    item_index item = 0;
    if (!digits.empty() && read_number(digits, item)) place.item = item;
    if (place.job.empty() || (!digits.empty() && !place.item))
        return error{errc::invalid_argument, "this is not the cursor of a page of dead letters", std::string{cursor}};
    return place;
}

ELASTICJOB_DECL std::vector<item_index> wanted_items(std::vector<std::string> const& names, std::string_view job,
                                                     dead_letter_query const& query, letter_place const& after) {
    std::vector<item_index> items;
    for (auto const& name : names) {
        item_index i = 0;
        if (!read_number(std::string_view{name}, i) || (query.item && *query.item != i)) continue;
        bool const is_seen = job == after.job && after.item && i <= *after.item;
        if (!is_seen) items.push_back(i);
    }
    std::sort(items.begin(), items.end());
    return items;
}

ELASTICJOB_DECL bool is_wanted(run_entry const& letter, dead_letter_query const& query) {
    if (query.outcome && letter.outcome != *query.outcome) return false;
    if (query.due_from && letter.run.due < *query.due_from) return false;
    if (query.due_before && letter.run.due >= *query.due_before) return false;
    return letter.note.find(query.note_contains) != std::string::npos;
}

ELASTICJOB_DECL std::string key_for(std::string const& key, dead_letter const& letter) {
    return key + "/" + std::to_string(letter.item) + "/" + milliseconds_text(letter.run.run.due);
}

ELASTICJOB_DECL result<command_by> checked_for_many(command_by by) {
    constexpr std::size_t key_bytes_max = 50; // with the item and instant appended, it is still valid
    if (by.key.size() > key_bytes_max)
        return error{errc::invalid_argument, "the key of a command for many dead letters has at most 50 characters",
                     "key"};
    return checked(std::move(by));
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_DEAD_LETTER_QUERY_IPP
