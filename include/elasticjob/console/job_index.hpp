// SPDX-License-Identifier: Apache-2.0
/// \file \brief The jobs of a registry in memory, which watches keep current as long as readers look at them.
#ifndef ELASTICJOB_CONSOLE_JOB_INDEX_HPP
#define ELASTICJOB_CONSOLE_JOB_INDEX_HPP

#include <elasticjob/console/change_log.hpp>
#include <elasticjob/console/job_row.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/registry/read_paced.hpp>
#include <elasticjob/registry/watch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Reads all jobs at the first call, and then only jobs that have changed: about seventeen requests and seven watches
/// for each job. If there is no call for a minute, it drops all jobs, and tells the readers of the log to start again.
/// So repeated lists cost no requests, and neither does an idle one; a registry with 3,000 jobs is read once.
/// Threads: any but the loop's; the registry must outlive it.
template <registry Registry>
class job_index {
public:
    static constexpr std::chrono::seconds idle_max{60};
    static constexpr std::chrono::seconds look_interval{5}; ///< for jobs beyond the limit of watches
    static constexpr std::uint32_t watched_items_max = 200; ///< of one job

    job_index(Registry& r, zone_ref zone, change_log& log) : state_{std::make_unique<state>(r, zone, log)} {}
    job_index(job_index&&) noexcept = default;
    job_index& operator=(job_index&&) = delete;
    ~job_index() {
        if (state_) (void)block_on(state_->registry.loop(), drop(*state_));
    }

    /// All jobs, sorted by name. Waits up to a minute for the first reading. Errors: those of the registry; timed_out.
    result<job_rows> rows() {
        return wait_within(state_->registry.loop(), std::chrono::seconds{60}, find_rows(*state_));
    }

    /// The removed jobs whose names cannot be used. One request for each name without a configuration. Errors: as
    /// `rows`.
    result<std::vector<removed_job>> removed() {
        return wait_within(state_->registry.loop(), std::chrono::seconds{60}, find_removed(*state_));
    }

    /// Call it while a reader still looks.
    void keep() {
        post(state_->registry.loop(), [s = state_.get()] { look(*s); });
    }

    /// Call it when a reader looks at these items of a job. Then their runs count as changes, until the items change or
    /// for a minute.
    void watch_items(std::string const& job, item_index first, std::uint32_t count) {
        post(state_->registry.loop(), [s = state_.get(), job, first, count] {
            auto const there = s->jobs.find(job);
            if (there == s->jobs.end()) return;
            auto& seen = *there->second;
            seen.items = {first, std::min(count, watched_items_max)};
            seen.items_until = s->registry.loop().now() + idle_max;
            seen.needs_items = true;
            s->stale.notify();
        });
    }

private:
    using loop_type = typename Registry::loop_type;

    struct watched_job {
        watched_job(loop_type& l, job_name n) : at{n}, news{l} {}
        job_layout at;
        event_count<loop_type> news; ///< of all its watches
        std::map<node_path, event_watch<loop_type>> data{}, children{};
        std::vector<std::string> servers{}; ///< the servers with an instance, sorted
        std::pair<item_index, std::uint32_t> items{};
        mono_time items_until{};
        std::shared_ptr<job_row const> row{};
        bool is_stale = true;
        bool needs_items = false;  ///< a reader looks at items that are not watched yet
        bool is_unwatched = false; ///< the session had no room for more watches
        task_scope telling{};

        void note_servers(std::vector<std::string> const& instances) {
            servers.clear();
            for (auto const& id : instances) servers.push_back(id.substr(0, id.find(identity_delimiter)));
            std::sort(servers.begin(), servers.end());
            servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
            std::erase_if(servers, [](auto const& name) { return node_path::element_fault(name); });
            std::erase_if(data, [&](auto const& one) {
                auto const& path = one.first.str();
                return path.starts_with(at.servers().str() + "/") &&
                       !std::binary_search(servers.begin(), servers.end(), one.first.name());
            });
        }
    };

    struct state {
        state(Registry& r, zone_ref z, change_log& l) : registry{r}, zone{z}, log{l}, stale{r.loop()}, read{r.loop()} {}
        Registry& registry;
        zone_ref zone;
        change_log& log;
        std::map<std::string, std::unique_ptr<watched_job>> jobs{};
        event_count<loop_type> stale; ///< something has changed, or a reader has begun to look
        event_count<loop_type> read;  ///< a read has ended
        bool is_whole = false;        ///< all jobs have been read once
        std::optional<error> fault{}; ///< of the last read
        mono_time looked_at{};
        bool is_kept = false;
        task_scope keeping{};
    };

    static task<result<bool>> drop(state& s) {
        s.keeping.cancel();
        s.jobs.clear();
        co_return true;
    }

    static void look(state& s) {
        s.looked_at = s.registry.loop().now();
        if (s.is_kept) return;
        s.is_kept = true;
        s.keeping.spawn(keep_read(s));
    }

    static task<result<void>> wait_for_rows(state& s) {
        look(s);
        while (!s.is_whole && !s.fault) co_await s.read.newer_than(s.read.edition());
        if (s.fault) co_return *s.fault;
        co_return success();
    }

    static task<result<job_rows>> find_rows(state& s) {
        ELASTICJOB_CO_CHECK(co_await wait_for_rows(s));
        job_rows all;
        for (auto const& [name, job] : s.jobs)
            if (job->row) all.push_back(job->row);
        co_return all;
    }

    static task<result<std::vector<removed_job>>> find_removed(state& s) {
        ELASTICJOB_CO_CHECK(co_await wait_for_rows(s));
        std::vector<std::string> names;
        std::vector<node_path> paths;
        for (auto const& [name, job] : s.jobs) {
            if (job->row) continue;
            names.push_back(name);
            paths.push_back(job->at.removed());
        }
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(s.registry, std::move(paths), paced_requests_max));
        std::vector<removed_job> all;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (nodes[i])
                all.push_back(
                    {std::move(names[i]), wall_time{std::chrono::milliseconds{nodes[i]->stat.modified_at_ms}}});
        co_return all;
    }

    static bool is_linked(std::map<node_path, event_watch<loop_type>> const& watches, node_path const& path) {
        auto const there = watches.find(path);
        return there != watches.end() && there->second.is_linked();
    }

    static task<void> keep_read(state& s);
    static task<void> follow_session(state& s);
    static mono_time next_look(state& s);
    static task<result<void>> read_changes(state& s, node_watch<loop_type>& names);
    static task<result<void>> read_names(state& s, node_watch<loop_type>& watch);
    static task<result<void>> read_stale(state& s);
    static task<result<void>> read_batch(state& s, std::vector<watched_job*> batch);
    static task<result<void>> arm(state& s, watched_job& job);
    static task<result<void>> arm_server(state& s, watched_job& job);
    static task<result<void>> arm_items(state& s, watched_job& job);
    static task<void> tell(state& s, watched_job& job, std::uint64_t seen);

    std::unique_ptr<state> state_; ///< used on the loop only
};

template <registry Registry>
task<void> job_index<Registry>::keep_read(state& s) {
    auto& l = s.registry.loop();
    event_watch<loop_type> names{s.stale};
    task_scope session;
    session.spawn(follow_session(s));
    while (l.now() < s.looked_at + idle_max) {
        auto const seen = s.stale.edition();
        auto done = co_await read_changes(s, names);
        // Nothing need have been read, and without a connection nobody knows of changes.
        if (done && s.registry.session().state != session_state::connected)
            done = error{errc::not_sent, "the connection to the registry is down"};
        bool const was_read = !s.fault, is_read = done.has_value();
        s.fault.reset();
        if (!done) s.fault = std::move(done).error();
        // Changes before the watches are unknown. Readers see that the registry is away, and that it is back.
        bool const is_first = is_read && !std::exchange(s.is_whole, true);
        if (is_first || is_read != was_read) s.log.reset();
        s.read.notify();
        // Collect changes for a while, so that a busy job is not read more often than a reader can notice.
        co_await sleep_until(l, l.now() + std::chrono::milliseconds{is_read ? 50 : 1'000});
        auto const next = next_look(s);
        while (is_read && l.now() < std::min(next, s.looked_at + idle_max) && s.stale.edition() == seen)
            co_await s.stale.newer_than(seen, std::min(next, s.looked_at + idle_max));
        for (auto const& [name, job] : s.jobs) job->is_stale |= job->is_unwatched && l.now() >= next;
    }
    s.jobs.clear();
    s.is_whole = s.is_kept = false;
    s.fault.reset();
}

/// Wakes the reader when the connection is lost or back.
template <registry Registry>
task<void> job_index<Registry>::follow_session(state& s) {
    auto& changed = s.registry.session_changed();
    for (;;) {
        co_await changed.newer_than(changed.edition());
        s.stale.notify();
    }
}

/// The time at which jobs without watches are read again.
template <registry Registry>
mono_time job_index<Registry>::next_look(state& s) {
    bool const is_needed =
        std::any_of(s.jobs.begin(), s.jobs.end(), [](auto const& j) { return j.second->is_unwatched; });
    return is_needed ? s.registry.loop().now() + look_interval : mono_time::max();
}

/// Reads the names of the jobs if they have changed, and then the jobs that have changed.
template <registry Registry>
task<result<void>> job_index<Registry>::read_changes(state& s, node_watch<loop_type>& names) {
    if (!names.is_linked()) {
        ELASTICJOB_CO_CHECK(co_await read_names(s, names));
    }
    co_return co_await read_stale(s);
}

template <registry Registry>
task<result<void>> job_index<Registry>::read_names(state& s, node_watch<loop_type>& watch) {
    ELASTICJOB_CO_TRY(auto const names, co_await s.registry.children(node_path{}, &watch));
    std::map<std::string, std::unique_ptr<watched_job>> jobs;
    for (auto const& name : names) {
        auto const parsed = job_name::parse(name);
        if (!parsed) continue;
        auto known = s.jobs.extract(name);
        jobs.emplace(name,
                     known ? std::move(known.mapped()) : std::make_unique<watched_job>(s.registry.loop(), *parsed));
    }
    for (auto const& [name, gone] : s.jobs) s.log.add(name);
    s.jobs = std::move(jobs);
    co_return success();
}

template <registry Registry>
task<result<void>> job_index<Registry>::read_stale(state& s) {
    constexpr std::size_t batch_max = paced_requests_max / 4;
    std::vector<watched_job*> batch;
    for (auto at = s.jobs.begin(); at != s.jobs.end();) {
        if (at->second->is_stale) batch.push_back(at->second.get());
        ++at;
        if (batch.size() < batch_max && (at != s.jobs.end() || batch.empty())) continue;
        auto const read = co_await read_batch(s, batch);
        if (!read) {
            for (auto* job : batch) job->is_stale = true;
            co_return read.error();
        }
        batch.clear();
    }
    for (auto const& [name, job] : s.jobs)
        if (std::exchange(job->needs_items, false)) {
            ELASTICJOB_CO_CHECK(co_await arm_items(s, *job));
        }
    co_return success();
}

template <registry Registry>
task<result<void>> job_index<Registry>::read_batch(state& s, std::vector<watched_job*> batch) {
    auto& l = s.registry.loop();
    // A change after this line makes the job stale again, even if it is read below.
    for (auto* job : batch) {
        job->is_stale = false;
        job->telling.cancel();
        job->telling.spawn(tell(s, *job, job->news.edition()));
    }
    auto const armed = co_await gather_each(l, batch, [&](watched_job* job) { return arm(s, *job); });
    for (auto const& one : armed)
        if (!one) co_return one.error();
    std::vector<std::string> names;
    std::vector<node_path> paths, lists;
    for (auto const* job : batch) {
        names.emplace_back(job->at.root().name());
        paths.push_back(job->at.config());
        paths.push_back(job->at.schedule());
        lists.push_back(job->at.servers());
    }
    ELASTICJOB_CO_TRY(auto const overviews, co_await read_overviews(s.registry, names, paced_requests_max));
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(s.registry, std::move(paths), paced_requests_max));
    ELASTICJOB_CO_TRY(auto servers, co_await list_paced(s.registry, std::move(lists), paced_requests_max));
    auto overview = overviews.begin(); // for the jobs with a configuration, in the same order
    for (std::size_t i = 0; i < batch.size(); ++i) {
        auto& job = *batch[i];
        job.row.reset();
        if (overview != overviews.end() && overview->name == names[i]) {
            auto row = std::make_shared<job_row>(job_row{*overview++, {}, std::move(servers[i])});
            auto const* const n = &nodes[2 * i];
            auto const stored =
                read_stored(n[0] ? &*n[0] : nullptr, n[1] ? &*n[1] : nullptr, job.at, sharding_total_count_max);
            if (stored && *stored) row->config = (*stored)->config();
            row->next_due = next_due_of(*row, l.wall_now(), s.zone);
            job.row = std::move(row);
        }
        if (s.is_whole) s.log.add(names[i]);
    }
    co_return success();
}

/// Arms the missing watches. A session has a limit for its watches; a job beyond it is read at intervals. Errors: those
/// of the registry.
template <registry Registry>
task<result<void>> job_index<Registry>::arm(state& s, watched_job& job) {
    auto const& at = job.at;
    auto& l = s.registry.loop();
    // Every change of an item's owner requests a sharding; the audit trail shows commands.
    std::vector<node_path> data{at.config(), at.schedule(), at.assignment(), at.audit()};
    std::vector<node_path> lists{at.instances(), at.sharding_flags()};
    std::erase_if(lists, [&](node_path const& p) { return is_linked(job.children, p); });
    auto const watch_data = [&](node_path const& p) {
        return s.registry.exists(p, &job.data.try_emplace(p, job.news).first->second);
    };
    auto const watch_list = [&](node_path const& p) {
        return s.registry.children(p, &job.children.try_emplace(p, job.news).first->second);
    };
    auto const listed = co_await gather_each(l, lists, watch_list);
    job.is_unwatched = false;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        if (listed[i]) {
            if (lists[i] == at.instances()) job.note_servers(*listed[i]);
            continue;
        }
        if (listed[i].error() == errc::no_node)
            data.push_back(lists[i]); // so that its creation is noticed
        else if (listed[i].error() == errc::too_large)
            job.is_unwatched = true;
        else
            co_return listed[i].error();
    }
    std::erase_if(data, [&](node_path const& p) { return is_linked(job.data, p); });
    auto const found = co_await gather_each(l, data, watch_data);
    for (auto const& one : found) {
        if (one) continue;
        if (!(one.error() == errc::too_large)) co_return one.error();
        job.is_unwatched = true;
    }
    job.needs_items = l.now() < job.items_until;
    co_return co_await arm_server(s, job);
}

/// A job is disabled if all servers with an instance are disabled. So watching one enabled server is enough; if there
/// is none, watch all.
template <registry Registry>
task<result<void>> job_index<Registry>::arm_server(state& s, watched_job& job) {
    for (auto const& name : job.servers) {
        auto const path = job.at.server(name);
        auto* const watch = is_linked(job.data, path) ? nullptr : &job.data.try_emplace(path, job.news).first->second;
        auto const there = co_await s.registry.get(path, watch);
        if (!there && there.error() == errc::no_node) break; // a server without a node is enabled
        if (!there && !(there.error() == errc::too_large)) co_return there.error();
        if (!there) job.is_unwatched = true;
        if (!there || there->data != server_disabled) break;
    }
    co_return success();
}

template <registry Registry>
task<result<void>> job_index<Registry>::arm_items(state& s, watched_job& job) {
    std::vector<node_path> wanted;
    for (auto i = job.items.first; i < job.items.first + job.items.second; ++i) {
        wanted.push_back(job.at.run_record(i));
        wanted.push_back(job.at.item_running(i)); // Java members write only this node
        wanted.push_back(job.at.item_disabled(i));
    }
    std::sort(wanted.begin(), wanted.end());
    auto const records = job.at.run_records().str() + "/", items = job.at.sharding().str() + "/";
    std::erase_if(job.data, [&](auto const& one) {
        auto const& path = one.first.str();
        bool const is_of_item =
            (path.starts_with(records) || path.starts_with(items)) && one.first != job.at.item_instance(0);
        return is_of_item && !std::binary_search(wanted.begin(), wanted.end(), one.first);
    });
    std::erase_if(wanted, [&](node_path const& p) { return is_linked(job.data, p); });
    auto const watch_one = [&](node_path const& p) {
        return s.registry.exists(p, &job.data.try_emplace(p, job.news).first->second);
    };
    auto const armed = co_await gather_each(s.registry.loop(), wanted, watch_one);
    for (auto const& one : armed) {
        if (one) continue;
        if (!(one.error() == errc::too_large)) co_return one.error();
        job.is_unwatched = true;
    }
    co_return success();
}

template <registry Registry>
task<void> job_index<Registry>::tell(state& s, watched_job& job, std::uint64_t seen) {
    co_await job.news.newer_than(seen);
    job.is_stale = true;
    s.stale.notify();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CONSOLE_JOB_INDEX_HPP
