// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_VALUE_LIST_IPP
#define ELASTICJOB_IMPL_CRON_VALUE_LIST_IPP

#include <elasticjob/cron/value_list.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL value_list value_list::of_bits(std::uint64_t bits, int low, int high) {
    value_list list{low, high};
    for (; bits; bits &= bits - 1) list.values_.push_back(std::countr_zero(bits));
    return list;
}

ELASTICJOB_DECL value_list value_list::of_years(cron_fields const& fields) {
    value_list list{cron_year_first, cron_year_last};
    for (auto year = list.low_; year <= list.high_; ++year)
        if (fields.has_year(year)) list.values_.push_back(year);
    return list;
}

ELASTICJOB_DECL int value_list::step() const noexcept {
    if (values_.size() < 3) return 0;
    auto const step = values_[1] - values_[0];
    for (std::size_t i = 2; i < values_.size(); ++i)
        if (values_[i] - values_[i - 1] != step) return 0;
    return step;
}

ELASTICJOB_DECL int value_list::pace() const noexcept {
    auto const count = high_ - low_ + 1;
    auto const size = static_cast<int>(values_.size());
    if (size < 2 || count % size != 0 || front() != low_) return 0;
    auto const step = values_[1] - values_[0];
    return step * size == count && (size == 2 || this->step() == step) ? step : 0;
}

ELASTICJOB_DECL std::vector<value_list::run> value_list::runs() const {
    std::vector<run> runs;
    for (std::size_t i = 0; i < values_.size();) {
        auto end = i + 1;
        while (end < values_.size() && values_[end] == values_[end - 1] + 1) ++end;
        if (end - i < 3) end = i + 1;
        runs.push_back({values_[i], values_[end - 1]});
        i = end;
    }
    return runs;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CRON_VALUE_LIST_IPP
