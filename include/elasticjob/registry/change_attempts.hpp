// SPDX-License-Identifier: Apache-2.0
/// \file \brief The attempts of a change of shared nodes, and the error after the last of them.
#ifndef ELASTICJOB_REGISTRY_CHANGE_ATTEMPTS_HPP
#define ELASTICJOB_REGISTRY_CHANGE_ATTEMPTS_HPP

#include <elasticjob/core/error.hpp>

#include <optional>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// A change reads, decides and writes, and begins again if another client was faster or the connection broke. This
/// counts the attempts and notes lost replies, so that nobody takes a change that may be in the registry for one that
/// was refused.
class change_attempts {
public:
    explicit change_attempts(int max) noexcept : max_{max} {}

    /// Begins another attempt. False: there have been enough.
    bool next() noexcept {
        if (begun_ == max_) return false;
        ++begun_;
        connection_.reset();
        return true;
    }

    /// The number of the present attempt, from 0.
    int number() const noexcept { return begun_ - 1; }

    /// Whether an earlier write may have taken effect, because its reply was lost.
    bool may_be_done() const noexcept { return may_be_done_; }

    /// Whether the registry has answered all requests of the present attempt, and no write may have taken effect unseen.
    bool are_all_answered() const noexcept { return !may_be_done_ && !connection_; }

    /// Notes the error of a read. Returns whether another attempt may help.
    bool note_read(error const& why) {
        if (!is_transient(why)) return false;
        connection_ = why;
        return true;
    }

    /// Notes the error of a write. Returns whether another attempt may help.
    bool note_write(error const& why) {
        may_be_done_ |= is_effect_unknown(why.code);
        return note_read(why);
    }

    /// The error after the last attempt. `overtaken` says what has kept changing.
    error failure(std::string overtaken, std::string where) const {
        if (may_be_done_) return unknown(std::move(where));
        if (connection_) return {errc::not_sent, connection_->what, connection_->where}; // only reads were lost
        return {errc::version_conflict, std::move(overtaken), std::move(where)};
    }

    /// The error of the present attempt, which is the last one. If an earlier write may have taken effect, `why` is only
    /// the reason why this cannot be found out.
    error known(error why) const {
        if (!may_be_done_ || is_effect_unknown(why.code)) return why;
        auto e = unknown(std::move(why.where));
        e.what += "; the next attempt failed: " + std::string{name_of(why.code)} + ": " + why.what;
        return e;
    }

private:
    static error unknown(std::string where) {
        return {errc::unknown_outcome,
                "the connection broke during a write, so it is not known whether the change is in the registry",
                std::move(where)};
    }

    int max_, begun_ = 0;
    bool may_be_done_ = false;
    std::optional<error> connection_{}; ///< in the present attempt
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_REGISTRY_CHANGE_ATTEMPTS_HPP
