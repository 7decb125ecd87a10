// SPDX-License-Identifier: Apache-2.0
/// \file \brief Calls the hooks around a round, on one instance of the cluster.
#ifndef ELASTICJOB_SCHEDULER_ROUNDS_HPP
#define ELASTICJOB_SCHEDULER_ROUNDS_HPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/dealt_items.hpp>
#include <elasticjob/execution/lasting_failure.hpp>
#include <elasticjob/execution/lease_terms.hpp> // lease_rule
#include <elasticjob/execution/listeners.hpp>
#include <elasticjob/execution/round_life.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/watch.hpp>
#include <elasticjob/scheduler/call_hook.hpp>
#include <elasticjob/scheduler/run_context.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Carries out the steps of the rounds in which this instance takes part, in one coroutine for each round, `attend`.
/// Threads: the loop's; hooks run on the pool. Before destruction: `is_idle`.
template <class Environment>
class rounds {
    using Loop = typename Environment::loop_type;

public:
    /// Notifies the context's `idle_news` when `is_idle` may have become true.
    explicit rounds(run_context<Environment>& s) : context_{s}, news_{s.loop()} {}

    void set_item_count(std::uint32_t count) { item_count_ = count; }

    /// Waits until the items of that round may run: after the hook, or at the latest `round_start_timeout` after this
    /// call. If the hook has not returned by then, this is reported once.
    task<void> begin(item_index i, wall_time due);

    /// This instance now owns the item, whose handled instants are not known yet.
    void take(item_index i) { items_.take(i); }

    /// The item has handled every instant up to `through`. `may_be_others`: perhaps including rounds that began without
    /// this instance.
    void dealt_with(item_index i, wall_time through, bool may_be_others);

    /// Another instance now owns the item, and reads which instants are handled.
    void forget(item_index i);

    bool is_idle() const noexcept { return hooks_ == 0; }

    /// Before the instance leaves: finishes rounds that wait only for this instance, for at most a second without a
    /// hook. Then it calls no more hooks, and leaves the rest of the rounds to other instances or to its next start.
    task<void> finish();

private:
    using hook = round_hook;

    struct round_here {
        round_here(wall_time due, event_count<Loop>& news) : life{due}, changed{news}, noted{news} {}
        round_life life;
        event_watch<Loop> changed; ///< armed as long as the round's node is unchanged since the last read
        event_watch<Loop> noted;   ///< likewise for the names below
        mono_time read_at{};       ///< when the last read of the round's node began, on the lease's clock
        bool is_told_late = false;
    };

    mono_time now() const noexcept { return context_.now(); }
    round_moment moment_of(round_here const& r) const;

    round_here& join(wall_time due);

    /// One round, as this instance sees it.
    task<void> attend(round_here& r);

    /// Carries out one step, and passes its reply to the round.
    task<round_news> carry_out(round_here& r, round_step step);

    task<result<void>> call(round_life const& life, hook which, mono_time until);

    /// Reports a request that the registry refuses for good: once, until it lets this instance change a round again.
    void tell_refused(error const& why) {
        if (failed_.is_news(why)) context_.tell_trouble(why);
    }
    void tell(round_life const& life, round_news const& news);
    void tell_missed(round_life const& life, hook which, std::string const& why);

    /// Joins rounds that begin elsewhere for instants that our items have handled. Such a round may begin a little
    /// later, so this continues until `look_until_`.
    task<void> look_for_others();
    void join_all(std::vector<std::string> const& names);

    static constexpr std::size_t rounds_max = 64;
    static constexpr std::chrono::seconds look_again{1}; ///< how often it checks the view for lost holders
    static constexpr std::chrono::seconds finish_timeout{1};

    run_context<Environment>& context_;
    event_count<Loop> news_;
    std::uint32_t item_count_ = 0;
    std::map<wall_time, round_here> all_;
    dealt_items items_;
    mono_time look_until_{};
    bool is_looking_ = false;
    bool is_sealed_ = false;
    int hooks_ = 0;
    lasting_failure failed_{}; ///< of the requests of all rounds
    task_scope tasks_;         ///< last: its tasks use all of the above
};

template <class Environment>
task<void> rounds<Environment>::begin(item_index i, wall_time due) {
    auto const deadline = now() + context_.env.options.round_start_timeout;
    auto& life = join(due).life;
    life.note_begun();
    if (context_.env.listeners.start_together()) {
        life.note_ready(i);
        news_.notify();
    }
    for (;;) {
        auto const seen = news_.edition();
        auto const at = all_.find(due);
        if (at == all_.end() || at->second.life.is_open()) co_return;
        if (now() >= deadline) {
            if (!std::exchange(at->second.is_told_late, true))
                tell_missed(at->second.life, hook::before,
                            "it was not over within round_start_timeout, so items begin");
            co_return;
        }
        co_await news_.newer_than(seen, deadline);
    }
}

template <class Environment>
void rounds<Environment>::dealt_with(item_index i, wall_time through, bool may_be_others) {
    if (items_.deal(i, through)) news_.notify();
    if (!may_be_others) return;
    look_until_ = now() + context_.env.options.round_start_timeout;
    if (!std::exchange(is_looking_, true)) tasks_.spawn(look_for_others());
}

template <class Environment>
void rounds<Environment>::forget(item_index i) {
    items_.drop(i);
    news_.notify();
}

template <class Environment>
task<void> rounds<Environment>::finish() {
    auto until = now() + finish_timeout;
    for (;;) {
        auto const seen = news_.edition();
        bool const can_go_on = std::any_of(all_.begin(), all_.end(), [&](auto const& one) {
            return one.second.life.can_go_on(moment_of(one.second));
        });
        if (hooks_ > 0) until = now() + finish_timeout;
        if (!can_go_on || now() >= until || context_.registry.session().state != session_state::connected) break;
        co_await news_.newer_than(seen, until);
    }
    is_sealed_ = true;
    while (hooks_ > 0) {
        auto const seen = context_.idle_news.edition();
        co_await context_.idle_news.newer_than(seen);
    }
}

template <class Environment>
auto rounds<Environment>::moment_of(round_here const& r) const -> round_moment {
    auto const& options = context_.env.options;
    auto const& holder = r.life.state().holder;
    return {.self = context_.self,
            .at = context_.at,
            .items = items_,
            .generation = context_.registry.session().generation,
            .item_count = item_count_,
            .start_timeout = options.round_start_timeout,
            .end_timeout = options.round_end_timeout,
            .now = now(),
            .is_current = r.changed.is_linked(),
            .is_fresh = context_.env.lease.now() - r.read_at < lease_rule::assumed(context_.registry.session().timeout),
            .is_list_current = r.noted.is_linked(),
            .is_holder_unseen = holder != context_.self.str() && !context_.view->has_instance(holder),
            .calls_nothing_more = is_sealed_,
            .starts_together = context_.env.listeners.start_together()};
}

template <class Environment>
auto rounds<Environment>::join(wall_time due) -> round_here& {
    auto const [at, is_new] = all_.try_emplace(due, due, news_);
    if (!is_new) return at->second;
    auto too_many = all_.size() - std::min(all_.size(), rounds_max);
    for (auto& [unused, r] : all_)
        if (too_many > 0) r.life.give_up(), --too_many;
    tasks_.spawn(attend(at->second));
    news_.notify();
    return at->second;
}

template <class Environment>
task<void> rounds<Environment>::attend(round_here& r) {
    for (;;) {
        auto const seen = news_.edition();
        auto step = r.life.next(moment_of(r));
        if (step.is == round_step::kind::leave) break;
        if (step.is == round_step::kind::rest) {
            co_await news_.newer_than(seen, std::min(step.until, now() + look_again));
            continue;
        }
        bool const was_open = r.life.is_open();
        auto const news = co_await carry_out(r, std::move(step));
        tell(r.life, news);
        if (r.life.is_open() != was_open) news_.notify();
    }
    if (r.life.never_began() && r.life.has_items()) {
        char const* const why = "the registry did not let the round begin, and many later ones are due";
        if (!r.is_told_late) tell_missed(r.life, hook::before, why);
        tell_missed(r.life, hook::after, why);
    }
    all_.erase(r.life.due());
    news_.notify();
}

template <class Environment>
task<round_news> rounds<Environment>::carry_out(round_here& r, round_step step) {
    auto& registry = context_.registry;
    auto const generation = registry.session().generation;
    switch (step.is) {
    case round_step::kind::read: {
        r.changed.unlink();
        r.read_at = context_.env.lease.now();
        auto read = co_await registry.get(step.path, &r.changed);
        if (!read) {
            r.changed.unlink();
            tell_refused(read.error());
        }
        co_return r.life.read(moment_of(r), std::move(read));
    }
    case round_step::kind::read_latest: {
        auto const read = co_await registry.get(step.path);
        if (!read) tell_refused(read.error());
        co_return r.life.latest_read(moment_of(r), read);
    }
    case round_step::kind::look: {
        auto const stat = co_await registry.exists(step.path);
        co_return r.life.holder_looked_for(moment_of(r), stat ? result<bool>{stat->has_value()} : stat.error());
    }
    case round_step::kind::commit: {
        auto const reply = co_await registry.commit(std::move(step.changes));
        if (!reply)
            tell_refused(reply.error());
        else if (*reply)
            failed_.end();
        co_return r.life.committed(moment_of(r), reply);
    }
    case round_step::kind::call: {
        auto const outcome = co_await call(r.life, step.hook, step.until);
        co_return r.life.hook_called(outcome);
    }
    case round_step::kind::note: {
        auto const made =
            co_await registry.create(step.path, std::move(step.text), create_mode::persistent, generation);
        if (made)
            failed_.end();
        else
            tell_refused(made.error());
        co_return r.life.noted(moment_of(r), made);
    }
    case round_step::kind::list: {
        r.noted.unlink();
        auto names = co_await registry.children(step.path, &r.noted);
        if (!names) {
            r.noted.unlink();
            tell_refused(names.error());
        }
        co_return r.life.listed(moment_of(r), std::move(names));
    }
    case round_step::kind::read_notes: {
        auto const notes = co_await read_all(registry, std::move(step.paths));
        if (!notes) tell_refused(notes.error());
        co_return r.life.notes_read(moment_of(r), notes);
    }
    case round_step::kind::rest:
    case round_step::kind::leave:
        break;
    }
    co_return round_news{};
}

template <class Environment>
task<result<void>> rounds<Environment>::call(round_life const& life, hook which, mono_time until) {
    job_round const round{context_.name.str(), life.due(), item_count_};
    auto const hear = [&]() -> result<void> {
        return which == hook::before ? context_.env.listeners.before_round(round)
                                     : context_.env.listeners.after_round(round);
    };
    ++hooks_;
    auto const outcome = co_await call_hook(context_.env.pool, context_.loop(), context_.job.callers,
                                            std::min(until, now() + hook_timeout), hear);
    --hooks_;
    context_.idle_news.notify();
    co_return outcome;
}

template <class Environment>
void rounds<Environment>::tell(round_life const& life, round_news const& news) {
    if (news.trouble) context_.tell_trouble(*news.trouble);
    if (!news.missed_before.empty()) tell_missed(life, hook::before, news.missed_before);
    if (!news.missed_after.empty()) tell_missed(life, hook::after, news.missed_after);
}

template <class Environment>
void rounds<Environment>::tell_missed(round_life const& life, hook which, std::string const& why) {
    std::string const when = which == hook::before ? "before" : "after";
    context_.tell_trouble(error{errc::round_missed, "the hook " + when + " a round was perhaps not called: " + why,
                                life.path(context_.at).str()});
}

template <class Environment>
task<void> rounds<Environment>::look_for_others() {
    event_watch<Loop> changed{news_};
    mono_time again{};
    while (now() < look_until_ && !is_sealed_) {
        co_await yield(context_.loop()); // items that are woken at the same time join
        auto const seen = news_.edition();
        if (!changed.is_linked() && now() >= again) {
            auto const names = co_await context_.registry.children(context_.at.rounds(), &changed);
            if (names) {
                join_all(*names);
            } else {
                changed.unlink();
                again = now() + look_again;
            }
        }
        co_await news_.newer_than(seen, changed.is_linked() ? look_until_ : again);
    }
    is_looking_ = false;
}

template <class Environment>
void rounds<Environment>::join_all(std::vector<std::string> const& names) {
    for (auto const& name : names)
        if (wall_time due{}; read_instant(name, due)) join(due);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ROUNDS_HPP
