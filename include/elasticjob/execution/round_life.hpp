// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides how an instance takes part in one round.
#ifndef ELASTICJOB_EXECUTION_ROUND_LIFE_HPP
#define ELASTICJOB_EXECUTION_ROUND_LIFE_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/dealt_items.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The content of a round's node.
struct round_state {
    enum class stage : std::uint8_t {
        before, ///< `holder` calls the hook before the round, and the items wait
        open,   ///< items run, and `holder` waits until all have handled the round; older members name no holder
        after   ///< all have, and `holder` calls the hook after the round, then removes the node
    };
    stage is = stage::after;
    std::string holder{};

    std::string to_text() const;
    /// A text without a stage counts as `after`, so that the round is removed. A text that is no instance's name counts
    /// as no holder.
    static round_state of(std::string_view text);
};

enum class round_hook : std::uint8_t { before, after };

/// The facts of one moment, besides the round's own state.
struct round_moment {
    instance_id const& self;
    job_layout const& at;
    dealt_items const& items; ///< of this instance
    session_generation generation{};
    std::uint32_t item_count = 0;               ///< of the job
    std::chrono::milliseconds start_timeout{0}; ///< how long items wait for the hook
    std::chrono::milliseconds end_timeout{0};   ///< how long the round may take
    mono_time now{};
    bool is_current = false;         ///< the round's node is unchanged since the last read
    bool is_fresh = true;            ///< that read began so lately that no other instance can have taken the round over
    bool is_list_current = false;    ///< the list of names below it is unchanged, too
    bool is_holder_unseen = false;   ///< our view shows no instance with the holder's name
    bool calls_nothing_more = false; ///< other instances, or the next start, do the rest
    bool starts_together = false;    ///< no item runs before all are ready: see `StartTogether`
};

/// The next request of a round. The reply goes to the function that the comment names.
struct round_step {
    enum class kind : std::uint8_t {
        rest,        ///< nothing, until there is news, or `until` has come
        read,        ///< the node at `path`, with a watch: `read`
        read_latest, ///< the node at `path`, without: `latest_read`
        look,        ///< whether `path` exists: `holder_looked_for`
        commit,      ///< `changes`: `committed`
        call,        ///< `hook`, which begins no later than `until`: `hook_called`
        note,        ///< a persistent node at `path` with `text`: `noted`
        list,        ///< the names below `path`, with a watch: `listed`
        read_notes,  ///< the nodes at `paths`: `notes_read`
        leave        ///< the round is over, or not ours to follow any more
    };
    kind is = kind::rest;
    node_path path{};
    std::vector<node_path> paths{};
    std::string text{};
    transaction changes{session_generation::current()};
    round_hook hook{};
    mono_time until = mono_time::max();
};

/// The reports that follow from a step.
struct round_news {
    std::string missed_before{}, missed_after{}; ///< why that hook was perhaps not called; empty: nothing to report
    std::optional<error> trouble{};
};

/// A round goes from stage to stage, by transactions that check the version of its node. So exactly one instance makes
/// each change and acts on it: the *holder* calls both hooks and detects when all items have handled the round. When
/// the holder has gone, or its time is up, the instance that makes the next change takes its place, and reports the
/// hook that may not have been called. A round that is over stays over: `ext/rounds` holds the latest one, and creating
/// a round checks its version (D-24).
///
/// Each instance writes a note of its items once all of them have handled the round, and another note after it has
/// received further items. Notes never change. So the number of requests depends on the instances, not on the items.
///
/// If the items are to start together, each instance first notes its ready items: at once when all of its items are
/// ready, otherwise at most once a second. So an item that changes hands while its former owner waits with it does not
/// hide the items of the new owner. The holder waits for these notes before it calls the hook and lets the items run.
///
/// A value: `next` returns the next step, and each reply of the registry goes to one function. Only one step is pending
/// at a time. Threads: any one.
class round_life {
public:
    enum class phase : std::uint8_t {
        unread, ///< the node has not been read
        absent, ///< the node does not exist: reads the last round that is over
        first,  ///< there has been no round yet: its parent must be created
        making, ///< no later round is over: the node must be created
        known,  ///< the node exists
        over,   ///< it has been removed, or will never be created
    };

    explicit round_life(wall_time due) : due_{due} {}

    round_step next(round_moment const& m);

    // ---- The answers.

    round_news read(round_moment const& m, result<node> there);
    round_news latest_read(round_moment const& m, result<node> const& there);
    round_news holder_looked_for(round_moment const& m, result<bool> is_there);
    round_news committed(round_moment const& m, result<commit_reply> const& reply);
    round_news hook_called(result<void> const& outcome);
    round_news noted(round_moment const& m, result<node_path> const& made);
    round_news listed(round_moment const& m, result<std::vector<std::string>> names);
    round_news notes_read(round_moment const& m, result<std::vector<std::optional<node>>> const& notes);

    // ---- Outside events.

    /// An item of this instance begins for the round.
    void note_begun() noexcept { has_items_ = true; }
    /// The item is ready and waits for the others; only if they start together.
    void note_ready(item_index i) { ready_.insert(i); }
    /// No instance waits for its end any longer.
    void give_up() noexcept { is_given_up_ = true; }

    // ---- The state.

    wall_time due() const noexcept { return due_; }
    phase where() const noexcept { return phase_; }
    round_state const& state() const noexcept { return state_; }
    node_path path(job_layout const& at) const;
    static std::int64_t milliseconds_of(wall_time t);

    /// Whether items may run for it: the hook has been called, or no instance waits for it any longer.
    bool is_open() const noexcept;

    /// Whether it was given up because the registry has not let it begin. Then its hooks are not called, and it is
    /// left. Never before its first reply.
    bool never_began() const noexcept {
        return is_given_up_ && is_refused_ && phase_ != phase::known && phase_ != phase::over;
    }

    /// Whether items of this instance have begun for it.
    bool has_items() const noexcept { return has_items_; }

    /// Whether this instance can end the round, or others wait for its note; then it does not leave at once.
    bool can_go_on(round_moment const& m) const;

    /// The invariants after every call: see the fields.
    bool holds() const noexcept;

    /// The whole state except pauses, for people: "known; open, held by …". Versions are relative to `zero`.
    friend std::string to_string(round_life const& l, node_version zero);

private:
    /// The change that the pending transaction makes.
    enum class change : std::uint8_t {
        none,
        parent, ///< creates `ext/rounds`
        make,   ///< creates the round
        open,   ///< the items may run
        hold,   ///< takes the place of a holder that has gone, while items run
        close,  ///< all items have handled the round
        expire, ///< the round has taken too long
        remove  ///< the round is over
    };

    bool is_ours(round_moment const& m) const { return state_.holder == m.self.str(); }
    /// Whether it has no holder, or one that has gone.
    bool is_free(round_moment const& m) const noexcept {
        return state_.holder.empty() || (is_holder_gone_ && m.is_holder_unseen);
    }
    bool is_late(round_moment const& m) const { return is_given_up_ || m.now >= begun_ + m.end_timeout; }
    /// Whether all our items have handled the round, and some of them may not be noted yet.
    bool has_unnoted(round_moment const& m) const noexcept {
        return m.items.all_through(due_) && m.items.edition() != noted_edition_;
    }
    /// Our items that are ready or have handled the round, and that we have not noted as ready. Empty before `part_at_`
    /// if other items of ours are not ready.
    std::vector<item_index> unnoted_ready(round_moment const& m) const;

    round_step step_before(round_moment const& m);
    round_step step_open(round_moment const& m);
    round_step step_after(round_moment const& m);

    round_step make_parent(round_moment const& m);
    round_step make(round_moment const& m);
    round_step remove(round_moment const& m);
    round_step write(round_moment const& m, change what, round_state::stage s);
    /// The next step while another instance holds the round: checks whether that instance still exists, or does other
    /// work first.
    round_step watch_holder(round_moment const& m, mono_time until);
    round_step call(round_moment const& m, round_hook which, mono_time until);
    round_step list(round_moment const& m);
    /// Rests if there is nothing new.
    round_step note(round_moment const& m);
    round_step write_note(round_moment const& m, std::string_view mark);
    /// The next step to read the notes; nothing: all are read.
    std::optional<round_step> learn_notes(round_moment const& m);
    /// Forgets the notes, for a job with that number of items.
    void forget_notes(std::uint32_t item_count);
    void take_note(std::string_view text);

    /// Repeats a failed request, after growing pauses. A successful request resets the pause. After a lasting refusal
    /// only a change of the round does, because reads succeed all the same.
    void try_again(round_moment const& m, bool lasts) noexcept;
    void note_success() noexcept {
        if (!is_refused_) failures_ = 0;
    }
    void note_change() noexcept {
        failures_ = 0;
        is_refused_ = false;
    }
    bool& has_called(round_hook which) noexcept { return has_called_[static_cast<std::size_t>(which)]; }

    static constexpr std::uint8_t failures_max = 5;        ///< so no pause is longer than 6.4 s
    static constexpr std::chrono::seconds lists_every{30}; ///< because older members change their notes
    static constexpr std::chrono::seconds looks_for_holder_every{1};
    static constexpr std::chrono::seconds notes_part_every{1}; ///< because each note costs requests
    static constexpr std::size_t noted_at_once_max = 50'000;   ///< some 400 kB
    static constexpr char note_separator = ',';                ///< no instance's name contains it
    static constexpr std::string_view ready_mark = "+"; ///< before each item of a note; older members then skip it

    /// The job's items that the notes read so far contain.
    struct noted_items {
        std::vector<bool> has{};
        std::size_t left = 1; ///< the number of items without a note; 1 until the first list
        void reset(std::uint32_t item_count);
        void add(item_index i);
    };

    wall_time due_;
    phase phase_ = phase::unread;
    change changing_ = change::none; ///< the change of the pending transaction
    bool has_items_ = false;         ///< items of this instance have begun for it
    bool is_given_up_ = false;
    bool must_read_ = false;      ///< the node may have changed, although the watch has not fired
    bool is_refused_ = false;     ///< for good, since the round last changed
    std::uint8_t failures_ = 0;   ///< of requests, in a row; at most `failures_max`
    bool is_holder_gone_ = false; ///< by the registry, for the holder in `state_`
    bool has_called_[2] = {};     ///< by `round_hook`: it was called, or must not be called
    mono_time again_{};           ///< no request before this
    mono_time begun_{};           ///< when this instance first saw the node
    mono_time look_at_{};         ///< when to check the holder again
    mono_time list_at_{};         ///< when to list the notes again without a change
    mono_time part_at_{};         ///< from then on, ready items are noted although others of ours are not ready

    round_state state_{};      ///< once known
    node_version version_ = 0; ///< of the node, once known

    std::optional<node_version> latest_{}; ///< the version of `ext/rounds`, as read for the next transaction
    std::int64_t latest_over_ = 0;         ///< the content at that version

    std::vector<item_index> noted_{};       ///< by us, ascending
    std::vector<item_index> noting_{};      ///< in the pending note
    bool notes_ready_ = false;              ///< whether that note says that they are ready
    std::set<item_index> ready_{};          ///< of ours; only if all start together
    std::vector<item_index> ready_noted_{}; ///< by us, ascending
    std::uint64_t noted_edition_ = 0;       ///< of our items, at which nothing was left to note
    std::uint32_t notes_ = 0;               ///< the number of notes that we have written

    bool is_listed_ = false;            ///< the names below are known
    std::vector<std::string> names_{};  ///< of the nodes below, once listed
    std::vector<std::string> unread_{}; ///< the names that must still be read
    std::set<std::string> read_{};      ///< the names that have been read; their nodes never change
    noted_items dealt_{}, all_ready_{};
};

std::string to_string(round_life const& l, node_version zero = 0);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/round_life.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ROUND_LIFE_HPP
