// SPDX-License-Identifier: Apache-2.0
/// \file \brief `kept_ledger`: all entries that the ledger of a run record has ever had, although a record holds only a
/// few at a time.
#ifndef ELASTICJOB_TEST_SUPPORT_KEPT_LEDGER_HPP
#define ELASTICJOB_TEST_SUPPORT_KEPT_LEDGER_HPP

#include <elasticjob/execution/run_record.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// Takes the records of an item one after the other. Identifies an entry by its constant parts, and keeps the last
/// state of an entry that grows. If an entry disappears because its run was undone before it began, this drops it too.
class kept_ledger {
public:
    /// The begin of the run and its instance, the outcome, the instant or, if the entry grows, the reason; and whether
    /// it is an order.
    using key = std::tuple<wall_time, std::string, run_outcome, wall_time, std::uint32_t, std::string, bool>;

    void take(run_record const& r) {
        std::vector<key> now;
        for (auto const& e : r.ledger) {
            now.push_back(key_of(e));
            entries_.insert_or_assign(now.back(), e);
        }
        // The oldest entries are removed to make room. If an entry after a remaining one is missing, its run was
        // undone.
        bool stays = false;
        for (auto const& k : last_) {
            bool const is_there = std::find(now.begin(), now.end(), k) != now.end();
            if (stays && !is_there) entries_.erase(k);
            stays = stays || is_there;
        }
        last_ = std::move(now);
    }

    std::map<key, run_entry> const& entries() const noexcept { return entries_; }

    /// Drops the entries for earlier instants.
    void drop(wall_time before) {
        std::erase_if(entries_, [&](auto const& e) { return e.second.run.due < before; });
    }

private:
    static key key_of(run_entry const& e) {
        bool const grows = e.outcome == run_outcome::skipped;
        return {e.run.begun,
                e.run.instance,
                e.outcome,
                grows ? wall_time{} : e.run.due,
                e.run.attempt,
                grows ? e.note : std::string{},
                e.run.source == run_source::trigger};
    }

    std::map<key, run_entry> entries_;
    std::vector<key> last_; ///< of the last record, oldest first
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_KEPT_LEDGER_HPP
