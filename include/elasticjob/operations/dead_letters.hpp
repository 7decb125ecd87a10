// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists the runs that failed for good, and lets an operator handle them.
#ifndef ELASTICJOB_OPERATIONS_DEAD_LETTERS_HPP
#define ELASTICJOB_OPERATIONS_DEAD_LETTERS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/execution/look_order.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/trigger.hpp> // check_keeps_record
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// A run that failed or was interrupted, and is not repeated.
struct dead_letter {
    item_index item = 0;
    run_entry run{};
    std::string job{};
};

/// The operator's decision on a dead letter.
enum class dead_letter_verdict : std::uint8_t {
    run_again, ///< the item's owner runs it at once, as the next attempt for the same due instant; removes the letter
    discard,
};

namespace detail {

inline error no_records(job_layout const& at) {
    return error{errc::no_node, "there is no job of that name, or no instance of it keeps records", at.root().str()};
}

} // namespace detail

/// All dead letters of a job, ordered by item; those of one item from the oldest. One request for the list of records
/// and one for each record, a thousand at a time. Errors: no_node if there is no such job; malformed_data, which names
/// the record that cannot be read; those of the registry.
template <registry Registry>
task<result<std::vector<dead_letter>>> find_dead_letters(Registry& r, job_name job) {
    constexpr std::size_t at_once = 1000;
    job_layout const at{job};
    auto names = co_await r.children(at.run_records());
    if (!names && names.error() == errc::no_node) co_return detail::no_records(at);
    if (!names) co_return names.error();
    std::vector<item_index> items;
    for (auto const& name : *names)
        if (item_index i = 0; detail::read_number(std::string_view{name}, i)) items.push_back(i);
    std::sort(items.begin(), items.end());
    std::vector<dead_letter> letters;
    for (std::size_t begin = 0; begin < items.size(); begin += at_once) {
        auto const end = std::min(items.size(), begin + at_once);
        std::vector<node_path> paths;
        for (auto n = begin; n < end; ++n) paths.push_back(at.run_record(items[n]));
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, std::move(paths)));
        for (auto n = begin; n < end; ++n) {
            auto const& there = nodes[n - begin];
            if (!there) continue;
            auto record = run_record::parse(there->data);
            if (!record) {
                record.error().where = at.run_record(items[n]).str() + ": " + record.error().where;
                co_return record.error();
            }
            for (auto& entry : record->dead_letters) letters.push_back({items[n], std::move(entry), job.str()});
        }
    }
    co_return letters;
}

namespace detail {

/// Such as `run again` and `item 2, due 2026-01-01T00:00:00.000Z`.
command_title title_of(dead_letter_verdict verdict, item_index item, wall_time due);

/// Adds to the transaction the changes that handle that item's last dead letter for that due instant. Errors: no_node,
/// version_conflict, invalid_argument, malformed_data, those of the registry.
template <registry Registry>
task<result<command_plan>> plan_settlement(Registry& r, job_layout at, item_index item, wall_time due,
                                           dead_letter_verdict verdict, transaction& t) {
    bool const is_again = verdict == dead_letter_verdict::run_again;
    std::vector<node_path> paths{at.run_record(item), at.look_order(item), at.orders()};
    if (is_again)
        paths.insert(paths.end(), {at.config(), at.assignment(), at.item_instance(0), at.item_instance(item)});
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
    auto const& stored = nodes[0];
    auto const none = error{errc::no_node, "the item has no dead letter for that instant", at.run_record(item).str()};
    if (!stored) co_return none;
    ELASTICJOB_CO_TRY(auto record, run_record::parse(stored->data));
    auto& letters = record.dead_letters;
    auto const letter =
        std::find_if(letters.rbegin(), letters.rend(), [&](run_entry const& e) { return e.run.due == due; });
    if (letter == letters.rend()) co_return none;
    if (record.running || record.retry)
        co_return error{errc::version_conflict,
                        std::string{record.running ? "the item runs" : "the item waits to be tried again"} +
                            ": ask when that is over",
                        at.run_record(item).str()};
    if (is_again) {
        ELASTICJOB_CO_CHECK(check_keeps_record(at, nodes[3], item));
        ELASTICJOB_CO_TRY(auto const java, java_owner(nodes[4], nodes[5], nodes[6], item));
        if (java)
            co_return error{errc::invalid_argument,
                            "the item belongs to a Java member, which reads no records, so it would not run again: "
                            "trigger the member's server, or discard the letter",
                            at.instance(*java).str()};
        t.check(at.config(), nodes[3]->stat.version);
        record.retry = run_retry{due, run_source::trigger, letter->run.attempt + 1, letter->ended};
    }
    letters.erase(std::next(letter).base());
    t.set(at.run_record(item), record.to_text(), stored->stat.version);
    if (!nodes[2]) t.create(at.orders(), {});
    put_look_order(t, at, item, nodes[1]);
    co_return command_plan{is_again ? "the dead letter is run again" : "the dead letter is discarded"};
}

} // namespace detail

/// Runs that item's last dead letter for that due instant again, or discards it. One transaction checks the version of
/// the record, so if two operators handle the same letter, one of them gets no_node. The item's owner is notified and
/// runs it like any other run. A run that fails again is a dead letter again, and a repetition of the call runs it once
/// more. Otherwise, after a lost reply, no_node means that the first call has succeeded.
/// Errors: no_node if there is no such letter; version_conflict if the item runs or waits for a retry (try again when
/// that run has ended), or if its record kept changing; invalid_argument if it is to run again, and the job has no such
/// item any more or is not monitored, or a Java member owns the item; malformed_data; those of the registry.
template <registry Registry>
task<result<void>> settle_dead_letter(Registry& r, job_name job, item_index item, wall_time due,
                                      dead_letter_verdict verdict) {
    job_layout const at{job};
    for (int attempt = 0; attempt < 10; ++attempt) {
        transaction t{r.session().generation};
        ELASTICJOB_CO_CHECK(co_await detail::plan_settlement(r, at, item, due, verdict, t));
        ELASTICJOB_CO_TRY(auto const reply, co_await r.commit(std::move(t)));
        if (reply) co_return success();
    }
    co_return error{errc::version_conflict, "the item's record kept changing: repeat the call",
                    at.run_record(item).str()};
}

/// `settle_dead_letter` as an operator's command. After a lost reply, repeat it with the same key: that starts no
/// second run, but returns the result of the first call, even if the run has failed again since.
/// Errors: as `settle_dead_letter`, and those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_dead_letter(Registry& r, job_name job, item_index item, wall_time due,
                                               dead_letter_verdict verdict, command_by by) {
    job_layout const at{job};
    auto const plan = [&r, at, item, due, verdict](transaction& t) -> task<result<detail::command_plan>> {
        co_return co_await detail::plan_settlement(r, at, item, due, verdict, t);
    };
    auto title = detail::title_of(verdict, item, due);
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

// The functions above as blocking calls. Those with the name of an operator are in the audit trail and wait up to ten
// seconds. Threads: any but the loop's.

/// The dead letters of a job, in the order of its items. Errors: as `find_dead_letters`, and invalid_argument for an
/// invalid job name.
template <registry Registry>
result<std::vector<dead_letter>> list_dead_letters(Registry& r, std::string_view job) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    return block_on(r.loop(), find_dead_letters(r, std::move(name)));
}

/// Makes the item's owner run a dead letter at once. Not in the audit trail. Errors: as `settle_dead_letter`,
/// and invalid_argument for an invalid job name.
template <registry Registry>
result<void> run_again(Registry& r, std::string_view job, item_index item, wall_time due) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    return block_on(r.loop(), settle_dead_letter(r, std::move(name), item, due, dead_letter_verdict::run_again));
}

/// Removes a dead letter from its item's record. Not in the audit trail. Errors: as `run_again`.
template <registry Registry>
result<void> discard(Registry& r, std::string_view job, item_index item, wall_time due) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    return block_on(r.loop(), settle_dead_letter(r, std::move(name), item, due, dead_letter_verdict::discard));
}

/// Makes the item's owner run a dead letter at once. Errors: as `order_dead_letter`, and timed_out: repeat the call
/// with the same key; invalid_argument for an invalid job name.
template <registry Registry>
result<command_result> run_again(Registry& r, std::string_view job, item_index item, wall_time due, command_by by) {
    return detail::wait_for_job(r, job, [&](job_name name) {
        return order_dead_letter(r, std::move(name), item, due, dead_letter_verdict::run_again, by);
    });
}

/// Removes a dead letter from its item's record. Errors: as `run_again`.
template <registry Registry>
result<command_result> discard(Registry& r, std::string_view job, item_index item, wall_time due, command_by by) {
    return detail::wait_for_job(r, job, [&](job_name name) {
        return order_dead_letter(r, std::move(name), item, due, dead_letter_verdict::discard, by);
    });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/dead_letters.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_DEAD_LETTERS_HPP
