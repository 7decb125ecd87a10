// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists the dead letters of one job or of all jobs, page by page, and handles many at once.
#ifndef ELASTICJOB_OPERATIONS_DEAD_LETTER_QUERY_HPP
#define ELASTICJOB_OPERATIONS_DEAD_LETTER_QUERY_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/dead_letters.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/registry/read_paced.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The wanted dead letters, and the size of a page.
struct dead_letter_query {
    std::string job{};                     ///< this job; empty: all jobs
    std::string job_contains{};            ///< if all: a part of their names
    std::optional<item_index> item{};      ///< nothing: any
    std::optional<run_outcome> outcome{};  ///< nothing: any; failed or interrupted
    std::string note_contains{};           ///< a part of the reason
    std::optional<wall_time> due_from{};   ///< due at this instant or later
    std::optional<wall_time> due_before{}; ///< due before this instant
    std::string after{};                   ///< the cursor of the previous page; empty: from the beginning
    std::size_t letters_max = 100;         ///< at least 1; a page also has the other letters of its last item
    std::size_t records_max = 10'000;      ///< the number of records that are read for one page; at least 1

    /// The maximum number of simultaneous requests; at least 1.
    std::size_t requests_max = paced_requests_max;
};

/// Dead letters in ascending order of their jobs and items; those of one item from the oldest.
struct dead_letter_page {
    std::vector<dead_letter> letters;
    std::vector<error> faults{}; ///< records that cannot be read
    std::string next{};          ///< the cursor of the next page, which may be empty; no text: this is the last page
};

/// The result for one of many letters.
struct settled_letter {
    dead_letter letter;
    result<command_result> outcome;
};

/// The results for the letters of a page.
struct settled_letters {
    std::vector<settled_letter> letters;
    std::vector<error> faults{}; ///< records that cannot be read
    std::string next{};          ///< as in a page
};

/// The maximum number of letters that one call handles, apart from the other letters of the last item: half the number
/// of commands that a job's trail remembers.
inline constexpr std::size_t settled_letters_max = audit_trail::carried_out_max / 2;

namespace detail {

/// The end of a page: its last item.
struct letter_place {
    std::string job;
    std::optional<item_index> item{};
};

/// Such as `settle/12`.
std::string to_text(letter_place const& place);

/// Errors: invalid_argument.
result<letter_place> parse_letter_place(std::string_view cursor);

/// Those of the named items that the query wants and that come after `after`, in ascending order.
std::vector<item_index> wanted_items(std::vector<std::string> const& names, std::string_view job,
                                     dead_letter_query const& query, letter_place const& after);

bool is_wanted(run_entry const& letter, dead_letter_query const& query);

/// The key of the command for one letter of many. A repeated call makes the same key, even if the run has failed again.
std::string key_for(std::string const& key, dead_letter const& letter);

/// Errors: invalid_argument, also for a key that is too long for a command for many letters.
result<command_by> checked_for_many(command_by by);

/// Adds the letters of the job's items. Returns whether the page is full.
template <registry Registry>
task<result<bool>> add_letters(Registry& r, job_layout at, letter_place& place, std::vector<item_index> items,
                               dead_letter_query const& query, std::size_t& records_left, dead_letter_page& page) {
    auto const step = std::max(query.requests_max, std::size_t{1});
    for (std::size_t begin = 0; begin < items.size(); begin += step) {
        auto const end = std::min(items.size(), begin + step);
        std::vector<node_path> paths;
        for (auto n = begin; n < end; ++n) paths.push_back(at.run_record(items[n]));
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, std::move(paths)));
        for (auto n = begin; n < end; ++n) {
            if (records_left == 0) co_return true;
            --records_left;
            auto const& there = nodes[n - begin];
            auto record = there ? run_record::parse(there->data) : result<run_record>{run_record{}};
            if (!record) {
                record.error().where = at.run_record(items[n]).str() + ": " + record.error().where;
                page.faults.push_back(record.error());
            } else {
                auto& letters = record->dead_letters;
                std::erase_if(letters, [&](run_entry const& e) { return !is_wanted(e, query); });
                if (!letters.empty() && page.letters.size() >= query.letters_max) co_return true;
                for (auto& entry : letters) page.letters.push_back({items[n], std::move(entry), place.job});
            }
            place.item = items[n];
        }
    }
    co_return false;
}

} // namespace detail

/// A page of dead letters of the accepted jobs. One request for each such job up to the end of the page, one for each
/// of its items, and one for the names of the jobs if all are wanted. If a record cannot be read, the others are listed
/// nevertheless. The nodes are read one by one, so the parts of the page may be of different moments. Errors: no_node
/// if the job does not exist or is not accepted, or if no instance of it keeps records; invalid_argument for an invalid
/// job name or cursor; those of the registry.
template <registry Registry, class Accepts = any_job>
task<result<dead_letter_page>> find_dead_letter_page(Registry& r, dead_letter_query query, Accepts accepts = {}) {
    query.letters_max = std::max(query.letters_max, std::size_t{1});
    auto records_left = std::max(query.records_max, std::size_t{1});
    ELASTICJOB_CO_TRY(auto const after, detail::parse_letter_place(query.after));
    std::vector<std::string> names{query.job};
    if (query.job.empty()) {
        ELASTICJOB_CO_TRY(names, co_await find_job_names(r));
        auto const is_wanted = [&](auto const& n) { return n.find(query.job_contains) != n.npos && accepts(n); };
        std::erase_if(names, [&](auto const& n) { return !is_wanted(n); });
    } else {
        ELASTICJOB_CO_TRY(auto const name, job_name::parse(query.job));
        job_layout const at{name};
        if (!accepts(query.job)) co_return detail::no_records(at);
        ELASTICJOB_CO_TRY(auto const records, co_await r.exists(at.run_records()));
        if (!records) co_return detail::no_records(at);
    }
    std::erase_if(names, [&](auto const& n) { return n < after.job; });
    dead_letter_page page;
    auto place = after;
    auto const step = std::max(query.requests_max, std::size_t{1});
    for (std::size_t begin = 0; begin < names.size(); begin += step) {
        auto const end = std::min(names.size(), begin + step);
        std::vector<node_path> paths;
        for (auto n = begin; n < end; ++n) paths.push_back(job_layout{*job_name::parse(names[n])}.run_records());
        ELASTICJOB_CO_TRY(auto const lists, co_await list_paced(r, std::move(paths), query.requests_max));
        for (auto n = begin; n < end; ++n) {
            auto items = detail::wanted_items(lists[n - begin], names[n], query, after);
            if (place.job != names[n]) place = {names[n]};
            job_layout const at{*job_name::parse(names[n])};
            auto const added = co_await detail::add_letters(r, at, place, std::move(items), query, records_left, page);
            if (!added) co_return added.error();
            if (*added) {
                page.next = detail::to_text(place);
                co_return page;
            }
        }
    }
    co_return page;
}

/// Handles a page of dead letters, at most `settled_letters_max`. Each letter has a command of its own in the trail of
/// its job, with a key made from the given one. So a repeated call handles no letter twice, and a refusal does not
/// affect the other letters. Of one item's letters, only one can run again at a time. The others are refused; give the
/// order again when that run has ended. The result has the outcome for each letter. Errors: as `find_dead_letter_page`;
/// invalid_argument for an invalid operator's name or key; for many letters a key has at most 50 characters.
template <registry Registry>
task<result<settled_letters>> order_dead_letters(Registry& r, dead_letter_query query, dead_letter_verdict verdict,
                                                 command_by by) {
    ELASTICJOB_CO_TRY(auto const origin, detail::checked_for_many(std::move(by)));
    query.letters_max = std::min(query.letters_max, settled_letters_max);
    ELASTICJOB_CO_TRY(auto page, co_await find_dead_letter_page(r, std::move(query)));
    settled_letters all{{}, std::move(page.faults), std::move(page.next)};
    for (auto& letter : page.letters) {
        auto one = origin;
        one.key = detail::key_for(origin.key, letter);
        auto name = *job_name::parse(letter.job);
        auto outcome =
            co_await order_dead_letter(r, std::move(name), letter.item, letter.run.run.due, verdict, std::move(one));
        all.letters.push_back({std::move(letter), std::move(outcome)});
    }
    co_return all;
}

// The functions above as blocking calls. Each waits up to `timeout`. Threads: any but the loop's.

/// A page of dead letters. Errors: as `find_dead_letter_page`, and timed_out.
template <registry Registry, class Accepts = any_job>
result<dead_letter_page> list_dead_letters(Registry& r, dead_letter_query query,
                                           std::chrono::milliseconds timeout = std::chrono::seconds{60},
                                           Accepts accepts = {}) {
    return detail::wait_within(r.loop(), timeout, find_dead_letter_page(r, std::move(query), std::move(accepts)));
}

/// Runs a page of dead letters again. Errors: as `order_dead_letters`, and timed_out: repeat the call with the same
/// key.
template <registry Registry>
result<settled_letters> run_again(Registry& r, dead_letter_query query, command_by by,
                                  std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    auto order = order_dead_letters(r, std::move(query), dead_letter_verdict::run_again, std::move(by));
    return detail::wait_within(r.loop(), timeout, std::move(order));
}

/// Discards a page of dead letters. Errors: as `run_again`.
template <registry Registry>
result<settled_letters> discard(Registry& r, dead_letter_query query, command_by by,
                                std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    auto order = order_dead_letters(r, std::move(query), dead_letter_verdict::discard, std::move(by));
    return detail::wait_within(r.loop(), timeout, std::move(order));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/dead_letter_query.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_DEAD_LETTER_QUERY_HPP
