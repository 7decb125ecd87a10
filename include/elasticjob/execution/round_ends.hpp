// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which rounds of a job are over, and how they ended: read off the run records of its items.
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

/// What an item, or all of them together, made of a round.
enum class round_fate : std::uint8_t {
    completed,
    failed,      ///< or interrupted for good
    passed_over, ///< skipped, or made up for by the run of a later one
    forgotten,   ///< the record does not go back so far
    absent       ///< there was no such item yet
};

/// Whether a round that ended like that is one of those.
constexpr bool counts_as(round_fate fate, round_end end) noexcept {
    if (end == round_end::ended) return true;
    return fate == (end == round_end::completed ? round_fate::completed : round_fate::failed);
}

/// What the record of one item tells of rounds. Runs that were ordered are none.
class item_rounds {
public:
    struct part {
        wall_time due{};
        round_fate fate{};
        wall_time ended{};
        bool is_group = false; ///< it stands for instants before it, too
    };

    item_rounds() = default;
    explicit item_rounds(run_record const& r);

    /// Every round up to here is over for the item.
    wall_time settled() const noexcept { return settled_; }

    /// The rounds that the record names, by their due instants, ascending.
    std::vector<part> const& parts() const noexcept { return parts_; }

    /// What the item made of that one. Precondition: it is over for the item.
    part part_in(wall_time due) const;

private:
    std::vector<part>::const_iterator first_from(wall_time due) const;

    static constexpr round_fate fate_of(run_outcome o) noexcept {
        if (o == run_outcome::completed) return round_fate::completed;
        return o == run_outcome::coalesced || o == run_outcome::skipped ? round_fate::passed_over : round_fate::failed;
    }

    /// Another attempt at an order is one, too.
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

/// A round that all items are done with.
struct ended_round {
    wall_time due{};
    round_fate fate{};
    wall_time ended{}; ///< by the clocks of the instances that recorded it; 1970 if no record tells

    friend bool operator==(ended_round const&, ended_round const&) = default;
};

/// The rounds later than `after` that all items are done with, ascending: those that an item's record names. An item
/// that was not there yet does not count; of the others, one that failed decides, then one whose record does not tell,
/// then one that passed the round over. `items` are the records of all items of the job. O(items × rounds).
std::vector<ended_round> ended_rounds(std::vector<item_rounds> const& items, wall_time after);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/round_ends.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ROUND_ENDS_HPP
