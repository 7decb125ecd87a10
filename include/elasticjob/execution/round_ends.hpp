// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds the rounds of a job that are over, and their outcomes, from the run records of its items.
#ifndef ELASTICJOB_EXECUTION_ROUND_ENDS_HPP
#define ELASTICJOB_EXECUTION_ROUND_ENDS_HPP

#include <elasticjob/config/job_schedule.hpp> // round_end
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/run_source.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <cstdint>
#include <vector>

namespace elasticjob {

/// The outcome of a round for one item, or for all together.
enum class round_fate : std::uint8_t {
    completed,
    failed,      ///< or interrupted for good
    passed_over, ///< skipped, or covered by the run of a later one
    forgotten,   ///< older than the record's history
    absent       ///< the item did not exist yet
};

/// Whether a round with this outcome meets the condition.
constexpr bool counts_as(round_fate fate, round_end end) noexcept {
    if (end == round_end::ended) return true;
    return fate == (end == round_end::completed ? round_fate::completed : round_fate::failed);
}

/// The rounds in the record of one item. Ordered runs belong to no round.
class item_rounds {
public:
    struct part {
        wall_time due{};
        round_fate fate{};
        wall_time ended{};
        bool is_group = false; ///< it also stands for earlier instants
    };

    item_rounds() = default;
    explicit item_rounds(run_record const& r);

    /// Every round up to here is over for the item.
    wall_time settled() const noexcept { return settled_; }

    /// The rounds that the record names, by their due instants, ascending.
    std::vector<part> const& parts() const noexcept { return parts_; }

    /// The item's outcome of that round. Precondition: it is over for the item.
    part part_in(wall_time due) const;

private:
    std::vector<part>::const_iterator first_from(wall_time due) const;

    static constexpr round_fate fate_of(run_outcome o) noexcept {
        if (o == run_outcome::completed) return round_fate::completed;
        return o == run_outcome::coalesced || o == run_outcome::skipped ? round_fate::passed_over : round_fate::failed;
    }

    /// A repeated order is also an order.
    template <class Ledger, class Iterator>
    static bool is_ordered(Ledger const& ledger, Iterator at) {
        for (auto before = at; before != ledger.begin() && at->run.attempt > 1;) {
            --before;
            if (before->run.due == at->run.due && before->run.attempt + 1 == at->run.attempt) at = before;
        }
        return at->run.source == run_source::trigger;
    }

    /// The last attempt counts.
    void put(part p);

    std::vector<part> parts_;
    wall_time settled_{};
    bool is_full_ = false;
};

/// A round that is over for all items.
struct ended_round {
    wall_time due{};
    round_fate fate{};
    wall_time ended{}; ///< by the clocks of the instances that recorded it; 1970 if unknown

    friend bool operator==(ended_round const&, ended_round const&) = default;
};

/// The rounds later than `after` that some record names and that are over for all items, ascending. Items that did not
/// exist yet do not count; of the others, a failed one decides, then a forgotten one, then one that passed the round
/// over. `items` are the records of all items of the job. O(items × rounds).
std::vector<ended_round> ended_rounds(std::vector<item_rounds> const& items, wall_time after);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/round_ends.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ROUND_ENDS_HPP
