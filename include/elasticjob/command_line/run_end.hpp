// SPDX-License-Identifier: Apache-2.0
/// \file \brief Waits for the end of runs: those of one item, or one run of each item of a job.
#ifndef ELASTICJOB_COMMAND_LINE_RUN_END_HPP
#define ELASTICJOB_COMMAND_LINE_RUN_END_HPP

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/operations/config_with_item.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry_ref.hpp>
#include <elasticjob/registry/watch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::cli {

/// The awaited end of a run.
enum class wanted_end : std::uint8_t { either, success, failure };

/// The awaited runs: for each item, the last run that has ended since this object was made, or since `count_since`. A
/// run that fails and waits for a retry has not ended. A value.
class awaited_runs {
public:
    struct item_end {
        item_index item = 0;
        std::optional<run_entry> end{}; ///< completed, failed or interrupted; nothing: it has not ended yet
    };

    /// `only`: only runs of this source count, and those that repeat one because its instance died; nothing: all.
    awaited_runs(std::vector<item_index> items, std::optional<run_source> only);

    /// Takes the record of an item: `begin` the first one, `take` later ones.
    void begin(std::size_t n, run_record const& record);
    void take(std::size_t n, run_record const& record);

    /// Runs that had ended already count too if they began at that time or later.
    void count_since(wall_time t);

    std::vector<item_end> const& items() const noexcept { return items_; }
    bool has_failed() const;
    bool is_over(wanted_end wanted) const;

    /// The indices of the items whose runs may still change the answer.
    std::vector<std::size_t> left(wanted_end wanted) const;

private:
    bool is_wanted(run_record const& record, run_begin const& run) const;
    bool counts(run_record const& record, run_entry const& e) const;

    std::vector<item_end> items_;
    std::vector<std::vector<run_begin>> before_; ///< the runs that had ended already
    std::optional<run_source> only_;
};

namespace detail {

/// The paths of the items' records.
inline std::vector<node_path> record_paths(job_layout const& at, std::vector<item_index> const& items) {
    std::vector<node_path> paths;
    for (auto const item : items) paths.push_back(at.run_record(item));
    return paths;
}

/// An item without a record has an empty one. Errors: malformed_data; those of the registry.
template <loop Loop>
task<result<std::vector<run_record>>> read_records(registry_ref<Loop> r, std::vector<node_path> paths) {
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, std::move(paths)));
    std::vector<run_record> records(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i]) {
            ELASTICJOB_CO_TRY(records[i], run_record::parse(nodes[i]->data));
        }
    co_return records;
}

/// As above. Arms watches before it reads; they replace the former ones.
template <loop Loop>
task<result<std::vector<run_record>>> read_watched_records(registry_ref<Loop> r, std::vector<node_path> paths,
                                                           std::deque<event_watch<Loop>>& watches,
                                                           event_count<Loop>& news) {
    watches.clear();
    auto const arm = [&](node_path const& path) { return r.exists(path, &watches.emplace_back(news)); };
    auto const armed = co_await gather_each(r.loop(), paths, arm);
    for (auto const& one : armed)
        if (!one) co_return one.error();
    co_return co_await read_records(r, std::move(paths));
}

} // namespace detail

/// The maximum number of items for one wait, because each change of a record makes it read all that are left.
inline constexpr item_index awaited_items_max = 1'000;

/// The runs of the item, or of all items of the job, that end from now on. Errors: no_node if there is no such job or
/// item; invalid_argument if it has too many items; malformed_data; those of the registry.
template <loop Loop>
task<result<awaited_runs>> begin_to_wait(registry_ref<Loop> r, job_name job, std::optional<item_index> item,
                                         std::optional<run_source> only) {
    job_layout const at{job};
    ELASTICJOB_CO_TRY(auto const settings, co_await find_settings(r, std::move(job)));
    auto const count = static_cast<item_index>(settings.config.sharding_total_count);
    if (item) {
        ELASTICJOB_CO_CHECK(elasticjob::detail::check_item(at, settings.config, *item));
    }
    if (!item && count > awaited_items_max)
        co_return error{errc::invalid_argument,
                        "the job has " + std::to_string(count) + " items: name one, because a wait is for up to " +
                            std::to_string(awaited_items_max),
                        at.root().str()};
    std::vector<item_index> items;
    for (auto i = item.value_or(0); i < (item ? *item + 1 : count); ++i) items.push_back(i);
    ELASTICJOB_CO_TRY(auto const records, co_await detail::read_records(r, detail::record_paths(at, items)));
    awaited_runs runs{std::move(items), only};
    for (std::size_t i = 0; i < records.size(); ++i) runs.begin(i, records[i]);
    co_return runs;
}

/// Waits until the runs have ended or until `due`. Reads again when a record changes, and a second after the registry
/// could not be read. Errors: malformed_data; those of the registry, if they last until `due`.
template <loop Loop>
task<result<awaited_runs>> wait_for_runs(registry_ref<Loop> r, job_name job, awaited_runs runs, wanted_end wanted,
                                         mono_time due) {
    constexpr std::chrono::milliseconds pause{200}; // because many records change at once
    constexpr std::chrono::seconds looks_every{1};
    job_layout const at{job};
    auto& l = r.loop();
    event_count<Loop> news{l};
    std::deque<event_watch<Loop>> watches;
    for (;;) {
        auto const seen = news.edition();
        auto const left = runs.left(wanted);
        std::vector<item_index> items;
        for (auto const n : left) items.push_back(runs.items()[n].item);
        auto const records = co_await detail::read_watched_records(r, detail::record_paths(at, items), watches, news);
        if (!records && (!is_transient(records.error()) || l.now() >= due)) co_return records.error();
        if (!records) {
            co_await sleep_until(l, std::min(due, l.now() + looks_every));
            continue;
        }
        for (std::size_t i = 0; i < records->size(); ++i) runs.take(left[i], (*records)[i]);
        if (runs.is_over(wanted) || l.now() >= due) co_return runs;
        co_await news.newer_than(seen, due);
        co_await sleep_until(l, std::min(due, l.now() + pause));
    }
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/run_end.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_RUN_END_HPP
