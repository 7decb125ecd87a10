// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which rounds of a job are over, and how they ended: read off the run records of its items.
#ifndef ELASTICJOB_EXECUTION_ROUND_ENDS_HPP
#define ELASTICJOB_EXECUTION_ROUND_ENDS_HPP

#include <elasticjob/config/job_schedule.hpp> // round_end
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/deferred.hpp>
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
template <class Record = run_record>
class basic_item_rounds {
public:
    struct part {
        wall_time due{};
        round_fate fate{};
        wall_time ended{};
        bool is_group = false; ///< it stands for instants before it, too
    };

    basic_item_rounds() = default;
    explicit basic_item_rounds(Record const& r)
        : settled_{r.settled_through()},
          is_full_{r.ledger.size() >= Record::ledger_max} {
        for (auto at = r.ledger.begin(); at != r.ledger.end(); ++at)
            if (!is_ordered(r.ledger, at)) put({at->run.due, fate_of(at->outcome), at->ended, at->count > 1});
    }

    /// Every round up to here is over for the item.
    wall_time settled() const noexcept { return settled_; }

    /// The rounds that the record names, by their due instants, ascending.
    deferred<std::vector<part>, Record> const& parts() const noexcept { return parts_; }

    /// What the item made of that one. Precondition: it is over for the item.
    part part_in(wall_time due) const {
        auto const at = first_from(due);
        if (at != parts_.end() && at->due == due) return *at;
        auto const fate = at != parts_.begin()                 ? round_fate::passed_over
                          : is_full_                           ? round_fate::forgotten
                          : at != parts_.end() && at->is_group ? round_fate::passed_over
                                                               : round_fate::absent;
        return {due, fate};
    }

private:
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

    auto first_from(wall_time due) const {
        auto const is_before = [](part const& left, wall_time right) { return left.due < right; };
        return std::lower_bound(parts_.begin(), parts_.end(), due, is_before);
    }

    /// The last attempt counts.
    void put(part p) {
        auto const at = parts_.begin() + (first_from(p.due) - parts_.begin());
        if (at != parts_.end() && at->due == p.due)
            *at = p;
        else
            parts_.insert(at, p);
    }

    deferred<std::vector<part>, Record> parts_;
    wall_time settled_{};
    bool is_full_ = false;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using item_rounds = basic_item_rounds<>;

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
template <class Rounds = item_rounds>
std::vector<ended_round> ended_rounds(std::vector<Rounds> const& items, wall_time after) {
    std::vector<ended_round> all;
    if (items.empty()) return all;
    auto settled = items.front().settled();
    for (auto const& i : items) settled = std::min(settled, i.settled());
    for (auto const& i : items)
        for (auto const& p : i.parts())
            if (p.due > after && p.due <= settled) all.push_back({p.due, round_fate::completed, {}});
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.due < b.due; });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    constexpr auto rank = [](round_fate f) {
        return f == round_fate::failed ? 3 : f == round_fate::forgotten ? 2 : f == round_fate::passed_over ? 1 : 0;
    };
    for (auto& round : all)
        for (auto const& i : items) {
            auto const part = i.part_in(round.due);
            round.ended = std::max(round.ended, part.ended);
            if (rank(part.fate) > rank(round.fate)) round.fate = part.fate;
        }
    return all;
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_ROUND_ENDS_HPP
