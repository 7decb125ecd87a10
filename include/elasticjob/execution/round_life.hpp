// SPDX-License-Identifier: Apache-2.0
/// \file \brief The part that an instance takes in one round, as a value.
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

/// What stands in the node of a round.
struct round_state {
    enum class stage : std::uint8_t {
        before, ///< `holder` calls the hook before the round, and the items wait
        open,   ///< items run, and `holder` sees when all are dealt with; older members name none
        after   ///< all are, and `holder` calls the hook after the round, then removes the node
    };
    stage is = stage::after;
    std::string holder{};

    std::string to_text() const;
    /// A text that says no stage is `after`, so that the round is removed. What is no instance's name is nobody.
    static round_state of(std::string_view text);
};

enum class round_hook : std::uint8_t { before, after };

/// The facts of one moment, besides what the round knows itself.
struct round_moment {
    instance_id const& self;
    job_layout const& at;
    dealt_items const& items; ///< of this instance
    session_generation generation{};
    std::uint32_t item_count = 0;               ///< of the job
    std::chrono::milliseconds start_timeout{0}; ///< how long items wait for the hook
    std::chrono::milliseconds end_timeout{0};   ///< how long the round may take
    mono_time now{};
    bool is_current = false;         ///< the round's node is as it was last read
    bool is_list_current = false;    ///< so are the names of the nodes below
    bool is_holder_unseen = false;   ///< our view shows no instance of the holder's name
    bool calls_nothing_more = false; ///< what is left is for the other instances, or for the next life
};

/// What a round asks for next. The answer goes to the function that is named.
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

/// What has to be reported after a step.
struct round_news {
    std::string missed_before{}, missed_after{}; ///< why that hook was perhaps not called; empty: nothing to report
    std::optional<error> trouble{};
};

/// A round goes from stage to stage, by transactions that check the version of its node. So one instance makes each
/// change, and that instance acts on it: the *holder* calls both hooks and sees when all items are dealt with. When the
/// holder has gone, or time is up, the instance that makes the next change takes its place, and reports the hook that
/// may not have been called. A round that is over stays over: `ext/rounds` holds the latest one, and a round is made
/// only against its version (D-24).
///
/// Each instance writes down which items it has dealt with when it has dealt with all that it has: once, and once more
/// whenever it has been given further ones. These notes never change. So the requests of a round depend on the
/// instances, not on the items.
///
/// A value: `next` gives the next step, and each answer of the registry is handed to one function. One step is under
/// way at a time. Threads: any one.
class round_life {
public:
    enum class phase : std::uint8_t {
        unread, ///< nothing is known of the node
        absent, ///< it is not there: reads which round was the last to be over
        first,  ///< no round has ever been made: its parent is to be made
        making, ///< no later round is over: the node is to be made
        known,  ///< the node is there
        over,   ///< it has been removed, or will never be made
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

    // ---- What happens outside.

    /// An item of this instance begins for the round.
    void note_begun() noexcept { has_items_ = true; }
    /// Nobody waits any longer for its end.
    void give_up() noexcept { is_given_up_ = true; }

    // ---- What is known.

    wall_time due() const noexcept { return due_; }
    phase where() const noexcept { return phase_; }
    round_state const& state() const noexcept { return state_; }
    node_path path(job_layout const& at) const;
    static std::int64_t milliseconds_of(wall_time t);

    /// Whether items may run for it: the hook has been called, or nobody waits for it any more.
    bool is_open() const noexcept;

    /// Whether this instance can bring the round to its end, or others wait for its note; so it does not leave at once.
    bool can_go_on(round_moment const& m) const;

    /// What holds after every call: see the fields.
    bool holds() const noexcept;

    /// All that its future depends on but pauses, for a person: "known; open, held by …". Versions are told as what
    /// they exceed `zero` by.
    friend std::string to_string(round_life const& l, node_version zero);

private:
    /// What the transaction that is under way changes.
    enum class change : std::uint8_t {
        none,
        parent, ///< makes `ext/rounds`
        make,   ///< makes the round
        open,   ///< the items may run
        hold,   ///< takes the place of a holder that has gone, while items run
        close,  ///< all items are dealt with
        expire, ///< the round has taken too long
        remove  ///< the round is over
    };

    bool is_ours(round_moment const& m) const { return state_.holder == m.self.str(); }
    /// Nobody holds it, or an instance that has gone.
    bool is_free(round_moment const& m) const noexcept {
        return state_.holder.empty() || (is_holder_gone_ && m.is_holder_unseen);
    }
    bool is_late(round_moment const& m) const { return is_given_up_ || m.now >= begun_ + m.end_timeout; }
    /// All our items are dealt with, and there may be some that we have not written down.
    bool has_unnoted(round_moment const& m) const noexcept {
        return m.items.all_through(due_) && m.items.edition() != noted_edition_;
    }
    bool is_complete() const noexcept { return left_ == 0; }

    round_step step_before(round_moment const& m);
    round_step step_open(round_moment const& m);
    round_step step_after(round_moment const& m);

    round_step make_parent(round_moment const& m);
    round_step make(round_moment const& m);
    round_step remove(round_moment const& m);
    round_step write(round_moment const& m, change what, round_state::stage s);
    /// Another instance holds the round: whether it is still there, or what else is to be done by then.
    round_step watch_holder(round_moment const& m, mono_time until);
    round_step call(round_hook which, mono_time until);
    round_step list(round_moment const& m);
    /// Rests if there is nothing new.
    round_step note(round_moment const& m);
    /// Nothing is known of the notes of so many items.
    void forget_notes(std::uint32_t item_count);
    void take_note(std::string_view text);

    /// The request has failed: it is made once more, after longer and longer pauses.
    void try_again(round_moment const& m) noexcept;
    bool& has_called(round_hook which) noexcept { return has_called_[static_cast<std::size_t>(which)]; }

    static constexpr std::chrono::milliseconds retry_pause{200};
    static constexpr std::uint8_t failures_max = 5;        ///< so no pause is longer than 6.4 s
    static constexpr std::chrono::seconds lists_every{30}; ///< because older members change their notes
    static constexpr std::chrono::seconds looks_for_holder_every{1};
    static constexpr std::size_t noted_at_once_max = 50'000; ///< some 400 kB
    static constexpr char note_separator = ',';              ///< no instance's name contains it

    wall_time due_;
    phase phase_ = phase::unread;
    change changing_ = change::none; ///< what the last transaction changes, until its answer is there
    bool has_items_ = false;         ///< items of this instance have begun for it
    bool is_given_up_ = false;
    bool must_read_ = false;      ///< the node may not be as it was read, whatever the watch says
    std::uint8_t failures_ = 0;   ///< of requests, in a row; at most `failures_max`
    bool is_holder_gone_ = false; ///< the registry has said so, of the holder that `state_` names
    bool has_called_[2] = {};     ///< by `round_hook`; or it is not to be called any more
    mono_time again_{};           ///< no request before that
    mono_time begun_{};           ///< when this instance first saw the node
    mono_time look_at_{};         ///< when to look again whether the holder is there
    mono_time list_at_{};         ///< when to list the notes again although none has come

    round_state state_{};      ///< once known
    node_version version_ = 0; ///< of the node, once known

    std::optional<node_version> latest_{}; ///< the version of `ext/rounds`, as read for the next transaction
    std::int64_t latest_over_ = 0;         ///< what stood there

    std::vector<item_index> noted_{};  ///< by us, ascending
    std::vector<item_index> noting_{}; ///< by the note that is under way
    std::uint64_t noted_edition_ = 0;  ///< of our items, of which nothing is left to note
    std::uint32_t notes_ = 0;          ///< that we have written

    bool is_listed_ = false;            ///< the names below are known
    std::vector<std::string> names_{};  ///< of the nodes below, once listed
    std::vector<std::string> unread_{}; ///< those of them that are to be read
    std::set<std::string> read_{};      ///< those of them that have been read, and never change
    std::vector<bool> dealt_{};         ///< which of the job's items the notes name that have been read
    std::size_t left_ = 1;              ///< how many they do not name; 1 as long as none has been looked for
};

std::string to_string(round_life const& l, node_version zero = 0);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/round_life.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ROUND_LIFE_HPP
