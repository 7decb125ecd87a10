// SPDX-License-Identifier: Apache-2.0
/// \file \brief Guesses whether the next job that a scheduler joins is new.
#ifndef ELASTICJOB_MEMBERSHIP_NEW_JOB_GUESS_HPP
#define ELASTICJOB_MEMBERSHIP_NEW_JOB_GUESS_HPP

namespace elasticjob {

/// A process that starts for the first time creates one job after another, and need not look whether they exist: the
/// registry refuses the transaction if they do. A wrong guess costs one such refusal, so several new jobs in a row are
/// needed.
class new_job_guess {
public:
    bool expects_new() const noexcept { return in_a_row_ == enough; }

    /// An instance with its own configuration has joined a job that was new, or was not, or it could not join.
    void note(bool was_new) noexcept { in_a_row_ = was_new ? in_a_row_ + (in_a_row_ < enough) : 0; }

private:
    static constexpr int enough = 8;

    int in_a_row_ = 0;
};

} // namespace elasticjob
#endif // ELASTICJOB_MEMBERSHIP_NEW_JOB_GUESS_HPP
