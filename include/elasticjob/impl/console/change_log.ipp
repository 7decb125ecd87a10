// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_CHANGE_LOG_IPP
#define ELASTICJOB_IMPL_CONSOLE_CHANGE_LOG_IPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/console/change_log.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <set>

namespace elasticjob::detail {

ELASTICJOB_DECL void change_log::follow(log_listener* told) {
    std::lock_guard const lock{mutex_};
    told_ = told;
}

ELASTICJOB_DECL void change_log::add(std::string job) {
    std::lock_guard const lock{mutex_};
    ++last_;
    jobs_.push_back(std::move(job));
    if (jobs_.size() > changes_max) jobs_.pop_front();
    if (told_) told_->on_change(*told_);
}

ELASTICJOB_DECL void change_log::reset() {
    std::lock_guard const lock{mutex_};
    ++last_;
    jobs_.clear();
    if (told_) told_->on_change(*told_);
}

ELASTICJOB_DECL std::uint64_t change_log::last() const {
    std::lock_guard const lock{mutex_};
    return last_;
}

ELASTICJOB_DECL change_log::news change_log::after(std::uint64_t number) const {
    std::lock_guard const lock{mutex_};
    news told{{}, false, last_};
    if (number >= last_) return told;
    auto const missed = last_ - number;
    if (missed > jobs_.size()) {
        told.is_reset = true;
        return told;
    }
    std::set<std::string_view> known;
    for (auto at = jobs_.rbegin(); at != jobs_.rbegin() + static_cast<std::ptrdiff_t>(missed); ++at)
        if (known.insert(*at).second) told.jobs.push_back(*at);
    std::reverse(told.jobs.begin(), told.jobs.end());
    return told;
}

ELASTICJOB_DECL std::uint64_t change_log::number_of(std::string_view id) const {
    std::uint64_t number = 0;
    bool const is_ours = id.starts_with(epoch_ + "-") && read_number(id.substr(epoch_.size() + 1), number);
    return is_ours ? std::min(number, last()) : 0;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_CHANGE_LOG_IPP
