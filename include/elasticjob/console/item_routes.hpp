// SPDX-License-Identifier: Apache-2.0
/// \file \brief The routes for the items of a job, their runs and dead letters.
#ifndef ELASTICJOB_CONSOLE_ITEM_ROUTES_HPP
#define ELASTICJOB_CONSOLE_ITEM_ROUTES_HPP

#include <elasticjob/console/rows.hpp>
#include <elasticjob/console/site.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/operations/dead_letters.hpp>
#include <elasticjob/operations/explain.hpp>
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/stop_run.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The maximum number of items of a job in a list with a filter by health or owner, which reads all of them.
inline constexpr std::uint32_t filtered_items_max = 20'000;

/// The answer with the wanted items in a window, and the number of items of each health.
console_reply reply_for(std::vector<item_overview> all, std::string_view health, std::string_view owner,
                        std::uint32_t first, std::uint32_t count);

template <loop Loop>
console_reply show_items(console_site<Loop>& s, console_call const& c) {
    auto const& r = c.request;
    auto const limit = c.limit();
    if (!limit) return problem(limit.error());
    auto const first = r.number("first", 0, 0xffff'ffff);
    if (!first) return problem(first.error());
    auto const begin = first->value_or(0);
    auto const health = r.one_of(names_up_to(item_health::idle), "health");
    if (!health) return problem(health.error());
    auto const owner = r.parameter("owner");
    bool const is_filtered = !health->empty() || !owner.empty();
    item_query const query{is_filtered ? 0 : begin, is_filtered ? filtered_items_max : *limit, s.zone};
    auto page = list_items(s.registry, c["job"], query);
    if (!page) return problem(page.error());
    if (is_filtered && page->next)
        return problem({errc::too_large, "the job has too many items to filter them", std::string{c["job"]}});
    s.index.watch_items(std::string{c["job"]}, begin, *limit);
    if (is_filtered) return reply_for(std::move(page->items), *health, owner, begin, *limit);
    auto const next = page->next ? std::to_string(*page->next) : std::string{};
    return json_reply(begin_list(page->items, next, page->item_count).finish());
}

template <loop Loop>
console_reply explain_item(console_site<Loop>& s, console_call const& c) {
    auto const item = c.item();
    if (!item) return problem(item.error());
    std::optional<wall_time> instant;
    if (auto const text = c.request.parameter("instant"); !text.empty()) {
        auto const read = c.instant(text, "instant");
        if (!read) return problem(read.error());
        instant = *read;
    }
    auto const found = explain(s.registry, c["job"], *item, instant);
    if (!found) return problem(found.error());
    return json_reply(json_writer{}.member("text", found->text).member("owner", found->owner).finish());
}

/// The answer to `order(item)` for the item in the path.
template <class Order>
console_reply order_for_item(console_call const& c, Order order) {
    auto const item = c.item();
    return item ? reply_for(order(*item)) : problem(item.error());
}

/// The answer to `order(item, due)` for the dead letter in the path.
template <class Order>
console_reply order_for_letter(console_call const& c, Order order) {
    auto const due = c.instant(c["due"], "due");
    if (!due) return problem(due.error());
    return order_for_item(c, [&](item_index i) { return order(i, *due); });
}

template <loop Loop>
std::vector<site_route<Loop>> item_routes() {
    using S = console_site<Loop>;
    using C = console_call const;
    constexpr auto viewer = console_role::viewer, op = console_role::operator_;
    return {
        {{"GET", "jobs/{job}/items", viewer}, &show_items<Loop>},
        {{"GET", "jobs/{job}/items/{item}/explanation", viewer}, &explain_item<Loop>},
        {{"POST", "jobs/{job}/items/{item}/trigger", op},
         +[](S& s, C& c) {
             return order_for_item(c, [&](item_index i) { return trigger_item(s.registry, c["job"], i, c.by()); });
         }},
        {{"POST", "jobs/{job}/items/{item}/disable", op},
         +[](S& s, C& c) {
             return order_for_item(
                 c, [&](item_index i) { return switch_item(s.registry, c["job"], i, switched::off, c.by()); });
         }},
        {{"POST", "jobs/{job}/items/{item}/enable", op},
         +[](S& s, C& c) {
             return order_for_item(
                 c, [&](item_index i) { return switch_item(s.registry, c["job"], i, switched::on, c.by()); });
         }},
        {{"POST", "jobs/{job}/items/{item}/stop", op},
         +[](S& s, C& c) {
             return order_for_item(c, [&](item_index i) { return stop_run(s.registry, c["job"], i, c.by()); });
         }},
        {{"POST", "jobs/{job}/items/{item}/dead-letters/{due}/run-again", op},
         +[](S& s, C& c) {
             return order_for_letter(
                 c, [&](item_index i, wall_time due) { return run_again(s.registry, c["job"], i, due, c.by()); });
         }},
        {{"POST", "jobs/{job}/items/{item}/dead-letters/{due}/discard", op},
         +[](S& s, C& c) {
             return order_for_letter(
                 c, [&](item_index i, wall_time due) { return discard(s.registry, c["job"], i, due, c.by()); });
         }},
    };
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/item_routes.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_ITEM_ROUTES_HPP
