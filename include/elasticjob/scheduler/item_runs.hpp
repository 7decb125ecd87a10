// SPDX-License-Identifier: Apache-2.0
/// \file \brief The items that this instance runs: each on its own, none delaying another.
#ifndef ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
#define ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP

#include <elasticjob/config/task_id.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/run_on.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/execution/running_marks.hpp>
#include <elasticjob/scheduler/job_body.hpp>
#include <elasticjob/scheduler/options.hpp>

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// From the claim to the end of the run. An item is in the table from the moment it is to start until its mark has been
/// taken away; while it is there it is not started again. Threads: the loop's; bodies run on the pool.
template <registry Registry, worker_pool Pool, event_sink Sink>
class item_runs {
    using Loop = typename Registry::loop_type;

public:
    /// `news` is notified whenever an item leaves the table.
    item_runs(Registry& r, Pool& pool, Sink& sink, scheduler_options const& options, job_name name, job_layout at,
              instance_id self, job_body body, event_count<Loop>& news)
        : registry_{r}, pool_{pool}, sink_{sink}, options_{options}, name_{std::move(name)}, at_{at}, self_{self},
          marks_{r, std::move(at), std::move(self)}, body_{std::move(body)}, news_{news}, ended_news_{r.loop()} {
        tasks_.spawn(finish_ended());
    }

    /// What one firing is about.
    struct firing {
        wall_time due{};
        std::shared_ptr<valid_config const> config;
        session_generation generation;
        bool again_if_running = false; ///< an order that must not be lost (D-48); a due instant is dropped instead
    };

    /// Starts what can be started of the claim, all at once. Gives the items whose claim was out of date: try again
    /// with a new one. Returns when they have started, not when they have ended.
    task<std::vector<item_index>> start(item_claim claim, firing f) {
        admit(claim, f);
        if (claim.shares.empty()) co_return std::vector<item_index>{};
        std::vector<item_index> admitted;
        for (auto const& s : claim.shares) admitted.push_back(s.item);
        ++starting_;
        auto report = co_await start_admitted(std::move(claim), f);
        --starting_;
        if (!report) {
            tell_trouble(report.error());
            for (auto const i : admitted) skip(i, f.due, events::skip_reason::not_ready);
            co_return std::vector<item_index>{};
        }
        for (auto const i : report->disabled) skip(i, f.due, events::skip_reason::disabled);
        for (auto const i : report->unclaimed) leave_table(i);
        for (auto const i : report->running_elsewhere) tasks_.spawn(start_when_free(i, f));
        auto const id = make_task_id(name_, report->started, self_);
        for (auto const i : report->started) tasks_.spawn(run(i, f, id));
        news_.notify();
        co_return std::move(report->unclaimed);
    }

    /// Nothing runs, and nothing is about to.
    bool is_idle() const noexcept { return table_.empty() && starting_ == 0; }
    bool is_starting() const noexcept { return starting_ != 0; }

    /// Items that wait for a former owner give up; what runs is asked to stop.
    void request_stop() {
        for (auto& [i, e] : table_) e.stop.request_stop();
        news_.notify();
    }

    /// Waiting items give up, running ones go on.
    void close() {
        closing_ = true;
        news_.notify();
    }

    /// The instance has a new session: the marks of the old one have gone with it.
    task<void> mark_again(session_generation g) {
        std::vector<item_index> running;
        for (auto& [i, e] : table_) {
            if (!e.is_running || !e.generation) continue;
            e.is_being_marked = true; // should the run end meanwhile, that waits until it is known whose mark there is
            running.push_back(i);
        }
        auto const mark = [&](item_index i) { return marks_.mark_again(g, i); };
        auto const ours = co_await gather_each(registry_.loop(), running, mark);
        for (std::size_t n = 0; n < running.size(); ++n) {
            entry& e = table_.at(running[n]);
            e.is_being_marked = false;
            e.generation = g;
            if (!ours[n] || *ours[n]) continue; // ours, or of a session that is over too: then once more
            e.generation.reset(); // the mark that stands there is somebody else's, and not ours to take away
            e.stop.request_stop();
        }
        ended_news_.notify();
    }

private:
    struct entry {
        std::optional<session_generation> generation; ///< of the mark, if there is one
        std::stop_source stop{};
        bool is_running = false;
        bool is_being_marked = false;
        std::optional<firing> again{};
    };

    events::origin origin() const { return {name_.str(), self_}; }
    void tell_trouble(error const& e) { sink_(events::trouble{origin(), e}); }

    /// Takes the busy ones out of the claim, and the others into the table.
    void admit(item_claim& claim, firing const& f) {
        std::erase_if(claim.shares, [&](item_claim::share const& s) {
            auto const at = table_.find(s.item);
            if (at == table_.end()) {
                table_.emplace(s.item, entry{});
                return false;
            }
            if (f.again_if_running)
                at->second.again = f;
            else
                sink_(events::item_skipped{origin(), s.item, f.due, events::skip_reason::still_running});
            return true;
        });
    }

    void leave_table(item_index i) {
        table_.erase(i);
        news_.notify();
    }
    void skip(item_index i, wall_time due, events::skip_reason why) {
        leave_table(i);
        sink_(events::item_skipped{origin(), i, due, why});
    }

    task<result<start_report>> start_admitted(item_claim claim, firing const& f) {
        if (f.config->config().monitor_execution) return marks_.start(f.generation, std::move(claim));
        return start_unmarked(std::move(claim));
    }

    /// Without marks, only an operator can keep an item from starting.
    task<result<start_report>> start_unmarked(item_claim claim) {
        auto const read = [&](item_claim::share const& s) { return registry_.exists(at_.item_disabled(s.item)); };
        auto const found = co_await gather_each(registry_.loop(), claim.shares, read);
        start_report report;
        for (std::size_t n = 0; n < found.size(); ++n) {
            if (!found[n]) co_return found[n].error();
            (*found[n] ? report.disabled : report.started).push_back(claim.shares[n].item);
        }
        co_return report;
    }

    /// A former owner still runs it. Waits for that one node, then starts (nobody waits for a reshard, but an item waits
    /// for itself). Gives up when the instance leaves or the item has been given to somebody else.
    task<void> start_when_free(item_index i, firing f) {
        for (;;) {
            node_watch<Loop> mark_gone{news_};
            auto const seen = news_.edition();
            auto const mark = co_await registry_.exists(at_.item_running(i), &mark_gone);
            if (closing_ || registry_.session().generation != f.generation) break;
            if (mark && *mark) {
                co_await news_.newer_than(seen);
                continue;
            }
            if (!mark && !is_connection(mark.error().code)) break;
            auto const owner = co_await registry_.get(at_.item_instance(i));
            if (closing_ || !owner || owner->data != self_.str()) break;
            item_claim claim;
            item_claim::share share{i, {}};
            share.own.push_back({at_.item_instance(i), owner->stat.version});
            claim.shares.push_back(std::move(share));
            ++starting_;
            auto const report = co_await marks_.start(f.generation, std::move(claim));
            --starting_;
            if (report && !report->started.empty()) {
                tasks_.spawn(run(i, f, make_task_id(name_, report->started, self_)));
                co_return;
            }
            if (!report || report->running_elsewhere.empty()) break;
        }
        skip(i, f.due, events::skip_reason::not_ready);
    }

    task<void> run(item_index i, firing f, std::string id) {
        bool const is_marked = f.config->config().monitor_execution;
        entry& mine = table_.at(i);
        mine.is_running = true;
        if (is_marked) mine.generation = f.generation;
        auto const& config = f.config->config();
        sharding_context ctx;
        ctx.job_name = name_.str();
        ctx.task_id = std::move(id);
        ctx.sharding_total_count = static_cast<std::uint32_t>(config.sharding_total_count);
        ctx.job_parameter = config.job_parameter;
        ctx.item = i;
        ctx.parameter = f.config->parameters().find(i).value_or("");
        ctx.due = f.due;
        ctx.stop = mine.stop.get_token();
        sink_(events::item_started{origin(), i, f.due});
        auto const begin = registry_.loop().now();
        auto const call = [&] { return body_(ctx); };
        auto const outcome = co_await run_on(pool_, registry_.loop(), call);
        if (!outcome && outcome.error() == errc::overloaded) {
            sink_(events::item_skipped{origin(), i, f.due, events::skip_reason::overloaded});
        } else {
            std::optional<error> failure;
            if (!outcome) failure = outcome.error();
            sink_(events::item_finished{origin(), i, f.due, registry_.loop().now() - begin, failure});
        }
        table_.at(i).is_running = false;
        ended_.push_back(i);
        ended_news_.notify();
    }

    /// Takes the marks away of all that have ended since the last time: one transaction for those that end together.
    task<void> finish_ended() {
        for (;;) {
            auto const seen = ended_news_.edition();
            if (!std::any_of(ended_.begin(), ended_.end(), [&](item_index i) { return can_be_finished(i); })) {
                co_await ended_news_.newer_than(seen);
                continue;
            }
            co_await linger();
            std::vector<item_index> batch;
            for (auto const i : std::exchange(ended_, {})) (can_be_finished(i) ? batch : ended_).push_back(i);
            std::map<std::uint64_t, std::vector<item_index>> by_generation;
            for (auto const i : batch)
                if (auto const g = table_.at(i).generation) by_generation[g->value].push_back(i);
            for (auto& [g, items] : by_generation) co_await marks_.finish(session_generation{g}, items);
            for (auto const i : batch) {
                auto again = std::move(table_.at(i).again);
                leave_table(i);
                if (again && !closing_) tasks_.spawn(run_again(i, *std::move(again)));
            }
        }
    }

    bool can_be_finished(item_index i) const { return !table_.at(i).is_being_marked; }

    /// A moment for the others, unless there are none.
    task<void> linger() {
        auto const until = registry_.loop().now() + options_.completion_linger;
        auto const others_run = [&] {
            for (auto const& [i, e] : table_)
                if (e.is_running) return true;
            return false;
        };
        for (;;) {
            auto const seen = ended_news_.edition();
            co_await yield(registry_.loop());
            if (!others_run() || registry_.loop().now() >= until) co_return;
            co_await ended_news_.newer_than(seen, until);
        }
    }

    /// An order that came while the item was running.
    task<void> run_again(item_index i, firing f) {
        auto const owner = co_await registry_.get(at_.item_instance(i));
        if (!owner || owner->data != self_.str() || closing_) co_return;
        item_claim claim;
        item_claim::share share{i, {}};
        share.own.push_back({at_.item_instance(i), owner->stat.version});
        claim.shares.push_back(std::move(share));
        f.again_if_running = false;
        co_await start(std::move(claim), std::move(f));
    }

    Registry& registry_;
    Pool& pool_;
    Sink& sink_;
    scheduler_options const& options_;
    job_name name_;
    job_layout at_;
    instance_id self_;
    running_marks<Registry> marks_;
    job_body body_;
    event_count<Loop>& news_;
    event_count<Loop> ended_news_;
    std::map<item_index, entry> table_;
    std::vector<item_index> ended_;
    int starting_ = 0;
    bool closing_ = false;
    task_scope tasks_; ///< last: its tasks use all of the above
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
