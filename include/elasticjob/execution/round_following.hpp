// SPDX-License-Identifier: Apache-2.0
/// \file \brief The decisions of a leader whose job follows another one, without a registry.
#ifndef ELASTICJOB_EXECUTION_ROUND_FOLLOWING_HPP
#define ELASTICJOB_EXECUTION_ROUND_FOLLOWING_HPP

#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/job_schedule.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/lasting_failure.hpp>
#include <elasticjob/execution/round_ends.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The leader's input for following another job.
struct following_basis {
    session_generation generation;
    job_layout at;                                  ///< of the job that is led
    std::optional<job_schedule> followed{};         ///< nothing: it follows no other
    std::optional<node_version> schedule_version{}; ///< of its `ext/schedule`; nothing: there is none
    wall_time since{};                              ///< when that was written, by the registry's clock
};

/// What the leader sees of the followed job, apart from its run records.
struct followed_job_view {
    bool is_loaded = false;
    error const* failure = nullptr; ///< why it cannot be read
    node const* config = nullptr;
    node const* schedule = nullptr;
    bool has_java_members = false;
};

/// The next request of a leader that follows another job, or a rest.
struct following_step {
    enum class kind : std::uint8_t {
        read,   ///< reads `ext/after` of the job that is led; reply to `written_read`
        commit, ///< commits `changes`; reply to `committed`
        rest,   ///< waits for news, or for `pause` if there is one; then `next`
    };
    kind what = kind::rest;
    transaction changes{session_generation::current()};
    std::optional<std::chrono::milliseconds> pause{};
};

/// Writes each round of the followed job that is over and counts to `ext/after`, in one transaction. It checks that the
/// job has a leader, that no other instance has written there, and that both jobs are configured as they were when this
/// was decided. So each round is written at most once, whichever instance leads and whenever a leader dies. The next
/// leader finds the missing rounds in the records, as far as these go back. A job begins with the rounds that end after
/// its schedule was written, once all items of the followed job have records. A round is due when the leader sees its
/// end; if it was over before the leader looked, when it ended.
///
/// A value: `next` begins. Pass each reply to the function that the step names; each call returns the next step.
/// Threads: any one.
class round_following {
public:
    /// Precondition: a valid configuration has `basis.followed`.
    explicit round_following(following_basis basis);

    /// A run record of the followed job has changed; nothing: it is gone. Records that cannot be read count as gone,
    /// because their owners begin them anew.
    void note_record(item_index i, std::optional<std::string_view> text);

    following_step next(followed_job_view const& view, wall_time wall);
    following_step written_read(result<node> read, followed_job_view const& view, wall_time wall);
    following_step committed(result<commit_reply> reply);

    /// The problems since the last call.
    std::vector<error> take_reports() { return std::exchange(reports_, {}); }

    following_basis const& basis() const noexcept { return basis_; }
    std::optional<job_layout> const& followed() const noexcept { return followed_at_; }

private:
    /// What the followed job's configuration says.
    struct followed_config {
        std::pair<revision, revision> read_at{-1, -1}; ///< configuration and schedule
        bool is_there = false;
        bool is_monitored = false;
        bool has_rounds = true;
        std::size_t items = 0;
    };

    /// The content of `ext/after` to write, and what it was decided on.
    struct decision {
        followed_rounds after{};
        std::optional<node_version> config_version{}; ///< of the followed job; nothing: it is not there
        wall_time through{};                          ///< all rounds due up to here have been looked at
        bool is_look = false;                         ///< the rounds have been looked at
        bool is_news = false;
    };

    /// Reads the configuration if it has changed.
    void learn(followed_job_view const& view);

    /// Reports, once, why the rounds of the other job cannot be seen. Returns true if they cannot be read.
    bool is_hindered(followed_job_view const& view);

    /// The rounds that are over, count, and have not been looked at.
    decision decide(followed_job_view const& view, wall_time wall);
    /// To follow that job, none of whose rounds has been looked at; null: to follow none.
    decision decide_to_follow(job_schedule const* what) const;

    transaction writing(decision const& d) const;
    following_step rest_after(decision const& d);
    /// Repeats a failed request after a pause. Reports a failure that lasts, each kind once in a row.
    following_step after_failure(error const& why);

    static void mend(followed_rounds& all, wall_time wall);

    following_basis basis_;
    std::optional<job_layout> followed_at_;
    std::map<item_index, item_rounds> items_; ///< as their records tell
    followed_config followed_;
    std::optional<followed_rounds> written_; ///< the content of `ext/after`; nothing: not read yet
    std::optional<node_version> version_;    ///< of that node; nothing: there is none
    decision pending_;                       ///< while its transaction is pending
    wall_time looked_through_{};             ///< the rounds due up to here
    bool has_looked_ = false;                ///< once: what ends from now on, ends now
    std::string reported_;                   ///< the current hindrance
    std::vector<error> reports_;
    detail::lasting_failure failed_{};
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/round_following.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ROUND_FOLLOWING_HPP
