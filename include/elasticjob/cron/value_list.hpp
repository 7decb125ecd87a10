// SPDX-License-Identifier: Apache-2.0
/// \file \brief The values of one field of a cron expression, in the forms that people write.
#ifndef ELASTICJOB_CRON_VALUE_LIST_HPP
#define ELASTICJOB_CRON_VALUE_LIST_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/cron/fields.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace elasticjob::detail {

/// Values from `low` to `high`, in order.
class value_list {
public:
    struct run {
        int first;
        int last;
    };

    /// Precondition: there is a value.
    static value_list of_bits(std::uint64_t bits, int low, int high);
    static value_list of_years(cron_fields const& fields);

    bool is_all() const noexcept { return static_cast<int>(values_.size()) == high_ - low_ + 1; }
    int front() const noexcept { return values_.front(); }
    int back() const noexcept { return values_.back(); }
    int high() const noexcept { return high_; }
    std::size_t size() const noexcept { return values_.size(); }
    auto begin() const noexcept { return values_.begin(); }
    auto end() const noexcept { return values_.end(); }

    /// The distance between neighbouring values, if there are three or more at equal distances; 0 otherwise.
    int step() const noexcept;

    /// n, if the values are every n-th of the whole field from its first and n divides the field's size; 0 otherwise.
    int pace() const noexcept;

    /// The values as ranges: three or more consecutive values form one; every other value is a range of its own.
    std::vector<run> runs() const;

private:
    value_list(int low, int high) noexcept : low_{low}, high_{high} {}

    int low_;
    int high_;
    std::vector<int> values_{};
};

/// The weekdays that match in every week, bit 0 for Sunday.
constexpr std::uint32_t whole_weekdays(month_weeks weeks) noexcept {
    std::uint32_t whole = 0;
    for (std::uint32_t day = 1; day < 1u << 7; day <<= 1)
        if ((weeks & every_week(day)) == every_week(day)) whole |= day;
    return whole;
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/value_list.ipp>
#endif
#endif // ELASTICJOB_CRON_VALUE_LIST_HPP
