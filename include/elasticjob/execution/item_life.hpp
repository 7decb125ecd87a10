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

/// The facts of one moment, besides what the item knows itself.
struct item_moment {
    run_terms const& terms;
    instance_id const& self;
    job_layout const& at;
    mono_time now{};
    wall_time wall{};
    session_view session{};
    bool has_java_members = false;  ///< who keep no records
    bool is_share_known = true;     ///< whether it is known what is ours
    bool is_first_sharding = false; ///< of the job: nobody has had the item before
    bool is_closing = false;        ///< nothing begins any more
    bool gives_up = false;          ///< the drain time-out is over: what cannot be recorded now is given up
    bool is_runner_gone = false;    ///< whether the instance that the record says
                                    ///< runs the item cannot end that run any more
};

/// What has to be reported after a step, and when the item looks again although
/// nothing wakes it.
struct item_news {
    skipped_instants skipped{};
    std::optional<error> trouble{};
    bool deals_with_rounds = false; ///< of the item's instants, some are dealt with
    bool may_be_others = false;     ///< and rounds may have begun elsewhere
    bool is_fenced = false;         ///< the run that has ended does not count
    /// The marks of this session are to go, though the end is not on record.
    std::optional<session_generation> given_up_in{};
    mono_time look_again = mono_time::min(); ///< at once
};

/// What an item asks for next. The answer goes to the function that stands
/// beside it.
struct item_step {
    enum class kind : std::uint8_t {
        rest,     ///< nothing, until something wakes the item, or `until` has come
        read,     ///< its record: `record_read`
        open,     ///< its first record, `text`, is to be written, together with others:
                  ///< `opened`
        follow,   ///< a former owner runs it: its record is read and watched until
                  ///< that changes: `record_read`
        note,     ///< its record, see `note`, is written: `noted`
        start,    ///< a run, see `start`: `start_answered`
        await,    ///< somebody's mark stands there who keeps no record: that it goes:
                  ///< `mark_gone`
        call,     ///< its body is called: `body_ended`
        end,      ///< the end, see `end`, is put on record: `end_answered`
        catch_up, ///< a write that changes nothing, see `settles_in`: `caught_up`
        look,     ///< its record, in which a start may stand: `start_looked_for`
        undo,     ///< a start that stands in its record, see `undo`: `undone`
        leave,    ///< nothing any more: it is not ours, and nothing is open: see
                  ///< `unfinished`
    };
    kind is = kind::rest;
    mono_time until = mono_time::max(); ///< of `rest`
    std::string text{};                 ///< of `open`
    item_news news{};
};

/// An item that is ours, or runs here, or of which it is unknown whether it
/// does: learns what is known of its runs, waits until something is to be run
/// (`run_choice`), has it begin on record, run and end, and undoes what nobody
/// knows.
///
/// A value without a registry: `next` says what is asked for, and each answer
/// is handed to the function that the step names. One step is under way at a
/// time. What happens outside, such as `give` or `order`, may come at any
/// moment. Threads: the loop's.
class item_life {
public:
    using share = item_claim::share;

    enum class phase : std::uint8_t {
        unread,    ///< what is known of the record is not what the registry has
        absent,    ///< there is no record
        opening,   ///< the first record is being written
        resting,   ///< nothing runs here; the record may say that a former owner
                   ///< still runs it
        noting,    ///< what others have to know is being written
        starting,  ///< a run was asked for
        marked,    ///< a mark stands in the way
        running,   ///< on record as begun; the body is called
        ending,    ///< the body has ended, and its end is not on record
        uncertain, ///< a session ended before it was known whether a run had begun:
                   ///< first a write is to catch up
        looking,   ///< whether it has begun is being read
        undoing,   ///< it has begun, and that is being undone
    };

    /// Takes the item up. What is due behind `ours_since` is not for a former
    /// owner to run; `obeyed` is the last order that was not for this item.
    item_life(item_index i, share s, wall_time ours_since, revision obeyed);

    item_step next(item_moment const& m);

    // ---- The answers. Each says what to report.

    /// `read` is the record, or no_node; any other error is tried again.
    item_news record_read(item_moment const& m, result<node> const& read);
    /// Whether or not it was written: it is read again.
    void opened() noexcept { phase_ = phase::unread; }
    item_news noted(item_moment const& m, result<void> const& written);

    /// The start was sent under this session: if nothing more is heard, it is
    /// unknown whether it counts.
    void start_sent(session_generation g) noexcept { asked_in_ = g; }
    /// It counts, under that session.
    void start_granted(run_ticket const& t, session_generation g);
    /// `started` comes behind `start_granted`.
    item_news start_answered(item_moment const& m, start_answer a);
    /// It is on record, but the answer took so long that the session may be over.
    void start_expired();
    void mark_gone() noexcept { phase_ = phase::resting; }
    /// What becomes of the run is decided in `how`.
    item_news body_ended(item_moment const& m, body_end const& how);
    item_news end_answered(item_moment const& m, end_result r);
    item_news caught_up(item_moment const& m, result<void> const& written);
    item_news start_looked_for(item_moment const& m, result<node> const& read);
    item_news undone(item_moment const& m, end_result r);

    // ---- What happens outside.

    void give(share s) { share_ = std::move(s); }
    void take_away() noexcept { share_.reset(); }
    void order(wall_time when) noexcept { order_ = when; }
    void note_edited() noexcept { is_edited_ = true; }
    /// It was reported that this instant found the item running.
    void note_told_busy(wall_time due) noexcept { told_through_ = due; }
    /// While it runs: what is saved with the next record.
    void keep_checkpoint(std::string text) { record_.checkpoint = std::move(text); }
    /// While it runs: this record replaces the one that is known.
    void checkpointed(run_record r);
    /// While it runs: the mark stands under another session now, or nobody's.
    void marked_again(std::optional<session_generation> g) noexcept { mark_ = g; }

    // ---- What is known.

    item_index item() const noexcept { return item_; }
    phase where() const noexcept { return phase_; }
    bool is_ours() const noexcept { return share_.has_value(); }
    /// It is ours by the assignment.
    bool is_assigned() const noexcept { return share_ && !share_->is_adopted; }
    /// It is somebody else's: nothing is run but what a dead instance has left, and its retries.
    bool is_adopted() const noexcept { return share_ && share_->is_adopted; }
    std::optional<share> const& claim() const noexcept { return share_; }
    run_record const& record() const noexcept { return record_; }
    std::optional<node_version> version() const noexcept { return version_; }
    std::optional<session_generation> mark() const noexcept { return mark_; }
    revision token() const noexcept { return token_; }
    bool is_failover() const noexcept { return is_failover_; }
    /// Precondition: a run was asked for, or goes on.
    bool is_monitored() const noexcept { return begun_ ? begun_->is_monitored : is_monitored_; }
    /// Precondition: the last step was `start`.
    run_begin const& chosen() const noexcept { return *begun_->record.running; }

    /// The job must not leave meanwhile: a run has been asked for, or goes on, or
    /// nobody knows whether it has begun.
    bool is_busy() const noexcept { return phase_ >= phase::starting; }
    bool is_uncertain() const noexcept { return phase_ >= phase::uncertain; }
    /// It is known that nothing of this item runs here.
    bool is_at_rest() const noexcept;
    /// The record says that somebody runs it, and it is not us.
    bool follows() const noexcept { return phase_ == phase::resting && record_.running; }
    /// What becomes due now finds the item held up: it runs here or elsewhere, or
    /// waits to be tried again.
    bool holds_up(wall_time due) const noexcept;

    /// Precondition: the last step was `start`.
    run_start start() const;
    /// A record of this item, to be written over the one that is known.
    run_end over_known(run_record const& r) const;
    /// Precondition: the last step was `note`.
    run_end note() const { return over_known(record_); }
    /// Whose run stands in the registry's record, but not in ours.
    std::optional<instance_id> dead() const { return dead_ ? std::optional{*dead_} : std::nullopt; }
    bool notes_javas_run() const noexcept { return owed_ == unwritten::javas_run; }
    /// Precondition: the last step was `end`.
    run_end end() const;
    /// Precondition: the last step was `undo`.
    run_end undo() const;
    /// Precondition: it is uncertain. The session under which that is being
    /// settled.
    session_generation settles_in() const noexcept { return doubt_->settled_in; }
    /// Of the last step `end`: under which session.
    session_generation end_generation(session_view const& s) const noexcept { return mark_.value_or(s.generation); }
    /// Whether a refused end is news: the first refusal of it is.
    bool note_refused() noexcept { return !std::exchange(is_end_owed_, true); }

    /// What was promised, and will not be run here: nobody else knows of it.
    std::vector<wall_time> unfinished() const;

    /// What holds after every call: see the fields.
    bool holds() const noexcept;

    /// All that its future depends on but pauses, for a person: "running; version
    /// 2; …", and the record. Versions of the record are told as what they exceed
    /// `zero` by.
    friend std::string to_string(item_life const& l, node_version zero);

private:
    /// A start of which nobody knows whether it is on record.
    struct doubt {
        std::string record;
        session_generation settled_in{};
        node_version version = 0; ///< of the record, if it is there
    };

    static wall_time whole(wall_time t) { return std::chrono::floor<std::chrono::milliseconds>(t); }
    run_choice choice(item_moment const& m) const { return {m.terms, m.self, whole(m.wall), m.has_java_members}; }

    item_step choose(item_moment const& m);
    item_step end_run(item_moment const& m);
    item_step settle(item_moment const& m);
    run_record first_record(item_moment const& m) const;
    item_news take_record(item_moment const& m, node const& there);

    /// A record is written behind the order that it has obeyed. If it says
    /// otherwise, it was copied from another registry, whose revisions mean
    /// nothing here. Orders count anew from now on, and that is reported.
    error mend_copied(revision written, item_moment const& m);

    /// What is true of the record, though nothing is run for it now.
    item_news remember(next_run next);
    /// The run that was to begin is not to be, and that is final.
    item_news drop(item_moment const& m, next_run next, std::string_view why);
    item_news begin(next_run next);
    void begin_to_doubt(run_record const& started);
    /// The run is over; `is_known`: the record is what the registry has.
    item_news ended(bool is_known);
    item_news settled(mono_time now);

    void owes_nothing() noexcept;
    skipped_instants take_untold() noexcept;
    /// At once the first time, for then the news is there already; later after
    /// longer and longer pauses, up to some seconds.
    mono_time back_off(mono_time now);

    /// A later attempt carries out an earlier order, not the one that waits.
    static bool is_first_of_order(run_begin const& what) noexcept {
        return what.source == run_source::trigger && what.attempt == 1;
    }

    static constexpr std::chrono::milliseconds retry_pause{200}, refusal_pause_max{10'000};
    static constexpr std::chrono::minutes looks_every{1}; ///< because clocks are put forward
    static constexpr std::uint8_t failures_max = 7;

    item_index item_;
    phase phase_ = phase::unread;
    unwritten owed_ = unwritten::nothing; ///< what stands in the record, but not
                                          ///< in the registry's
    std::uint8_t failures_ = 0;           ///< to begin, in a row; at most `failures_max`
    std::uint8_t refusals_ = 0;           ///< of the end, in a row; at most `failures_max`
    bool is_edited_ = false;              ///< an operator has written the record since
    bool is_monitored_ = true;            ///< the run that goes on here
    bool is_failover_ = false;            ///< the `failover` node is ours, as the `running` node is
    bool is_end_owed_ = false;            ///< the registry has refused the end, and that was reported

    std::optional<share> share_;            ///< while it is ours
    wall_time ours_since_;                  ///< what is due behind this is not for a former owner to run
    run_record record_{};                   ///< as it is known
    std::optional<node_version> version_{}; ///< of the record; nothing: there is none
    boxed<skipped_instants> untold_{};      ///< in the record, but not reported: first
                                            ///< they are written down
    boxed<instance_id> dead_{};             ///< whose run stands in the registry's record, but not in ours
    std::optional<wall_time> order_{};      ///< when somebody asked this instance to run it
    wall_time told_through_{};              ///< due instants up to here were reported to have
                                            ///< found it running
    wall_time rounds_at_end_{};             ///< the last round of another job known when its
                                            ///< last run here ended
    wall_time told_of_clock_{};             ///< the due instant last reported as skipped
                                            ///< because the clock is wrong

    boxed<next_run> begun_{};                  ///< while starting: the run that was asked for
    boxed<doubt> doubt_{};                     ///< from uncertain on
    session_generation asked_in_{};            ///< under which the last start, or end, was asked for
    std::optional<session_generation> mark_{}; ///< whose `running` node is ours: from its start to its end
    revision token_ = 0;                       ///< of the last run here
    mono_time end_again_{};                    ///< the end is not asked for before, unless the job closes
};

std::string to_string(item_life const& l, node_version zero = 0);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/item_life.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ITEM_LIFE_HPP
