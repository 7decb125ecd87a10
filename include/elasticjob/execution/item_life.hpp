// SPDX-License-Identifier: Apache-2.0
/// \file \brief The life of an item on the instance that owns it, as a value.
#ifndef ELASTICJOB_EXECUTION_ITEM_LIFE_HPP
#define ELASTICJOB_EXECUTION_ITEM_LIFE_HPP

#include <elasticjob/core/boxed.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/after_run.hpp>
#include <elasticjob/execution/lasting_failure.hpp>
#include <elasticjob/execution/run_choice.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/run_requests.hpp>
#include <elasticjob/execution/run_terms.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The facts of one moment, besides the item's own state.
struct item_moment {
    run_terms const& terms;
    instance_id const& self;
    job_layout const& at;
    mono_time now{};
    wall_time wall{};
    session_view session{};
    bool has_java_members = false;  ///< Java members keep no records
    bool is_share_known = true;     ///< whether this instance's share is known
    bool is_first_sharding = false; ///< of the job: no instance has owned the item before
    bool is_closing = false;        ///< no run begins any more
    bool gives_up = false;          ///< the drain time-out is over: an end that cannot be recorded now is given up
    bool is_runner_gone = false;    ///< the instance whose run is in the record can no longer end that run
};

/// The reports that follow from a step, and when the item must check again although nothing wakes it.
struct item_news {
    std::vector<skipped_instants> skipped{};
    std::optional<error> trouble{};
    bool deals_with_rounds = false; ///< some of the item's instants have been handled
    bool may_be_others = false;     ///< and rounds may have begun elsewhere
    /// The marks of this session must be removed, although the end is not on record.
    std::optional<session_generation> given_up_in{};
    mono_time look_again = mono_time::min(); ///< at once
};

/// The next request of an item. The reply goes to the function that is named in the comment.
struct item_step {
    enum class kind : std::uint8_t {
        rest,     ///< nothing, until something wakes the item, or `until` has come
        read,     ///< read its record: `record_read`
        open,     ///< write its first record, `text`, together with others: `opened`
        follow,   ///< a former owner runs it: read and watch its record until that changes: `record_read`
        note,     ///< write its record, see `note`: `noted`
        start,    ///< start a run, see `start`: `start_answered`
        await,    ///< wait until the mark of a member without records is gone: `mark_gone`, or `mark_refused`
        call,     ///< call its body: `body_ended`
        end,      ///< put the end on record, see `end`: `end_answered`
        catch_up, ///< commit a write that changes nothing, see `resolves_in`: `caught_up`
        look,     ///< read its record, which may contain a start: `start_looked_for`
        undo,     ///< undo a start in its record, see `undo`: `undone`
        leave,    ///< nothing more: the item is not owned here and nothing is open, see `unfinished`
    };
    kind is = kind::rest;
    mono_time until = mono_time::max(); ///< of `rest`
    std::string text{};                 ///< of `open`
    item_news news{};
};

/// The life of an item that this instance owns, runs, or may be running: it reads the record, waits until there is
/// something to run (`run_choice`), puts the start on record, runs the item, puts the end on record, and undoes starts
/// whose outcome is unknown.
///
/// A value without a registry: `next` returns the next request, and its reply goes to the function that the step names.
/// There is one step at a time. Outside events, such as `give` or `order`, may come at any moment. Threads: the loop's.
class item_life {
public:
    using share = item_claim::share;

    enum class phase : std::uint8_t {
        unread,    ///< the known record is not the registry's
        absent,    ///< there is no record
        opening,   ///< the first record is being written
        opened,    ///< this instance has just written the first record
        resting,   ///< not running here; by its record, a former owner may still run it
        noting,    ///< a pending change of the record is being written
        starting,  ///< the start of a run has been requested
        marked,    ///< a mark prevents the start
        running,   ///< the start is on record, and the body is called
        ending,    ///< the body has ended, and the end is not on record
        uncertain, ///< a session ended before it was known whether a run had started: a write has to catch up first
        looking,   ///< the record is being read to find out whether the run has started
        undoing,   ///< the run has started, and the start is being undone
    };

    /// Takes the item over. No former owner runs instants after `ours_since`. `obeyed` is the last order that was not
    /// for this item. `was_javas`: a Java member may have been the former owner, and have run instants without a
    /// record. `is_new`: no instance has owned the item before, so its record is created without reading it first.
    item_life(item_index i, share s, wall_time ours_since, revision obeyed, bool was_javas = false,
              bool is_new = false);

    item_step next(item_moment const& m);

    // ---- The replies. Each function returns the reports.

    /// `read` is the record, or no_node; after any other error the read is repeated.
    item_news record_read(item_moment const& m, result<node> const& read);
    /// The record is read again unless this instance has created it. No effect on an item that waits for no reply.
    void opened(record_creation r);
    item_news noted(item_moment const& m, result<void> const& written);

    /// The start was sent under this session. Without a reply it is unknown whether it counts.
    void start_sent(session_generation g) noexcept { asked_in_ = g; }
    /// The start counts, under that session.
    void start_granted(run_ticket const& t, session_generation g);
    /// `started` comes after `start_granted`.
    item_news start_answered(item_moment const& m, start_answer a);
    /// The start is on record, but the reply took so long that the session may be over.
    void start_expired();
    void mark_gone() noexcept { phase_ = phase::resting; }
    /// The mark could not be read, or this instance's own one not be removed: this is repeated at `look_again`.
    item_news mark_refused(item_moment const& m, error const& why) { return to_repeat(m, why); }
    /// `how` contains the decision about the run.
    item_news body_ended(item_moment const& m, body_end const& how);
    item_news end_answered(item_moment const& m, end_result r);
    item_news caught_up(item_moment const& m, result<void> const& written);
    item_news start_looked_for(item_moment const& m, result<node> const& read);
    item_news undone(item_moment const& m, end_result r);

    // ---- Outside events.

    void give(share s) { share_ = std::move(s); }
    void take_away() noexcept { share_.reset(); }
    void order(wall_time when) noexcept { order_ = when; }
    void note_edited() noexcept { is_edited_ = true; }
    /// It was reported that this instant found the item running.
    void note_told_busy(wall_time due) noexcept { told_through_ = due; }
    /// While it runs: the checkpoint for the next record.
    void keep_checkpoint(std::string text) { record_.checkpoint = std::move(text); }
    /// While it runs: its record was written.
    void written() noexcept { version_ = *version_ + 1; }
    /// While it runs: its record was written with this checkpoint.
    void checkpointed(std::string text);
    /// While it runs: the mark now belongs to another session, or there is none.
    void marked_again(std::optional<session_generation> g) noexcept { mark_ = g; }

    // ---- The state.

    item_index item() const noexcept { return item_; }
    phase where() const noexcept { return phase_; }
    bool is_ours() const noexcept { return share_.has_value(); }
    /// Whether this instance owns the item by the assignment.
    bool is_assigned() const noexcept { return share_ && !share_->is_adopted; }
    /// Whether another instance owns the item: then only runs that a dead instance has left, and their retries, are
    /// run.
    bool is_adopted() const noexcept { return share_ && share_->is_adopted; }
    std::optional<share> const& claim() const noexcept { return share_; }
    run_record const& record() const noexcept { return record_; }
    std::optional<node_version> version() const noexcept { return version_; }
    std::optional<session_generation> mark() const noexcept { return mark_; }
    revision token() const noexcept { return token_; }
    bool is_failover() const noexcept { return is_failover_; }
    /// Precondition: a run has been requested, or is live.
    bool is_monitored() const noexcept { return begun_ ? begun_->is_monitored : is_monitored_; }
    /// Precondition: the last step was `start`.
    run_begin const& chosen() const noexcept { return *begun_->record->running; }

    /// Whether the job must not leave: a run has been requested, is live, or may have started.
    bool is_busy() const noexcept { return phase_ >= phase::starting; }
    bool is_uncertain() const noexcept { return phase_ >= phase::uncertain; }
    /// Whether the item is known not to run here.
    bool is_at_rest() const noexcept;
    /// Whether the record contains a run of another instance.
    bool follows() const noexcept { return phase_ == phase::resting && record_.running; }
    /// Whether an instant that becomes due now finds the item busy: running here or elsewhere, or waiting for a retry.
    bool holds_up(wall_time due) const noexcept;

    /// Precondition: the last step was `start`.
    run_start start() const;
    /// The request to replace the known record by `r`, with the progress of its run, if there is any.
    run_end over_known(run_record const& r, run_progress const* progress = nullptr) const;
    /// Precondition: the last step was `note`.
    run_end note() const { return over_known(record_); }
    /// The instance whose run is in the registry's record, but not in the known one.
    std::optional<instance_id> dead() const { return dead_ ? std::optional{*dead_} : std::nullopt; }
    /// Whether the note holds even while a Java member runs the item.
    bool may_java_run_it() const noexcept { return was_javas_ || pending_ == unwritten::javas_run; }
    /// Precondition: the last step was `end`.
    run_end end() const;
    /// Precondition: the last step was `undo`.
    run_end undo() const;
    /// The session under which an uncertain start is being resolved. Precondition: `is_uncertain()`.
    session_generation resolves_in() const noexcept { return doubt_->resolved_in; }
    /// The session of the last step `end`.
    session_generation end_generation(session_view const& s) const noexcept { return mark_.value_or(s.generation); }
    /// Whether a refused end must be reported: only its first refusal.
    bool note_refused() noexcept { return !std::exchange(is_end_pending_, true); }

    /// The instants that were accepted but will not run here, and that no other instance knows.
    std::vector<wall_time> unfinished() const;

    /// The invariants, which hold after every call: see the fields.
    bool holds() const noexcept;

    /// The whole state except pauses, for people: "running; version 2; …", and the record. Versions of the record are
    /// relative to `zero`.
    friend std::string to_string(item_life const& l, node_version zero);

private:
    /// A start that may or may not be on record.
    struct doubt {
        std::string record;
        session_generation resolved_in{};
        node_version version = 0; ///< of the record, if it exists
    };

    static wall_time whole(wall_time t) { return std::chrono::floor<std::chrono::milliseconds>(t); }
    run_choice choice(item_moment const& m) const { return {m.terms, m.self, whole(m.wall), m.has_java_members}; }

    item_step choose(item_moment const& m);
    item_step end_run(item_moment const& m);
    item_step resolve(item_moment const& m);
    run_record first_record(item_moment const& m) const;
    void begin_without_record(item_moment const& m);
    item_news take_record(item_moment const& m, node const& there);
    /// The job is monitored again: continues from the runs that this instance has made without a record.
    void keep_unrecorded(run_record const& ours);

    /// The record notes which revision created its node, and is written after the order that it has obeyed. If that is
    /// not so, the record was copied from another registry, whose revisions mean nothing here. Then orders are counted
    /// from now on, tokens from above the earlier ones, and this is reported.
    error mend_copied(revision written, item_moment const& m);

    /// Keeps a choice without a run.
    item_news remember(next_run next);
    /// Drops the chosen run for good.
    item_news drop(item_moment const& m, next_run next, std::string_view why);
    item_news begin(next_run next);
    void begin_to_doubt(run_record const& started);
    /// The run is over; `is_known`: the record is what the registry has.
    item_news ended(bool is_known);
    item_news resolved(mono_time now);
    /// The job ends although it is unknown whether the start has left a mark: its session's marks are removed.
    item_news given_up(mono_time now);
    /// A request has failed, and is repeated.
    item_news failed(error const& why, mono_time again);
    item_news to_repeat(item_moment const& m, error const& why);

    void clear_pending() noexcept;
    std::vector<skipped_instants> take_untold() noexcept;
    /// At once the first time, because the change is already visible then; later after growing pauses of up to some
    /// seconds.
    mono_time back_off(mono_time now);

    /// A later attempt belongs to an earlier order, not to the one that waits.
    static bool is_first_of_order(run_begin const& what) noexcept {
        return what.source == run_source::trigger && what.attempt == 1;
    }

    static constexpr std::chrono::milliseconds refusal_pause_max{10'000};
    static constexpr std::chrono::minutes looks_every{1}; ///< because clocks may be put forward
    static constexpr std::uint8_t failures_max = 7;

    item_index item_;
    phase phase_ = phase::unread;
    unwritten pending_ = unwritten::nothing; ///< the change of the record that is not yet in the registry
    std::uint8_t failures_ = 0;              ///< failed requests in a row, of any kind; at most `failures_max`
    std::uint8_t refusals_ = 0;              ///< refusals of the end in a row; at most `failures_max`
    bool is_edited_ = false;                 ///< an operator has written the record since
    bool is_monitored_ = true;               ///< whether the live run is monitored
    bool is_failover_ = false;               ///< the run also has a `failover` node of this instance
    bool is_end_pending_ = false;            ///< the registry has refused the end, and that was reported
    bool passes_over_ = false;               ///< the run that goes on here makes up for other instants, too
    bool was_javas_;                         ///< a Java member may have owned the item before

    std::optional<share> share_;            ///< set while this instance owns the item
    wall_time ours_since_;                  ///< no former owner runs instants after this
    run_record record_{};                   ///< as it is known
    std::optional<node_version> version_{}; ///< of the record; nothing: there is none, or it is not kept
    boxed<node> created_{};                 ///< while opened: the record; of its stat, the version and the revisions
    /// In the known record; reported once they are in the registry's.
    boxed<std::vector<skipped_instants>> untold_{};
    /// The instance whose run is in the registry's record, but not in `record_`.
    boxed<instance_id> dead_{};
    std::optional<wall_time> order_{}; ///< when this instance was ordered to run it
    wall_time told_through_{};         ///< due instants up to here were reported to have found it running
    wall_time rounds_at_end_{};        ///< the last known round of another job at the end of its last run here
    lasting_failure failure_{};        ///< of other requests, until a note is written or a run begins
    wall_time told_of_clock_{};        ///< the due instant last reported as skipped because of a wrong clock

    boxed<next_run> begun_{};                  ///< while starting: the requested run
    boxed<doubt> doubt_{};                     ///< set from `uncertain` on
    session_generation asked_in_{};            ///< the session of the last request to start or to end
    std::optional<session_generation> mark_{}; ///< the session of this run's mark, from its start to its end
    revision token_ = 0;                       ///< of the last run here
    mono_time end_again_{};                    ///< the end is not requested again before this, unless the job closes
};

std::string to_string(item_life const& l, node_version zero = 0);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/item_life.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ITEM_LIFE_HPP
