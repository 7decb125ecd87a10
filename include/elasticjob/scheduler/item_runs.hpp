// SPDX-License-Identifier: Apache-2.0
/// \file \brief The items of this instance: each lives on its own, none delaying another.
#ifndef ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
#define ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/config/task_id.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/run_on.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/clock_check.hpp>
#include <elasticjob/execution/coroutine_context.hpp>
#include <elasticjob/execution/error_handlers.hpp> // failed_run
#include <elasticjob/execution/item_counts.hpp>
#include <elasticjob/execution/lease.hpp>
#include <elasticjob/execution/misfire.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/scheduler/job_body.hpp>
#include <elasticjob/scheduler/line_relay.hpp>
#include <elasticjob/scheduler/rounds.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// What the job lets its items know. Whoever changes it calls `stir`.
template <class Config, class Due>
struct run_terms {
    std::shared_ptr<Config const> config{};
    std::shared_ptr<Due const> due{};
    misfire_policy on_misfire{};
    std::chrono::milliseconds time_limit{0};
    std::chrono::milliseconds give_up_after{0};
    retry_policy retry{};
    std::size_t dead_letters_max = 0;
    clock_rule on_wrong_clock{};
    dataflow_options dataflow{};
    std::uint64_t schedule = 0; ///< a fingerprint: a change of it makes due instants of the past nobody's business
    /// When the schedule was written; nothing if that is not known, or the configuration was written since. What has become
    /// due since then is for somebody to run, even if nobody has taken the item up yet.
    deferred<std::optional<wall_time>, Config> schedule_written{};
    session_generation generation{};
    revision run_order = 0;     ///< the last order to run all items
    wall_time ordered_at{};     ///< by the registry's clock
    revision obeyed_before = 0; ///< what was ordered before this instance came is not for items without a record, if
                                ///< somebody has had them before
    bool is_open = false;      ///< registered, enabled and not leaving: runs may begin
    bool may_stream = false;   ///< what streams may go on with another round
    wall_time enabled_since{}; ///< what was due before is not made up for: an operator did not want it run

    bool is_monitored() const { return config->config().monitor_execution; }
};

/// One coroutine for each item that is ours, `attend`, which reads from top to bottom like the life of the item: learn
/// what is known of its runs, wait until something is to be run, begin, run, end. Beginnings that fall together share a
/// transaction, and so do ends. Threads: the loop's; bodies run on the pool.
template <class Environment>
class item_runs {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;

    // What it is made of, for g++ to complete when it is used only: docs/decisions/0006.
    template <class T>
    using maybe = deferred<std::optional<T>, Environment>;
    template <class T>
    using list_of = deferred<std::vector<T>, Environment>;
    using item_claim = deferred<elasticjob::item_claim, Environment>;
    using item_share = typename item_claim::share;
    using run_record = deferred<elasticjob::run_record, Environment>;
    using run_start = deferred<elasticjob::run_start, Environment>;
    using valid_config = deferred<elasticjob::valid_config, Environment>;
    using terms_type = run_terms<valid_config, due_times<typename Environment::zone_type>>;
    using catch_up = deferred<elasticjob::catch_up, Environment>;
    using start_report = deferred<elasticjob::start_report, Environment>;
    using listeners = typename Environment::listeners_type;
    using error_handlers = typename Environment::error_handlers_type;
    using opening = deferred<std::pair<item_index, std::string>, Environment>; ///< an item, and its first record

public:
    /// The environment must outlive this. `news` is the job's, and hears of what the job has to act on.
    item_runs(Environment& env, job_name name, job_layout at, instance_id self, job_body<Loop> body,
              event_count<Loop>& news)
        : env_{env},
          registry_{env.registry},
          name_{std::move(name)},
          at_{std::move(at)},
          self_{std::move(self)},
          book_{env.registry, at_, self_},
          body_{std::move(body)},
          job_news_{news},
          idle_news_{env.registry.loop()},
          rounds_{env_, name_, at_, self_, idle_news_},
          end_news_{env.registry.loop()},
          doubted_at_{wall_now()} {}

    terms_type& terms() noexcept { return terms_; }

    /// Everybody looks whether there is something to do for him.
    void stir() {
        for (auto& [i, e] : table_) stir(e);
    }

    /// From now on these items are ours, and no others. `view` must live as long as this.
    void own(item_claim claim, job_view<Registry> const& view) {
        view_ = &view;
        if constexpr (listeners::hear_rounds) {
            rounds_.watch(view);
            rounds_.set_item_count(static_cast<std::uint32_t>(terms_.config->config().sharding_total_count));
        }
        auto const wall = wall_now();
        auto const ours_since = is_share_known_ ? wall : std::max(doubted_at_, wall - env_.options.sharding_timeout);
        is_share_known_ = true;
        auto const* in_force = view.assignment_in_force();
        bool const is_item_new = view.first_item() && view.first_item()->stat.created == view.first_item()->stat.modified;
        is_first_sharding_ = in_force && in_force->epoch() == 1 && is_item_new && !has_java_members();
        // What was ordered before the items were made more is not for the new ones.
        bool const is_order_old = in_force && terms_.run_order < view.assignment_node()->stat.modified;
        auto const known_before = std::exchange(known_items_, in_force ? in_force->items() : 0);
        common_ = std::move(claim.common);
        std::map<item_index, item_share> ours;
        for (auto& s : claim.shares) ours.emplace(s.item, std::move(s));
        for (auto& [i, e] : table_) {
            auto const at = ours.find(i);
            bool const is_ours = at != ours.end();
            if (!is_ours && e.live) e.live->order.give(stop_reason::reassigned);
            e.share = is_ours ? maybe<item_share>{at->second} : std::nullopt;
            stir(e);
        }
        for (auto& [i, s] : ours) {
            if (table_.contains(i)) continue;
            auto& e = table_.try_emplace(i, registry_.loop(), i).first->second;
            e.share = s;
            e.ours_since = ours_since;
            if (known_before != 0 && i >= known_before && is_order_old) e.record.obeyed = terms_.run_order;
            tasks_.spawn(attend(e));
        }
    }

    /// What streams hears whether it may go on, or is to end behind the round that it is in.
    void tell_streams() {
        for (auto& [i, e] : table_)
            if (e.live) e.live->is_to_yield = !terms_.may_stream;
    }

    /// It is not known for the moment what is ours: nothing begins, and what runs goes on.
    void doubt_ownership() {
        if (std::exchange(is_share_known_, false)) doubted_at_ = wall_now();
    }

    /// An instant has become due. Items that are still running are told of; the others see to themselves.
    void tick(wall_time due) {
        for (auto& [i, e] : table_)
            if ((e.live || e.record.running || e.record.retry) && e.record.through < due && e.told_through < due &&
                terms_.due->delay_of(i).count() == 0)
                tell_busy(e, due);
        stir();
    }

    /// Has every item of ours run once, now; what runs runs once more when it has ended.
    void order_all(wall_time now) {
        for (auto& [i, e] : table_)
            if (e.share) e.order = now;
        stir();
    }

    /// Nothing runs, nothing is about to, and of nothing is it unknown whether it does.
    bool is_idle() const {
        auto const is_certain = [](auto const& one) { return !one.second.uncertain; };
        return busy_ == 0 && given_up_ == 0 && rounds_.is_idle() && std::all_of(table_.begin(), table_.end(), is_certain);
    }

    /// Nothing of the user's is called any more. Precondition: is_idle.
    void seal() noexcept { rounds_.seal(); }

    /// Notified when that may have become so.
    event_count<Loop>& idle_news() noexcept { return idle_news_; }

    /// The instance is to leave: this machine's clock is wrong, and the job asks for that then, or a handler does.
    bool stands_down() const noexcept { return stands_down_; }

    /// Nothing begins any more, and what cannot be recorded now is given up.
    void close() {
        closing_ = true;
        terms_.is_open = false;
        stir();
    }

    /// What runs is asked to stop. What is just beginning is asked when it has begun: by this if the job is draining, by
    /// its lease if the session is over.
    void request_stop(stop_reason why) {
        is_draining_ |= why == stop_reason::draining;
        for (auto& [i, e] : table_)
            if (e.live) e.live->order.give(why);
    }

    /// The instance has a new session: the marks of the old one have gone with it.
    task<void> mark_again(session_generation g) {
        list_of<item_index> marked;
        for (auto& [i, e] : table_)
            if (e.live && e.mark) marked.push_back(i);
        for (auto const i : marked) {
            auto at = table_.find(i);
            for (; at != table_.end() && at->second.is_being_written; at = table_.find(i)) {
                auto const pause = now() + retry_pause;
                co_await idle_news_.newer_than(idle_news_.edition(), pause);
            }
            if (at == table_.end() || !at->second.live || !at->second.mark) continue; // it has ended meanwhile
            auto& e = at->second;
            e.is_being_written = true;
            auto const ours = co_await book_.mark_again(g, i, e.version.value_or(0));
            release(e);
            if (ours && *ours) e.mark = g;
            if (!ours || *ours) continue; // ours, or of a session that is over too: then once more
            e.mark.reset();               // the mark that stands there is somebody else's, and not ours to take away
            if (e.live) e.live->order.give(stop_reason::taken_over);
        }
    }

    enum class order_answer : std::uint8_t {
        done,    ///< it has been obeyed, or there is nothing to obey any more
        not_yet, ///< that cannot be said just now
        not_ours
    };

    /// An operator asks the run of an item for that instant to stop.
    order_answer stop(item_index i, wall_time due) {
        auto const at = table_.find(i);
        if (at == table_.end()) return order_answer::not_ours;
        auto& e = at->second;
        if (e.live && e.record.running && e.record.running->due == due) e.live->order.give(stop_reason::ordered);
        if (e.live) return order_answer::done;
        bool const is_known = !e.is_busy && !e.uncertain && e.is_read && !e.record.running;
        return is_known && e.share ? order_answer::done : order_answer::not_yet;
    }

    /// An operator has written the record of an item.
    order_answer look_again(item_index i) {
        auto const at = table_.find(i);
        if (at == table_.end() || !at->second.share) return order_answer::not_ours;
        at->second.is_edited = true;
        stir(at->second);
        return order_answer::done;
    }

    /// Writes down how much has been processed since `since`, item by item, where there was anything; also of items that are
    /// ours no more. What cannot be written counts the next time.
    task<result<void>> publish_counts(wall_time since) {
        for (auto& [i, e] : table_) take_counts(e);
        item_index next = 0; // each once, though more may come meanwhile
        for (auto at = counts_.begin(); at != counts_.end(); at = counts_.lower_bound(next)) {
            auto const i = at->first;
            auto const counts = at->second;
            counts_.erase(at);
            next = i + 1;
            auto const text = counts.to_text(since, wall_now());
            auto const written = co_await write_or_create(registry_, at_.item_counts(i), at_.counts(), text);
            if (written) continue;
            counts_[i] += counts;
            co_return written.error();
        }
        co_return success();
    }

    void look_at_lease() {
        for (auto& [i, e] : table_)
            if (e.live && e.live->hold && !e.live->hold->is_valid()) e.live->order.give(stop_reason::lease_over);
    }

private:
    using lease = typename Environment::lease_type;
    struct entry;

    /// A run that goes on here; or that did, and was given up while its body goes on.
    struct live_run : run_port {
        live_run(item_runs& o, entry& e, typename lease::hold const* h)
            : run_port{order, h ? &save : nullptr, h ? &write : nullptr, &submit},
              owner{o},
              item{&e},
              hold{h} {}
        static result<void> save(run_port& port, std::string text) {
            auto& self = static_cast<live_run&>(port);
            return self.owner.save_checkpoint(self, std::move(text));
        }
        static task<result<void>> write(run_port& port, std::string text) {
            auto& self = static_cast<live_run&>(port);
            return self.owner.write_checkpoint(self, std::move(text));
        }
        static bool submit(run_port& port, work& w) {
            return static_cast<live_run&>(port).owner.env_.pool.try_submit(w);
        }
        stop_order order;
        item_runs& owner;
        entry* item; ///< null when it has been given up
        typename lease::hold const* hold;
        int saving = 0; ///< checkpoints that are being written
    };

    struct body_call;

    /// Makes events of what a script writes, until its run is given up.
    struct line_teller {
        body_call& call;
        void operator()(script_stream stream, std::string_view text, std::size_t dropped, std::uint64_t lost) const {
            if (!call.live.item) return;
            auto& owner = call.live.owner;
            owner.env_.sink(events::script_output{owner.origin(), call.ctx.item, call.ctx.due, stream, text, dropped,
                                                  lost, call.run});
        }
    };

    /// A call of the body, which may outlast its run.
    struct body_call {
        body_call(item_runs& o, entry& e, typename lease::hold const* h, std::shared_ptr<valid_config const> c)
            : live{o, e, h},
              config{std::move(c)},
              ctx{o.loop()},
              lines{o.loop(), line_teller{*this}} {
            ctx.lines = &lines;
        }
        live_run live;
        std::shared_ptr<valid_config const> config;
        coroutine_context<Loop> ctx; ///< of which other bodies see only what is for them
        events::run_name run{};
        line_relay<Loop, line_teller> lines;
        enum class phase : std::uint8_t { waiting, called, left }; ///< for a thread of the pool; by it; before it was
        std::atomic<phase> is{phase::waiting};
        maybe<result<void>> outcome{};

        bool was_called() const noexcept { return is.load() == phase::called; }
    };

    /// Runs that have begun together, while there are hooks around them.
    struct live_batch {
        explicit live_batch(Loop& l) : news{l} {}
        run_batch what{};
        std::size_t left = 0; ///< that have not ended
        bool is_begun = false, is_told = false; ///< that they are to begin
        event_count<Loop> news;
    };

    enum class start_answer : std::uint8_t {
        started,
        running_elsewhere,
        disabled,
        clock_differs,
        taken,
        outdated,
        unclaimed,
        unknown
    };

    struct entry {
        entry(Loop& l, item_index i) : item{i}, stirred{l} {}
        item_index const item;
        event_count<Loop> stirred;
        bool has_news = false;     ///< whether anything outside of the item has changed
        maybe<item_share> share{}; ///< while it is ours
        wall_time ours_since{};    ///< what is due behind this is not for a former owner to run
        bool is_read = false;      ///< whether record and version are what the registry has
        bool is_edited = false;    ///< an operator has written the record since
        run_record record{};
        maybe<node_version> version{}; ///< nothing: there is no record
        maybe<wall_time> order{};      ///< to be run on somebody's behalf
        wall_time told_through{};      ///< due instants up to here were told to have found it running
        wall_time rounds_at_end{};     ///< the last round of another job that was known when its last run here ended
        wall_time told_of_clock{};     ///< the due instant that was last told to be skipped because the clock is wrong
        live_run* live = nullptr;
        bool is_news = false; ///< the record says what others have to know, and is not written yet
        bool is_javas = false; ///< that is, that a Java member makes up for a run
        bool is_busy = false; ///< from the first request of a run to the record of its end
        maybe<session_generation> mark{}; ///< whose `running` node is ours
        bool is_failover = false;         ///< and the `failover` node too
        maybe<instance_id> dead{};        ///< whose run stands in the registry's record, but not in ours
        bool is_being_opened = false;
        bool is_being_written = false;
        maybe<std::string> uncertain{}; ///< the record of a start of which it is not known whether it happened
        int failures = 0;               ///< to begin, in a row
        session_generation asked_in{};  ///< under which the last start was asked for
        maybe<start_answer> answer{};   ///< to `asking_`
        revision token = 0;
        mono_time asked_at{}; ///< no later than the request that began the run
        std::string task_id{};
        std::shared_ptr<live_batch> together{}; ///< with whom it has begun, if anybody wants to know
        maybe<end_result> ended{}; ///< to `ending_`
    };

    /// What is to be run next, and what is to be written about it.
    struct next_run {
        run_record record;
        maybe<instance_id> dead{};
        bool is_failover = false;
        bool is_monitored = true;
        bool is_news = false;  ///< for others too: it is to be written down, even if nothing is run
        bool is_javas = false; ///< a Java member runs it
    };
    struct asking {
        entry* who;
        run_start what;
        bool is_monitored;
    };

    /// What its run has counted so far is the item's, whoever owns it later.
    void take_counts(entry& e) {
        if (!e.live) return;
        item_counts const more{e.live->succeeded.exchange(0), e.live->failed.exchange(0)};
        if (!(more == item_counts{})) counts_[e.item] += more;
    }

    static void stir(entry& e) {
        e.has_news = true;
        e.stirred.notify();
    }

    Loop& loop() noexcept { return registry_.loop(); }
    mono_time now() noexcept { return loop().now(); }
    wall_time wall_now() {
        return std::chrono::time_point_cast<wall_time::duration>(
            std::chrono::floor<std::chrono::milliseconds>(loop().wall_now()));
    }
    events::origin origin() { return {name_.str(), self_, wall_now()}; }
    void tell_trouble(error const& e) { env_.sink(events::trouble{origin(), e}); }

    /// The life of an item, from the moment that it is ours.
    task<void> attend(entry& e) {
        while (e.share || e.uncertain) {
            e.has_news = false;
            auto const look_again = co_await step(e);
            while (!e.has_news && look_again > now()) {
                auto const seen = e.stirred.edition();
                co_await e.stirred.newer_than(seen, look_again);
            }
        }
        if (e.order) tell_skipped(e, *e.order, events::skip_reason::not_ready); // it is somebody else's item now
        if (e.record.retry && !e.version) // nobody else knows of it
            tell_skipped(e, e.record.retry->due, events::skip_reason::not_ready);
        if constexpr (listeners::hear_rounds) rounds_.forget(e.item);
        table_.erase(e.item);
    }

    /// Does what is to be done next. Gives when to look again, if nothing stirs before.
    task<mono_time> step(entry& e) {
        if (e.uncertain) co_return co_await settle(e);
        if (!terms_.is_open || !is_share_known_) co_return mono_time::max();
        if (std::exchange(e.is_edited, false)) e.is_read = false;
        if (!e.is_read) co_return co_await take_in(e);
        if (e.record.running && !is_gone(e.record.running->instance)) co_return co_await follow_foreign_run(e);
        auto next = choose(e);
        if (next) co_return co_await run(e, *std::move(next));
        if (e.is_news && e.version) co_return co_await write_down(e);
        co_return next_look(e);
    }

    /// Writes what has been decided without a run: that nobody makes up for an interrupted one.
    task<mono_time> write_down(entry& e) {
        co_await write_access(e);
        run_end what;
        what.item = e.item;
        what.record = e.record.to_text();
        what.version = *e.version;
        auto const written = co_await book_.amend(terms_.generation, std::move(what), e.dead, e.is_javas);
        release(e);
        if (!written) {
            e.is_read = false; // somebody has been faster, or it is not known
            co_return now() + back_off(e);
        }
        e.version = *e.version + 1;
        e.failures = 0;
        e.dead.reset();
        e.is_news = e.is_javas = false;
        co_return now();
    }

    /// Reads what is known of the item's runs, or begins to write it down.
    task<mono_time> take_in(entry& e) {
        if (e.is_being_opened) co_return mono_time::max();
        run_record fresh;
        fresh.schedule = terms_.schedule;
        fresh.through = unrecorded_since(e.ours_since);
        fresh.obeyed = is_first_sharding_ ? e.record.obeyed : std::max(e.record.obeyed, terms_.obeyed_before);
        if (!terms_.is_monitored()) {
            // There is no record to say what others have obeyed: what was ordered before the item was ours was for them.
            if (!is_first_sharding_ && terms_.ordered_at <= e.ours_since) fresh.obeyed = terms_.run_order;
            e.record = std::move(fresh);
            e.version.reset();
            e.is_read = true;
            co_return now();
        }
        auto const there = co_await registry_.get(at_.run_record(e.item));
        if (there) {
            take_record(e, *there);
            co_return now();
        }
        if (!(there.error() == errc::no_node)) co_return now() + retry_pause;
        e.is_being_opened = true;
        opening_.emplace_back(e.item, fresh.to_text());
        begin_soon();
        co_return mono_time::max(); // or when it has been opened
    }

    /// A session ended before it was known whether a run had begun on record. The body was not called: if it had begun,
    /// that is undone. As long as we live nobody else would; so nobody leaves before it is, unless that session is over,
    /// which took the mark along, and there is no other. What we had taken from a dead instance cannot be given back to it, for its
    /// writings are fenced by now.
    task<mono_time> settle(entry& e) {
        auto const session = registry_.session();
        if (session.state != session_state::connected) {
            bool const is_over = session.generation != e.asked_in;
            co_return closing_ && is_over ? settled(e) : mono_time::max();
        }
        auto const caught_up = co_await book_.catch_up(session.generation);
        if (!caught_up) co_return now() + retry_pause;
        auto const there = co_await registry_.get(at_.run_record(e.item));
        if (!there && !(there.error() == errc::no_node)) {
            if (closing_ && !is_connection(there.error().code)) co_return settled(e); // it cannot be read at all
            co_return now() + retry_pause;
        }
        if (there && there->data == *e.uncertain) {
            if (e.record.running) e.record.running->instance = nobody;
            list_of<run_end> undo{{e.item, e.record.to_text(), there->stat.version, true, e.is_failover}};
            auto const undone = co_await book_.finish(session.generation, std::move(undo));
            if (undone.front() == end_result::session_over) co_return now() + retry_pause;
        }
        co_return settled(e);
    }
    mono_time settled(entry& e) {
        e.uncertain.reset();
        e.is_read = false;
        idle_news_.notify();
        return now() + back_off(e);
    }

    void take_record(entry& e, node const& there) {
        e.dead.reset();
        e.is_news = e.is_javas = false;
        e.version = there.stat.version;
        e.is_read = true;
        auto const obeyed = e.record.obeyed;
        auto read = run_record::parse(there.data);
        if (read) {
            e.record = *std::move(read);
        } else {
            auto why = read.error();
            why.what = "a run record cannot be read, and is begun anew: " + why.what;
            tell_trouble(why);
            e.record = run_record{};
            e.record.obeyed = terms_.obeyed_before;
        }
        e.record.obeyed = std::max(e.record.obeyed, obeyed);
        // Instants that Java members may have run, who keep no record, are not made up for.
        if (has_java_members() && !terms_.due->follows())
            e.record.through = std::max(e.record.through, e.ours_since);
        tell_rounds(e, true);
    }

    /// Rounds hear of what the item has dealt with; of what it runs, they do when it has ended.
    void tell_rounds(entry const& e, bool may_be_others) {
        if constexpr (listeners::hear_rounds) {
            rounds_.dealt_with(e.item, e.record.settled_through(), may_be_others);
        } else {
            (void)e, (void)may_be_others;
        }
    }

    /// Another schedule's instants are none of ours. And a record from the far future was written by a clock that was
    /// wrong; if only by less, nothing is run until it has been caught up with, so that no instant is run twice.
    void mend(run_record& record, wall_time wall) const {
        if (record.through > wall + clock_slack) record.through = wall;
        // A schedule may come back: what has been dealt with stays so, though this clock is behind that of who did it.
        if (record.schedule != terms_.schedule)
            record.through = terms_.due->follows() ? wall_time{} : std::max(record.through, unrecorded_since(wall));
        if (record.last_completed && *record.last_completed > wall + clock_slack) record.last_completed = wall;
        if (record.retry && record.retry->at > wall + terms_.retry.pause_max + clock_slack) record.retry->at = wall;
        record.schedule = terms_.schedule;
    }

    /// Up to when nothing of the present schedule has been dealt with by an item that says nothing of it, and was taken up
    /// at `t`.
    wall_time unrecorded_since(wall_time t) const {
        if (terms_.due->follows()) return terms_.schedule_written ? wall_time{} : terms_.due->last_round();
        if (!terms_.schedule_written || !terms_.is_monitored() || has_java_members()) return t;
        return std::min(t, *terms_.schedule_written);
    }

    bool has_java_members() const {
        auto const all = view_->instances();
        return std::any_of(all.begin(), all.end(), [](instance_id const& id) { return id.is_java(); });
    }

    /// Whether an instance that has begun a run cannot end it any more. Our own runs are in the table, not here.
    bool is_gone(std::string const& id) const { return id == self_.str() || !view_->has_instance(id); }

    /// A former owner still runs it. Waits for that one node: until the run has ended, or the instance is gone.
    task<mono_time> follow_foreign_run(entry& e) {
        node_watch<Loop> written{e.stirred};
        while (e.share && terms_.is_open) {
            auto const seen = e.stirred.edition();
            auto until = mono_time::max();
            if (!written.is_linked()) {
                auto const there = co_await registry_.get(at_.run_record(e.item), &written);
                if (there)
                    take_record(e, *there);
                else if (there.error() == errc::no_node)
                    e.is_read = false;
                else
                    until = now() + retry_pause;
                if (!there) written.unlink();
            }
            if (!e.is_read || !e.record.running || is_gone(e.record.running->instance)) break;
            co_await e.stirred.newer_than(seen, until);
        }
        co_return now();
    }

    /// What the item is to be run for: what a dead instance has left, an order, what failed, what is due; in this order.
    /// What is not to be run is written down with the next run.
    std::optional<next_run> choose(entry& e) {
        auto const wall = wall_now();
        next_run next{e.record, e.dead, false, terms_.is_monitored()};
        auto& record = next.record;
        mend(record, wall);
        if (record.running) {
            auto const left = *record.running;
            if (auto const who = instance_id::parse(left.instance); who && !(*who == self_)) next.dead = *who;
            next.is_failover = terms_.config->config().failover && left.attempt < interruptions_survived(terms_.retry);
            record.end(next.is_failover ? run_outcome::retried : run_outcome::interrupted, wall);
            if (next.is_failover) {
                begin(record, {left.due, run_source::failover, left.attempt + 1, self_.str(), wall});
                return next;
            }
            record.bury(terms_.dead_letters_max);
            next.is_news = true;
        }
        if (terms_.run_order > record.obeyed) {
            record.obeyed = terms_.run_order;
            begin(record, {terms_.ordered_at, run_source::trigger, 1, self_.str(), wall});
            return next;
        }
        if (e.order) {
            begin(record, {*e.order, run_source::trigger, 1, self_.str(), wall});
            return next;
        }
        if (record.retry && record.retry->at > wall) { // what is due meanwhile waits
            remember(e, std::move(next));
            return std::nullopt;
        }
        if (record.retry) {
            auto const again = *std::exchange(record.retry, std::nullopt);
            begin(record, {again.due, again.source, again.attempt, self_.str(), wall});
            return next;
        }
        pass_over_disabled_time(record);
        auto const own_delay = terms_.due->delay_of(e.item);
        // Rounds of another job have ended, whatever this clock says.
        auto const come = std::max(wall, terms_.due->last_round());
        auto const due = due_until(record, come - own_delay, instants_to_keep(terms_.on_misfire));
        if (due.newest.empty()) {
            remember(e, std::move(next));
            tell_rounds(e, false);
            return std::nullopt;
        }
        auto idle_since = record.last_completed;
        if (idle_since) *idle_since -= own_delay;
        if (terms_.due->follows()) idle_since = e.rounds_at_end; // the leader's clock may be another one than ours
        auto const c = decide(due, wall - own_delay, idle_since, terms_.on_misfire);
        record.through = c.through;
        if (c.coalesced.count > 0) record.add(not_run(run_outcome::coalesced, c.coalesced, ""));
        if (c.skipped.count > 0) {
            bool const was_told = c.skipped.last <= e.told_through;
            bool const was_busy = was_told || (own_delay.count() != 0 && idle_since && c.skipped.last <= *idle_since);
            auto const why = was_busy ? events::skip_reason::still_running : events::skip_reason::too_late;
            record.add(not_run(run_outcome::skipped, c.skipped, name_of(why)));
            if (!was_told) tell_skipped(e, c.skipped.last, why, c.skipped.count);
        }
        if (!c.run) {
            remember(e, std::move(next));
            tell_rounds(e, true);
            return std::nullopt;
        }
        begin(record, {*c.run, c.source, 1, self_.str(), wall});
        return next;
    }

    /// The instants after the last that has been dealt with, up to some moment. A fixed delay adds one: it begins when the
    /// item has last ended, or has last been passed over.
    auto due_until(run_record const& record, wall_time until, std::size_t keep) const {
        auto const next = [&](wall_time t) { return terms_.due->next(t); };
        auto found = due_between(next, record.through, until, keep);
        auto const own = terms_.due->next_after_end(idle_from(record));
        if (own && *own <= until) found.add(*own, keep);
        return found;
    }
    static wall_time idle_from(run_record const& record) {
        return std::max(record.last_completed.value_or(record.through), record.through);
    }

    /// When an item that begins at times of its own, or waits to be tried again, has to look again, though nothing stirs. The
    /// others are told by the job.
    mono_time next_look(entry const& e) {
        if (e.record.retry) return moment_of(e.record.retry->at);
        if (!terms_.due->is_per_item()) return mono_time::max();
        auto first = terms_.due->next(e.record.through);
        auto const own = terms_.due->next_after_end(idle_from(e.record));
        if (own && (!first || *own < *first)) first = own;
        if (!first) return mono_time::max();
        return moment_of(*first + terms_.due->delay_of(e.item));
    }

    /// In a minute at the latest, for clocks are put forward.
    mono_time moment_of(wall_time t) {
        auto const left = t - loop().wall_now();
        return now() + std::clamp<std::chrono::nanoseconds>(left, std::chrono::milliseconds{1}, std::chrono::minutes{1});
    }

    /// What is true of the record, though it will only be written with the next run.
    static void remember(entry& e, next_run next) {
        e.record = std::move(next.record);
        e.dead = std::move(next.dead);
        e.is_news |= next.is_news;
        e.is_javas |= next.is_javas;
    }

    void begin(run_record& record, run_begin what) const {
        record.last_begun = what.begun;
        record.running = std::move(what);
        record.next_due = terms_.due->next(record.through);
    }

    void pass_over_disabled_time(run_record& record) {
        auto const wall = wall_now();
        if (terms_.enabled_since > wall + clock_slack) terms_.enabled_since = wall; // by a clock that was wrong
        auto const since = terms_.enabled_since;
        if (record.through >= since) return;
        auto const next = [&](wall_time t) { return terms_.due->next(t); };
        auto const missed = due_between(next, record.through, since, 1);
        if (!terms_.due->follows()) record.through = since;
        if (missed.count == 0) return;
        record.through = std::max(record.through, missed.newest.back());
        record.add(not_run(run_outcome::skipped, {missed.newest.back(), missed.count},
                           name_of(events::skip_reason::disabled)));
    }

    run_entry not_run(run_outcome outcome, typename catch_up::group const& which, std::string_view why) {
        auto const wall = wall_now();
        return {{which.last, run_source::schedule, 1, self_.str(), wall}, outcome, wall, which.count, std::string{why}};
    }

    /// From the first request to the record of the end.
    task<mono_time> run(entry& e, next_run next) {
        ++busy_;
        e.is_busy = true;
        auto const look_again = co_await run_if_possible(e, std::move(next));
        e.is_busy = false;
        --busy_;
        idle_news_.notify();
        co_return look_again;
    }

    task<mono_time> run_if_possible(entry& e, next_run next) {
        auto const what = *next.record.running;
        auto const config = terms_.config;
        bool const is_monitored = next.is_monitored;
        auto const answer = co_await ask_to_begin(e, next);
        switch (answer) {
        case start_answer::started:
            break;
        case start_answer::running_elsewhere:
            co_await wait_for_mark(e);
            co_return now();
        case start_answer::disabled:
            tell_skipped(e, what.due, events::skip_reason::disabled);
            drop(e, std::move(next), name_of(events::skip_reason::disabled));
            co_return now();
        case start_answer::clock_differs:
            // Nothing of it is written down: such a clock may take what comes for what has been.
            if (std::exchange(e.told_of_clock, what.due) != what.due)
                tell_skipped(e, what.due, events::skip_reason::clock_differs);
            co_return now() + back_off(e);
        case start_answer::taken:
            next.is_javas = true;
            drop(e, std::move(next), "a Java member makes up for it");
            co_return now();
        case start_answer::outdated:
            e.is_read = false;
            co_return now() + back_off(e);
        case start_answer::unclaimed:
            co_return now() + back_off(e);
        case start_answer::unknown:
            if (!is_monitored) co_return now() + back_off(e);
            e.uncertain = next.record.to_text();
            co_return now();
        }
        std::optional<typename lease::hold> hold;
        if (is_monitored) {
            hold.emplace(env_.lease.keep(*e.mark, at_.instance(self_), e.asked_at));
            if (!hold->is_valid()) { // the answer took so long that the session may be over
                if constexpr (listeners::hear_batches) co_await end_batch(e);
                e.mark.reset();
                e.uncertain = next.record.to_text();
                co_return now();
            }
        }
        e.failures = 0;
        e.dead.reset();
        e.is_news = e.is_javas = false;
        if (what.source == run_source::trigger) e.order.reset();
        e.record = std::move(next.record);
        auto const ended = co_await call_body(e, what, config, hold ? &*hold : nullptr);
        e.rounds_at_end = terms_.due->last_round();
        hold.reset();
        if (is_monitored)
            co_await put_on_record(e, what, ended);
        else
            note_end(e.record, ended, wall_now());
        if (e.is_read) tell_rounds(e, true);
        co_return now();
    }

    /// The run that was to begin is not to be, and that is final.
    void drop(entry& e, next_run next, std::string_view why) {
        bool const was_ordered = next.record.running->source == run_source::trigger;
        if (was_ordered) e.order.reset();
        next.record.last_begun = e.record.last_begun;
        bool const had_failed = next.record.running->attempt > 1;
        next.record.end(run_outcome::skipped, wall_now(), std::string{why});
        if (had_failed && !next.is_javas) next.record.bury(terms_.dead_letters_max);
        next.is_news |= had_failed || was_ordered;
        remember(e, std::move(next));
        tell_rounds(e, true);
    }

    /// 0 the first time, for then the news is there already; later longer and longer, up to some seconds.
    static std::chrono::milliseconds back_off(entry& e) {
        auto const n = e.failures < 7 ? e.failures++ : e.failures;
        return n == 0 ? std::chrono::milliseconds{0} : retry_pause * (1 << (n - 1)) / 2;
    }

    task<start_answer> ask_to_begin(entry& e, next_run const& next) {
        run_start what;
        what.share.item = e.item;
        what.dead = next.dead;
        what.version = e.version;
        what.is_failover = next.is_failover;
        if (next.is_monitored) what.record = next.record.to_text();
        if (next.is_failover && has_java_members()) {
            auto const flag = co_await registry_.exists(at_.failover_item(e.item));
            what.answers_flag = flag && *flag;
        }
        e.answer.reset();
        e.is_failover = next.is_failover;
        asking_.push_back({&e, std::move(what), next.is_monitored});
        begin_soon();
        for (;;) {
            auto const seen = e.stirred.edition();
            if (e.answer) co_return *e.answer;
            co_await e.stirred.newer_than(seen);
        }
    }

    /// How a run ended.
    struct body_end {
        result<void> outcome;
        bool was_refused;       ///< by the pool, so that the body was not called
        maybe<run_retry> again; ///< what is to be tried later
        stop_reason stopped_by;
        events::run_name run;
    };

    /// `hold` is null when the job is not monitored.
    task<body_end> call_body(entry& e, run_begin const& what, std::shared_ptr<valid_config const> config,
                             typename lease::hold const* hold) {
        auto const call = std::make_shared<body_call>(*this, e, hold, std::move(config));
        auto& live = call->live;
        auto& ctx = call->ctx;
        ctx.config = &call->config->config();
        ctx.job_name = name_.str();
        ctx.task_id = e.task_id;
        ctx.sharding_total_count = static_cast<std::uint32_t>(ctx.config->sharding_total_count);
        ctx.job_parameter = ctx.config->job_parameter;
        ctx.item = e.item;
        ctx.parameter = call->config->parameters().find(e.item).value_or("");
        ctx.due = what.due;
        if (what.source != run_source::trigger) ctx.after = terms_.due->round_at(what.due);
        ctx.stop = live.order.token();
        ctx.source = what.source;
        ctx.attempt = what.attempt;
        ctx.token = e.token;
        ctx.last_checkpoint = e.record.checkpoint;
        ctx.fetch_count = terms_.dataflow.fetch_count;
        ctx.process_threads = terms_.dataflow.threads;
        ctx.port = &live;
        live.is_to_yield = !terms_.may_stream;
        e.live = &live;
        if (is_draining_) live.order.give(stop_reason::draining);
        if (!e.share) live.order.give(stop_reason::reassigned);
        task_scope limit;
        if (terms_.time_limit.count() > 0) limit.spawn(stop_after(loop(), terms_.time_limit, live.order));
        if constexpr (listeners::hear_rounds) {
            if (what.source != run_source::trigger) co_await rounds_.begin(what.due);
        }
        if constexpr (listeners::hear_batches) co_await begin_batch(e);
        events::run_name run{++runs_begun_, e.task_id, what.source, what.attempt, wall_now()};
        env_.sink(events::item_started{origin(), e.item, what.due, what.source, what.attempt, e.token, run});
        call->run = run;
        call->run.task_id = ctx.task_id; // which lives as long as the call
        if constexpr (listeners::hear_before) {
            auto const tell = [&] { return env_.listeners.before(ctx); };
            auto const heard = co_await call_hook(tell);
            if (!heard) tell_trouble(heard.error());
        }
        auto const began = now();
        auto const patience = terms_.give_up_after;
        if (patience.count() == 0) {
            co_await carry_out(call);
        } else {
            tasks_.spawn(carry_out(call));
            co_await wait_for_body(e, *call, patience);
        }
        auto outcome = live.item ? *call->outcome : given_up(patience, call->was_called());
        auto const stopped_by = live.order.why(); // before anything else can happen
        bool const was_refused = live.item && !call->was_called();
        if constexpr (listeners::hear_after) {
            if (call->was_called()) {
                auto const tell = [&] { return env_.listeners.after(ctx, outcome); };
                auto const heard = co_await call_hook(tell);
                if (!heard) tell_trouble(heard.error());
            }
        }
        if constexpr (listeners::hear_batches) co_await end_batch(e);
        maybe<run_retry> again;
        if (e.record.retry)
            again.reset(); // an order has come between: what waits goes first
        else if (was_refused)
            again = put_off(e, what);
        else if (!outcome && is_by_us(stopped_by))
            again = taken_up_again(what, stopped_by);
        else if (!outcome && stopped_by != stop_reason::ordered)
            again = next_attempt(e.item, what);
        maybe<wall_time> retry_at;
        if (again) retry_at = again->at;
        if constexpr (error_handlers::are_there) { // what we have stopped ourselves has not failed
            if (!was_refused && !outcome && !is_by_us(stopped_by))
                co_await ask_handlers(ctx, outcome.error(), now() - began, retry_at);
        }
        take_counts(e);
        e.live = nullptr;
        if (was_refused && !again) {
            tell_skipped(e, what.due, events::skip_reason::overloaded, 1, run);
        } else {
            maybe<error> failure;
            if (!outcome) failure = outcome.error();
            env_.sink(events::item_finished{origin(), e.item, what.due, now() - began, failure, e.token, run, retry_at});
        }
        body_end ended{std::move(outcome), was_refused, std::move(again), stopped_by, run};
        co_return ended;
    }

    /// Calls what belongs to a run that has begun: while the pool takes no more it waits, though not for ever.
    template <class F>
    task<result<void>> call_hook(F const& f) {
        bool was_called = false;
        auto const once = [&] {
            was_called = true;
            return f();
        };
        for (auto const patience = now() + hook_patience;;) {
            auto heard = co_await run_on(env_.pool, loop(), once);
            if (was_called || now() >= patience || !(heard.error() == errc::overloaded)) co_return heard;
            co_await sleep_until(loop(), now() + retry_pause);
        }
    }

    task<void> carry_out(std::shared_ptr<body_call> call) {
        using phase = typename body_call::phase;
        if (body_.is_coroutine()) {
            call->is = phase::called;
            call->outcome.emplace(co_await body_.start(call->ctx));
        } else {
            auto const act = [&]() -> result<void> {
                auto was = phase::waiting;
                if (!call->is.compare_exchange_strong(was, phase::called) && was == phase::left) return success();
                return body_(call->ctx);
            };
            call->outcome.emplace(co_await run_on(env_.pool, loop(), act));
        }
        if (call->live.item) {
            call->live.item->stirred.notify();
        } else {
            --given_up_;
            idle_news_.notify();
        }
    }

    /// Until the body has ended, or the run is given up: then nothing of what it does reaches the item any more.
    task<void> wait_for_body(entry& e, body_call& call, std::chrono::milliseconds limit) {
        for (auto const deadline = now() + limit; !call.outcome && now() < deadline;) {
            auto const seen = e.stirred.edition();
            co_await e.stirred.newer_than(seen, deadline);
        }
        if (call.outcome) co_return;
        call.live.item = nullptr;
        ++given_up_;
        auto waiting = body_call::phase::waiting;
        call.is.compare_exchange_strong(waiting, body_call::phase::left); // then it is not called any more
        call.live.order.give(stop_reason::time_limit);
        while (call.live.saving > 0) {
            auto const seen = e.stirred.edition();
            co_await e.stirred.newer_than(seen);
        }
    }
    static result<void> given_up(std::chrono::milliseconds limit, bool was_called) {
        auto const span = "give_up_after, " + std::to_string(limit.count()) + " ms";
        return error{errc::timed_out,
                     was_called ? "the run took longer than " + span + ", and was given up; its body may still go on"
                                : "no thread of the pool was free for the run within " + span,
                     ""};
    }

    /// What becomes of a run that has failed just now; nothing if it has failed for good.
    maybe<run_retry> next_attempt(item_index item, run_begin const& what) {
        auto const& policy = terms_.retry;
        if (what.attempt >= policy.attempts_max) return std::nullopt;
        if (policy.hourly_max > 0) {
            std::erase_if(retried_at_, [&](mono_time t) { return t + std::chrono::hours{1} <= now(); });
            if (retried_at_.size() >= policy.hourly_max) return std::nullopt;
            retried_at_.push_back(now());
        }
        auto const pause = pause_before(policy, what.attempt + 1, mix_bits(fnv_1a(name_.str()) + item));
        return run_retry{what.due, what.source, what.attempt + 1, wall_now() + pause};
    }

    /// Of a run that has not come to its end because we have asked it to stop. Who owns the item goes on with it, as with that
    /// of an instance that has died. Nobody but the members' coming and going is to blame for an item's changing hands, so
    /// that is never the end of a run.
    maybe<run_retry> taken_up_again(run_begin const& what, stop_reason why) {
        bool const is_wanted = (terms_.config->config().failover || terms_.retry.attempts_max > 1) &&
                               what.attempt < interruptions_survived(terms_.retry);
        if (!is_wanted && why != stop_reason::reassigned) return std::nullopt;
        return run_retry{what.due, what.source, what.attempt + 1, wall_now()};
    }

    /// Of a run that the pool has refused. What had been begun before, and was promised another attempt, gets it.
    maybe<run_retry> put_off(entry const& e, run_begin const& what) {
        if (what.attempt == 1) return std::nullopt;
        auto const& ledger = e.record.ledger;
        bool const is_again = !ledger.empty() && ledger.back().run.due == what.due && ledger.back().run.attempt == what.attempt;
        return run_retry{what.due, what.source, what.attempt, wall_now() + (is_again ? 10 : 1) * refusal_pause};
    }

    /// Whether a run was asked to stop for reasons of the cluster's, not its own.
    static bool is_by_us(stop_reason why) noexcept {
        return why == stop_reason::session_lost || why == stop_reason::lease_over || why == stop_reason::reassigned ||
               why == stop_reason::draining;
    }

    /// What is told is the caller's until they have answered.
    task<void> ask_handlers(sharding_context const& ctx, error const& failure, std::chrono::nanoseconds took,
                            maybe<wall_time> const& retry_at) {
        failed_run const run{ctx.job_name, ctx.item,  ctx.task_id, ctx.parameter, ctx.due, ctx.source,
                             ctx.attempt,  ctx.token, self_,       failure,       took,    retry_at};
        bool stops_job = false;
        auto const ask = [&]() -> result<void> {
            auto answer = env_.error_handlers(run);
            stops_job = answer.stops_job;
            return std::move(answer.trouble);
        };
        auto const asked = co_await call_hook(ask);
        if (!asked) tell_trouble(asked.error());
        if (stops_job) stand_down();
    }

    static task<void> stop_after(Loop& l, std::chrono::milliseconds limit, stop_order& order) {
        co_await sleep_until(l, l.now() + limit);
        order.give(stop_reason::time_limit);
    }

    void note_end(run_record& record, body_end const& ended, wall_time wall) const {
        if (ended.outcome) {
            record.end(run_outcome::completed, wall);
        } else if (ended.again) {
            record.end_for_retry(wall, to_string(ended.outcome.error()), *ended.again);
        } else if (ended.was_refused) {
            record.end(run_outcome::skipped, wall, std::string{name_of(events::skip_reason::overloaded)});
            if (record.ledger.back().run.attempt > 1) record.bury(terms_.dead_letters_max);
        } else {
            auto const outcome = is_by_us(ended.stopped_by) ? run_outcome::interrupted : run_outcome::failed;
            record.end(outcome, wall, to_string(ended.outcome.error()));
            if (ended.stopped_by != stop_reason::ordered) record.bury(terms_.dead_letters_max);
        }
        auto const own = terms_.due->next_after_end(idle_from(record));
        if (own && (!record.next_due || *own < *record.next_due)) record.next_due = own;
    }

    /// Tried until it is known whether the end counts; under the next session, if need be. What cannot be recorded
    /// before this instance leaves looks to the others as if it had died.
    task<void> put_on_record(entry& e, run_begin const& what, body_end const& ended) {
        note_end(e.record, ended, wall_now());
        for (;;) {
            auto const seen = e.stirred.edition();
            auto const session = registry_.session();
            if (!e.mark && session.state != session_state::connected) {
                if (closing_) break;
                co_await e.stirred.newer_than(seen);
                continue;
            }
            e.ended.reset();
            ending_.push_back(&e);
            end_soon();
            while (!e.ended) co_await e.stirred.newer_than(e.stirred.edition());
            if (*e.ended == end_result::recorded) {
                e.version = *e.version + 1;
                break;
            }
            if (*e.ended == end_result::fenced) {
                env_.sink(events::item_fenced{origin(), e.item, what.due, e.token, ended.run});
                break;
            }
            if (closing_) break;
            if (registry_.session().generation == session.generation)
                co_await e.stirred.newer_than(seen, now() + retry_pause);
        }
        if (!(e.ended && *e.ended == end_result::recorded)) e.is_read = false;
        e.ended.reset();
        e.mark.reset();
        e.is_failover = false;
    }

    /// Somebody's mark stands there who keeps no record: a Java member's.
    task<void> wait_for_mark(entry& e) {
        node_watch<Loop> gone{e.stirred};
        while (e.share && terms_.is_open) {
            auto const seen = e.stirred.edition();
            auto until = mono_time::max();
            if (!gone.is_linked()) {
                auto const mark = co_await registry_.exists(at_.item_running(e.item), &gone);
                if (mark && !*mark) co_return;
                if (!mark) {
                    gone.unlink();
                    until = now() + retry_pause;
                }
            }
            co_await e.stirred.newer_than(seen, until);
        }
    }

    // What items do together.

    void begin_soon() {
        if (!std::exchange(is_beginning_, true)) tasks_.spawn(begin_together());
    }
    task<void> begin_together() {
        while (!asking_.empty() || !opening_.empty()) {
            co_await yield(loop()); // whoever is stirred by the same news comes along
            if (!opening_.empty()) co_await open_records(std::exchange(opening_, {}));
            if (!asking_.empty()) co_await start(std::exchange(asking_, {}));
        }
        is_beginning_ = false;
    }

    task<void> open_records(std::vector<opening> records) {
        list_of<item_index> items;
        for (auto const& r : records) items.push_back(r.first);
        auto const opened = co_await book_.open(terms_.generation, std::move(records));
        if (!opened) { // they ask again
            auto const pause = now() + retry_pause;
            co_await sleep_until(loop(), pause);
        }
        for (auto const i : items) {
            auto const at = table_.find(i);
            if (at == table_.end()) continue;
            at->second.is_being_opened = false;
            stir(at->second);
        }
    }

    task<void> start(std::vector<asking> all) {
        if (terms_.config->config().max_time_diff_seconds >= 0) {
            auto const verdict = co_await check_clock();
            if (verdict != start_answer::started) {
                for (auto& a : all) answer(*a.who, verdict);
                co_return;
            }
        }
        list_of<run_start> monitored, others;
        for (auto& a : all) {
            if (!a.who->share || !terms_.is_open) { // it has been given to somebody else since, or we are leaving
                answer(*a.who, start_answer::unclaimed);
                continue;
            }
            a.what.share = *a.who->share;
            (a.is_monitored ? monitored : others).push_back(std::move(a.what));
        }
        if (!monitored.empty()) co_await start_all(std::move(monitored), true);
        if (!others.empty()) co_await start_all(std::move(others), false);
    }

    /// `started` if what is due may be started, as far as the clock is concerned (CF-4, D-21).
    task<start_answer> check_clock() {
        std::chrono::seconds const allowed{terms_.config->config().max_time_diff_seconds};
        auto const difference = co_await clock_difference(registry_, at_);
        if (!difference) co_return start_answer::unclaimed; // it could not be asked: once more
        bool const is_wrong = *difference > allowed || -*difference > allowed;
        if (is_wrong && !was_clock_wrong_) tell_trouble(wrong_clock(*difference, allowed, name_.str()));
        was_clock_wrong_ = is_wrong;
        if (!is_wrong || terms_.on_wrong_clock == clock_rule::report) co_return start_answer::started;
        if (terms_.on_wrong_clock == clock_rule::skip) co_return start_answer::clock_differs;
        stand_down();
        co_return start_answer::unclaimed;
    }

    /// Nothing begins any more, and the job leaves when what runs is over and on record.
    void stand_down() {
        stands_down_ = true;
        terms_.is_open = false;
        job_news_.notify();
    }

    task<void> start_all(list_of<run_start> starts, bool is_monitored) {
        auto const g = terms_.generation;
        auto const asked_at = now();
        list_of<item_index> asked;
        for (auto const& w : starts) {
            asked.push_back(w.share.item);
            table_.at(w.share.item).asked_in = g;
        }
        auto const outcome = co_await request_start(g, std::move(starts), is_monitored);
        if (!outcome) {
            if (!is_connection(outcome.error().code) && !(outcome.error() == errc::session_lost))
                tell_trouble(outcome.error());
            for (auto const i : asked) answer(table_.at(i), start_answer::unknown);
            co_return;
        }
        auto const& r = *outcome;
        name_tasks(r.started);
        for (auto const& t : r.started) {
            auto& e = table_.at(t.item);
            e.token = t.token;
            e.asked_at = asked_at;
            if (is_monitored) {
                e.version = t.version;
                e.mark = g;
            }
            answer(e, start_answer::started);
        }
        for (auto const& [items, a] :
             {std::pair{&r.running_elsewhere, start_answer::running_elsewhere},
              std::pair{&r.disabled, start_answer::disabled}, std::pair{&r.taken, start_answer::taken},
              std::pair{&r.outdated, start_answer::outdated}, std::pair{&r.unclaimed, start_answer::unclaimed},
              std::pair{&r.unknown, start_answer::unknown}})
            for (auto const i : *items) answer(table_.at(i), a);
    }

    /// The first of a batch has the hook called, and the others wait for it.
    task<void> begin_batch(entry& e) {
        auto const all = e.together;
        if (!std::exchange(all->is_begun, true)) {
            auto const tell = [&] { return env_.listeners.before_batch(all->what); };
            auto const heard = co_await call_hook(tell);
            if (!heard) tell_trouble(heard.error());
            all->is_told = true;
            all->news.notify();
        }
        for (auto const patience = now() + env_.options.round_start_timeout; !all->is_told && now() < patience;) {
            auto const seen = all->news.edition();
            co_await all->news.newer_than(seen, patience);
        }
    }
    /// The last has the other hook called.
    task<void> end_batch(entry& e) {
        auto const all = std::exchange(e.together, nullptr);
        if (--all->left > 0 || !all->is_begun) co_return;
        auto const tell = [&] { return env_.listeners.after_batch(all->what); };
        auto const heard = co_await call_hook(tell);
        if (!heard) tell_trouble(heard.error());
    }

    /// What is started together has one name; what is made up for, its own.
    void name_tasks(list_of<run_ticket> const& started) {
        list_of<item_index> items[2];
        for (auto const& t : started) items[table_.at(t.item).is_failover].push_back(t.item);
        for (bool const is_failover : {false, true}) {
            auto const type = is_failover ? execution_type::failover : execution_type::ready;
            auto const id = make_task_id(name_, items[is_failover], self_, type);
            for (auto const i : items[is_failover]) table_.at(i).task_id = id;
            if constexpr (listeners::hear_batches) {
                auto const all = std::make_shared<live_batch>(loop());
                all->left = items[is_failover].size();
                for (auto const i : items[is_failover]) table_.at(i).together = all;
                std::sort(items[is_failover].begin(), items[is_failover].end());
                all->what = {name_.str(), id, std::move(items[is_failover])};
            }
        }
    }

    task<result<start_report>> request_start(session_generation g, list_of<run_start> starts, bool is_monitored) {
        if (is_monitored) return book_.start(g, common_, std::move(starts));
        return start_unmarked(std::move(starts));
    }

    /// Without records and marks, only an operator can keep an item from starting.
    task<result<start_report>> start_unmarked(list_of<run_start> starts) {
        auto const read = [&](run_start const& s) { return registry_.exists(at_.item_disabled(s.share.item)); };
        auto const found = co_await gather_each(loop(), starts, read);
        start_report report;
        for (std::size_t n = 0; n < found.size(); ++n) {
            if (!found[n]) co_return found[n].error();
            auto const i = starts[n].share.item;
            if (*found[n])
                report.disabled.push_back(i);
            else
                report.started.push_back({i});
        }
        co_return report;
    }

    void answer(entry& e, start_answer a) {
        e.answer = a;
        e.stirred.notify();
    }

    /// Records the ends of all that have come since the last time: one transaction for those that end together.
    void end_soon() {
        end_news_.notify();
        if (!std::exchange(is_ending_, true)) tasks_.spawn(end_together());
    }
    task<void> end_together() {
        while (!ending_.empty()) {
            co_await linger();
            auto const batch = std::exchange(ending_, {});
            list_of<run_end> ends;
            std::map<std::uint64_t, std::vector<entry*>> by_generation;
            for (auto* e : batch) {
                co_await write_access(*e);
                auto const g = e->mark ? *e->mark : registry_.session().generation;
                by_generation[g.value].push_back(e);
            }
            for (auto& [g, members] : by_generation) {
                ends.clear();
                for (auto* e : members)
                    ends.push_back({e->item, e->record.to_text(), e->version.value_or(0), e->mark.has_value(),
                                    e->mark.has_value() && e->is_failover});
                auto const results = co_await book_.finish(session_generation{g}, ends);
                for (std::size_t n = 0; n < members.size(); ++n) {
                    auto& e = *members[n];
                    if (results[n] == end_result::session_over) e.mark.reset(); // it has gone with its session
                    e.ended = results[n];
                    release(e);
                }
            }
        }
        is_ending_ = false;
    }

    /// A moment for the others, unless there are none.
    task<void> linger() {
        auto const until = now() + env_.options.completion_linger;
        auto const others_run = [&] {
            for (auto const& [i, e] : table_)
                if (e.live) return true;
            return false;
        };
        for (;;) {
            auto const seen = end_news_.edition();
            co_await yield(loop());
            if (!others_run() || now() >= until) co_return;
            co_await end_news_.newer_than(seen, until);
        }
    }

    // One writer at a time for each record.

    task<void> write_access(entry& e) {
        for (;;) {
            auto const seen = e.stirred.edition();
            if (!std::exchange(e.is_being_written, true)) co_return;
            co_await e.stirred.newer_than(seen);
        }
    }
    void release(entry& e) {
        e.is_being_written = false;
        e.stirred.notify();
    }

    /// Called by the body. On the loop's own thread there is no waiting: the end of the run takes it along.
    result<void> save_checkpoint(live_run& run, std::string text) {
        ELASTICJOB_CHECK(check_checkpoint(text));
        if (!loop().on_loop()) return block_on(loop(), write_checkpoint(run, std::move(text)));
        if (!run.item) return no_longer_ours();
        run.item->record.checkpoint = std::move(text);
        return success();
    }
    result<void> check_checkpoint(std::string const& text) const {
        if (text.size() <= run_record::checkpoint_bytes_max) return success();
        return error{errc::too_large,
                     "a checkpoint must be at most " + std::to_string(run_record::checkpoint_bytes_max) +
                         " bytes long, but has " + std::to_string(text.size()),
                     name_.str()};
    }
    error no_longer_ours() const {
        return {errc::fenced, "the run has been given up, for it took longer than give_up_after", name_.str()};
    }

    /// Under the next session, if need be: until it is known, the version of the record is not.
    task<result<void>> save_until_known(entry& e, run_end what) {
        for (;;) {
            auto const seen = e.stirred.edition();
            auto const session = registry_.session();
            if (session.state == session_state::connected) {
                auto const saved = co_await book_.save(session.generation, what);
                if (saved || !(is_connection(saved.error().code) || saved.error() == errc::session_lost))
                    co_return saved;
            } else if (closing_) {
                co_return error{errc::session_lost, "the session is over, and the job is being shut down", name_.str()};
            }
            auto const until = now() + retry_pause;
            co_await e.stirred.newer_than(seen, until);
        }
    }

    task<result<void>> write_checkpoint(live_run& run, std::string text) {
        ELASTICJOB_CO_CHECK(check_checkpoint(text));
        if (!run.item) co_return no_longer_ours();
        auto& e = *run.item;
        ++run.saving; // as long as that is so, the run is not over, even if it has been given up
        co_await write_access(e);
        auto record = e.record;
        record.checkpoint = std::move(text);
        run_end what;
        what.item = e.item;
        what.record = record.to_text();
        what.version = e.version.value_or(0);
        auto const saved = co_await save_until_known(e, std::move(what));
        if (saved) {
            e.record = std::move(record);
            e.version = *e.version + 1;
        } else if (saved.error() == errc::fenced && e.live) {
            e.live->order.give(stop_reason::taken_over);
        }
        --run.saving;
        release(e);
        co_return saved;
    }

    // What is told.

    void tell_busy(entry& e, wall_time due) {
        e.told_through = due;
        if (terms_.on_misfire.rule == misfire_rule::skip)
            tell_skipped(e, due, events::skip_reason::still_running);
        else
            env_.sink(events::item_misfired{origin(), e.item, due});
    }
    void tell_skipped(entry const& e, wall_time due, events::skip_reason why, std::uint64_t count = 1,
                      events::run_name const& run = {}) {
        env_.sink(events::item_skipped{origin(), e.item, due, why, count, run});
    }

    static constexpr std::chrono::milliseconds retry_pause{200};
    static constexpr std::chrono::milliseconds refusal_pause{1'000};
    static constexpr std::chrono::seconds hook_patience{10};
    static constexpr std::chrono::hours clock_slack{1};

    Environment& env_;
    Registry& registry_;
    job_name name_;
    job_layout at_;
    instance_id self_;
    run_book<Registry> book_;
    job_body<Loop> body_;
    event_count<Loop>& job_news_;
    event_count<Loop> idle_news_;
    std::conditional_t<listeners::hear_rounds, rounds<Environment>, no_rounds<Environment>> rounds_;
    terms_type terms_;
    job_view<Registry> const* view_ = nullptr;
    std::vector<typename item_claim::proof> common_; ///< of the claim
    std::map<item_index, entry> table_;              ///< what is ours, or runs here
    deferred<std::map<item_index, item_counts>, Environment> counts_; ///< that are not published yet
    event_count<Loop> end_news_;
    std::vector<asking> asking_;
    std::vector<opening> opening_;
    std::vector<entry*> ending_;
    int busy_ = 0;
    int given_up_ = 0;                  ///< runs that have been, while their bodies go on
    list_of<mono_time> retried_at_;     ///< in the last hour, if there is a limit
    std::uint64_t runs_begun_ = 0;
    bool is_share_known_ = false;
    bool is_first_sharding_ = false; ///< of the job: nobody has had an item before
    std::uint32_t known_items_ = 0;  ///< of the assignment in force; 0: none was
    bool is_draining_ = false;
    bool was_clock_wrong_ = false; ///< when it was last looked at
    bool stands_down_ = false;
    wall_time doubted_at_;      ///< since when it is not known what is ours
    bool is_beginning_ = false; ///< begin_together is at it
    bool is_ending_ = false;    ///< end_together is
    bool closing_ = false;
    task_scope tasks_; ///< last: its tasks use all of the above
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
