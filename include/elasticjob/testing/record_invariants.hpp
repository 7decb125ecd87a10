// SPDX-License-Identifier: Apache-2.0
/// \file \brief What must hold of the run records: each change of one is a step that the protocol knows.
#ifndef ELASTICJOB_TESTING_RECORD_INVARIANTS_HPP
#define ELASTICJOB_TESTING_RECORD_INVARIANTS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/testing/invariants.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace elasticjob::testing {

namespace detail {

std::optional<run_record> record_of(cluster_view const& v, std::string const& job, item_index i);

/// Two writings of one record, the second right behind the first.
struct record_step {
    run_record const& before;
    run_record const& now;
    bool was_called = true;    ///< whether a body has been called for what ran before
    bool has_failover = true;  ///< of the job
    bool former_lives = false; ///< the instance of what ran before is still there
};

/// Empty if that is a step that the protocol knows.
std::string find_wrong(record_step const& s);

} // namespace detail

/// I1, I2, I4 and I5, as they show in the run records. A run begins on an instant that nobody has dealt with, or makes up
/// for one whose instance is gone, as the attempt behind it; it ends as it began, once, and only if nobody has made up
/// for it meanwhile; no body was called for a run whose beginning has been undone.
class records_tell_one_story {
public:
    static constexpr std::string_view name = "I1 I2 I4 I5 run records tell one story";

    std::string on(observation const& o, cluster_view const&);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    struct knowledge {
        run_record record;
        revision at = 0;
        std::int64_t token = 0; ///< of what runs
        mono_time begun{};      ///< when that was seen first
    };

    std::string judge(std::string const& job, item_index item, knowledge const& known, run_record const& now,
                      cluster_view const& v);

    void note_failover(std::string const& job, cluster_view const& v);

    struct failover_state {
        bool is_on = false;
        bool was_switched = false;
        mono_time since{};
    };

    std::map<std::string, failover_state> failover_; ///< by job
    std::map<std::pair<std::string, item_index>, knowledge> known_;
    std::set<std::tuple<std::string, item_index, std::int64_t>> called_;
};

/// I6, and the other half of I4: once all is settled, no run of a dead instance is left in a record, and every instant is
/// dealt with, or waits for the run that is going on.
class every_instant_is_dealt_with {
public:
    static constexpr std::string_view name = "I4 I6 every due instant is dealt with";

    std::string reached(stage s, cluster_view const& v);

private:
    static bool is_told_to_be_skipped(cluster_view const& v, std::string const& job, item_index i, wall_time due);

    static constexpr std::chrono::seconds longest_run{15};
    wall_time begin_{};
};

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/record_invariants.ipp>
#endif
#endif // ELASTICJOB_TESTING_RECORD_INVARIANTS_HPP
