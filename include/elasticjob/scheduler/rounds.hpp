// SPDX-License-Identifier: Apache-2.0
/// \file \brief Hooks around a round: called by one instance, for all.
#ifndef ELASTICJOB_SCHEDULER_ROUNDS_HPP
#define ELASTICJOB_SCHEDULER_ROUNDS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/listeners.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/watch.hpp>
#include <elasticjob/scheduler/call_hook.hpp>
#include <elasticjob/scheduler/job_site.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits> // conditional
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The rounds that this instance takes part in. What is true of a round stands in its node, `ext/rounds/{due}`, and
/// changes only from one version to the next:
///
///     before ID    that instance calls the hook before the round; items wait
///     open         items run; each instance notes in a node below which of them it has seen dealt with
///     after ID     all have been, and that instance calls the hook behind the round; then all of it is removed
///
/// Who makes the change is the one who acts on it. When ID dies, or time is up, whoever notices first makes the next
/// change in its place, and tells that the hook may not have been called. A round that is over stays over: `ext/rounds`
/// remembers the latest, and a new one is made only against that (D-24).
/// Threads: the loop's; hooks run on the pool. Before destruction: `is_idle`.
template <class Environment>
class rounds {
    using site = job_site<Environment>;
    using Loop = typename Environment::loop_type;
    using items = std::set<item_index>;

public:
    /// The site's `idle_news` are notified when `is_idle` may have become so.
    explicit rounds(site& s) : site_{s}, news_{s.loop()} {}

    void set_item_count(std::uint32_t count) { item_count_ = count; }

    /// Goes on when the items of that round may run: after the hook, or `round_start_timeout` after this call, however
    /// slow the registry and the hook are. If it was not after the hook, that is told once.
    task<void> begin(wall_time due);

    /// The item has dealt with every instant up to there. `may_be_others`: perhaps with some of rounds that began without
    /// this instance.
    void dealt_with(item_index i, wall_time through, bool may_be_others);

    /// The item is somebody else's now, who reads of what it has dealt with.
    void forget(item_index i) { through_.erase(i); }

    bool is_idle() const noexcept { return hooks_ == 0; }

    /// No hook is called from here any more; what is left of the rounds is for the others, or for the next life.
    void seal() noexcept { is_sealed_ = true; }

private:
    struct round_here {
        bool is_open = false;
        bool has_items = false;   ///< that run for it here
        bool is_given_up = false; ///< there are too many
        bool is_told_late = false;
        bool has_called[2] = {};  ///< by `hook`
        items noted{};            ///< what stands in our node below
        bool has_note = false;
        mono_time look_at{}; ///< when to see again whether all items have been dealt with
    };
    /// What stands in the round's node.
    struct state {
        std::string_view word;
        std::string_view who;
        static state of(std::string_view text);
    };
    enum class hook : std::uint8_t { before, after };

    mono_time now() const noexcept { return site_.now(); }
    session_generation generation() const { return site_.registry.session().generation; }

    static std::int64_t milliseconds_of(wall_time t);
    node_path node_of(wall_time due) const { return site_.at.round(std::to_string(milliseconds_of(due))); }

    void join(wall_time due);

    /// A round's life, as seen from here.
    task<void> take_part(wall_time due);

    /// Makes the round, unless it is there. False if it is over.
    task<bool> enter(wall_time due);

    task<void> follow(wall_time due);

    bool is_ours(state const& is) const { return is.who == site_.self.str(); }
    bool is_dead(state const& is) const { return !is_ours(is) && !site_.view->has_instance(is.who); }

    /// Calls the hook if that is ours to do, and lets the items run. Whether anything was tried.
    task<bool> prepare(wall_time due, node const& known, mono_time begun);

    /// Notes what has been dealt with here, and sees whether that was the last. Whether anything was changed.
    task<bool> look_at_items(wall_time due, node const& known, mono_time begun);

    /// Calls the hook if that is ours to do, and removes the round. Whether anything was tried.
    task<bool> finish(wall_time due, node const& known);

    /// What is lost with a reply is rather told twice than not at all.
    template <class T>
    static bool may_have_happened(result<T> const& r) {
        return r.has_value() || r.error() == errc::unknown_outcome;
    }

    task<result<void>> remove(wall_time due);

    /// Whether there was something new to note, and it has been noted.
    task<bool> note_items(wall_time due);

    task<bool> all_dealt_with(wall_time due);

    /// Once in the life of this instance, and until then at the latest.
    task<void> call(hook which, wall_time due, mono_time until);

    void tell_missed(hook which, wall_time due, std::string_view who);
    void tell_missed_because(hook which, wall_time due, std::string const& why);

    /// Rounds that began elsewhere, of which items of ours have dealt with the instant.
    task<void> look_for_others();

    task<void> pause();

    static constexpr std::size_t rounds_max = 64;
    static constexpr std::chrono::seconds look_again{1};

    site& site_;
    event_count<Loop> news_;
    std::uint32_t item_count_ = 0;
    std::map<wall_time, round_here> all_;
    std::map<item_index, wall_time> through_;
    bool is_looking_ = false;
    bool is_sealed_ = false;
    int hooks_ = 0;
    task_scope tasks_; ///< last: its tasks use all of the above
};

/// For jobs that nobody listens to.
template <class Environment>
struct no_rounds {
    template <class... Args>
    explicit no_rounds(Args&&...) noexcept {}
    static constexpr bool is_idle() noexcept { return true; }
    static constexpr void seal() noexcept {}
};

template <class Environment>
using rounds_of =
    std::conditional_t<Environment::listeners_type::hear_rounds, rounds<Environment>, no_rounds<Environment>>;

template <class Environment>
task<void> rounds<Environment>::begin(wall_time due) {
    auto const deadline = now() + site_.env.options.round_start_timeout;
    join(due);
    all_.at(due).has_items = true;
    for (;;) {
        auto const seen = news_.edition();
        auto const at = all_.find(due);
        if (at == all_.end() || at->second.is_open) co_return;
        if (now() >= deadline) {
            if (!std::exchange(at->second.is_told_late, true))
                tell_missed_because(hook::before, due, "it was not over within round_start_timeout, so items begin");
            co_return;
        }
        co_await news_.newer_than(seen, deadline);
    }
}

template <class Environment>
void rounds<Environment>::dealt_with(item_index i, wall_time through, bool may_be_others) {
    auto& known = through_[i];
    known = std::max(known, through);
    news_.notify();
    if (may_be_others && !std::exchange(is_looking_, true)) tasks_.spawn(look_for_others());
}

template <class Environment>
auto rounds<Environment>::state::of(std::string_view text) -> state {
    auto const end = std::min(text.find(' '), text.size());
    return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

template <class Environment>
std::int64_t rounds<Environment>::milliseconds_of(wall_time t) {
    return std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

template <class Environment>
void rounds<Environment>::join(wall_time due) {
    if (!all_.try_emplace(due).second) return;
    if (all_.size() > rounds_max) all_.begin()->second.is_given_up = true;
    tasks_.spawn(take_part(due));
    news_.notify();
}

template <class Environment>
task<void> rounds<Environment>::take_part(wall_time due) {
    bool const exists = co_await enter(due);
    if (exists) co_await follow(due);
    // It has been given up; or a later one was quicker, before anybody could make this one.
    if (!exists && all_.at(due).has_items) tell_missed(hook::before, due, {}), tell_missed(hook::after, due, {});
    all_.erase(due);
    news_.notify();
}

template <class Environment>
task<bool> rounds<Environment>::enter(wall_time due) {
    auto const path = node_of(due);
    for (;;) {
        auto const last = co_await site_.registry.get(site_.at.rounds());
        if (!last && last.error() == errc::no_node)
            (void)co_await site_.registry.create(site_.at.rounds(), {}, create_mode::persistent);
        auto const there = co_await site_.registry.exists(path);
        if (there && *there) co_return true;
        if (last && there) {
            auto const over = parse_number<std::int64_t>(last->data);
            if (over && milliseconds_of(due) <= *over) co_return false;
            transaction t{generation()};
            t.check(site_.at.rounds(), last->stat.version).create(path, "before " + site_.self.str());
            auto const made = co_await site_.registry.commit(std::move(t));
            if (made) continue; // either way it is seen above
        }
        co_await pause();
    }
}

template <class Environment>
task<void> rounds<Environment>::follow(wall_time due) {
    auto const path = node_of(due);
    auto const begun = now();
    node_watch<Loop> changed{news_};
    node known;
    for (;;) {
        auto const seen = news_.edition();
        if (!changed.is_linked()) {
            auto read = co_await site_.registry.get(path, &changed);
            if (!read && read.error() == errc::no_node) co_return;
            if (!read) {
                changed.unlink();
                co_await pause();
                continue;
            }
            known = *std::move(read);
        }
        auto const is = state::of(known.data);
        bool acted = false;
        if (is_sealed_) {
        } else if (is.word == "before") {
            acted = co_await prepare(due, known, begun);
        } else {
            if (!std::exchange(all_.at(due).is_open, true)) news_.notify();
            if (is.word == "open")
                acted = co_await look_at_items(due, known, begun);
            else
                acted = co_await finish(due, known);
        }
        if (acted)
            changed.unlink(); // to be read again
        else
            co_await news_.newer_than(seen, now() + look_again);
    }
}

template <class Environment>
task<bool> rounds<Environment>::prepare(wall_time due, node const& known, mono_time begun) {
    auto const is = state::of(known.data);
    bool const is_late = now() >= begun + site_.env.options.round_start_timeout;
    if (!is_ours(is) && !is_dead(is) && !is_late) co_return false;
    if (is_ours(is)) co_await call(hook::before, due, begun + site_.env.options.round_start_timeout); // then items run
    if (is_sealed_) co_return false;
    auto const path = node_of(due);
    auto const opened = co_await site_.registry.set(path, "open", known.stat.version, generation());
    if (may_have_happened(opened) && !is_ours(is)) tell_missed(hook::before, due, is.who);
    if (!opened) co_await pause();
    co_return true;
}

template <class Environment>
task<bool> rounds<Environment>::look_at_items(wall_time due, node const& known, mono_time begun) {
    bool const has_noted = co_await note_items(due);
    auto& here = all_.at(due);
    bool const is_late = here.is_given_up || now() >= begun + site_.env.options.round_end_timeout;
    if (!is_late) {
        if (!has_noted && now() < here.look_at) co_return false;
        here.look_at = now() + std::chrono::seconds{30};
        bool const is_complete = co_await all_dealt_with(due);
        if (!is_complete || is_sealed_) co_return false;
    }
    auto const path = node_of(due);
    auto const taken = co_await site_.registry.set(path, "after " + site_.self.str(), known.stat.version, generation());
    if (may_have_happened(taken) && is_late) {
        all_.at(due).has_called[static_cast<int>(hook::after)] = true; // not any more
        tell_missed(hook::after, due, {});
    }
    if (!taken) co_await pause();
    co_return true;
}

template <class Environment>
task<bool> rounds<Environment>::finish(wall_time due, node const& known) {
    auto const is = state::of(known.data);
    if (!is_ours(is) && !is_dead(is)) co_return false;
    if (is_ours(is)) co_await call(hook::after, due, mono_time::max());
    if (is_sealed_) co_return false;
    auto const removed = co_await remove(due);
    if (may_have_happened(removed) && !is_ours(is)) tell_missed(hook::after, due, is.who);
    if (!removed) co_await pause();
    co_return true;
}

template <class Environment>
task<result<void>> rounds<Environment>::remove(wall_time due) {
    auto const path = node_of(due);
    ELASTICJOB_CO_TRY(auto const last, co_await site_.registry.get(site_.at.rounds()));
    ELASTICJOB_CO_TRY(auto const below, co_await site_.registry.children(path));
    auto const over = std::max(parse_number<std::int64_t>(last.data).value_or(0), milliseconds_of(due));
    transaction t{generation()};
    t.set(site_.at.rounds(), std::to_string(over), last.stat.version);
    for (auto const& name : below) t.remove(path / name);
    t.remove(path);
    ELASTICJOB_CO_TRY(auto const done, co_await site_.registry.commit(std::move(t)));
    if (!done) co_return error{errc::version_conflict, "the round has changed", path.str()};
    co_return success();
}

template <class Environment>
task<bool> rounds<Environment>::note_items(wall_time due) {
    auto& here = all_.at(due);
    auto all = here.noted;
    for (auto const& [i, through] : through_)
        if (through >= due) all.insert(i);
    if (all == here.noted) co_return false;
    std::string text;
    for (auto const i : all) text += std::to_string(i) + " ";
    auto const path = node_of(due) / site_.self.str();
    if (!here.has_note) {
        auto const made = co_await site_.registry.create(path, text, create_mode::persistent, generation());
        if (!made && !(made.error() == errc::node_exists)) co_return false;
    }
    auto const noted = co_await site_.registry.set(path, text, any_version, generation());
    auto& same = all_.at(due);
    same.has_note = noted.has_value();
    if (noted) same.noted = std::move(all);
    co_return noted.has_value();
}

template <class Environment>
task<bool> rounds<Environment>::all_dealt_with(wall_time due) {
    auto const path = node_of(due);
    auto const names = co_await site_.registry.children(path);
    if (!names) co_return false;
    std::vector<node_path> notes;
    for (auto const& name : *names) notes.push_back(path / name);
    auto const read = co_await read_all(site_.registry, std::move(notes));
    if (!read) co_return false;
    items all;
    for (auto const& n : *read) {
        if (!n) continue;
        for (std::string_view rest = n->data; !rest.empty();) {
            auto const end = std::min(rest.find(' '), rest.size());
            if (auto const i = parse_number<item_index>(rest.substr(0, end)); i && *i < item_count_) all.insert(*i);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    co_return all.size() == item_count_;
}

template <class Environment>
task<void> rounds<Environment>::call(hook which, wall_time due, mono_time until) {
    if (is_sealed_ || std::exchange(all_.at(due).has_called[static_cast<int>(which)], true)) co_return;
    job_round const round{site_.name.str(), due, item_count_};
    auto const hear = [&]() -> result<void> {
        return which == hook::before ? site_.env.listeners.before_round(round) : site_.env.listeners.after_round(round);
    };
    ++hooks_;
    auto const done = co_await call_hook(site_.env.pool, site_.loop(), site_.here.callers,
                                         std::min(until, now() + hook_patience), hear);
    --hooks_;
    site_.idle_news.notify();
    if (done) co_return;
    bool const was_called = !(done.error() == errc::overloaded || done.error() == errc::closed);
    if (was_called)
        site_.tell_trouble(done.error());
    else
        tell_missed_because(which, due, done.error().what);
}

template <class Environment>
void rounds<Environment>::tell_missed(hook which, wall_time due, std::string_view who) {
    tell_missed_because(which, due,
                        who.empty() ? "the round was not over in time" : "it was up to " + std::string{who});
}

template <class Environment>
void rounds<Environment>::tell_missed_because(hook which, wall_time due, std::string const& why) {
    std::string const when = which == hook::before ? "before" : "behind";
    site_.tell_trouble(
        error{errc::round_missed, "the hook " + when + " a round was perhaps not called: " + why, node_of(due).str()});
}

template <class Environment>
task<void> rounds<Environment>::look_for_others() {
    for (;;) {
        co_await yield(site_.loop()); // whoever is told at the same time comes along
        is_looking_ = false;
        auto const names = co_await site_.registry.children(site_.at.rounds());
        if (!names && is_connection(names.error().code)) {
            co_await pause();
            continue;
        }
        if (!names) co_return;
        for (auto const& name : *names)
            if (auto const ms = parse_number<std::int64_t>(name)) join(wall_time{std::chrono::milliseconds{*ms}});
        co_return;
    }
}

template <class Environment>
task<void> rounds<Environment>::pause() {
    auto const until = now() + site::retry_pause;
    co_await sleep_until(site_.loop(), until);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ROUNDS_HPP
