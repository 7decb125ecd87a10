// SPDX-License-Identifier: Apache-2.0
/// \file \brief The invariants of the run records: each change of a record is a step of the protocol.
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

/// Two consecutive versions of one record.
struct record_step {
    run_record const& before;
    run_record const& now;
    bool was_called = true;    ///< whether a body was called for the previous run
    bool has_failover = true;  ///< failover setting of the job
    bool former_lives = false; ///< whether the instance of the previous run still exists
};

/// Describes the fault if the change is no step of the protocol; otherwise empty.
std::string find_wrong(record_step const& s);

} // namespace detail

/// I1, I2, I4 and I5, as visible in the run records. A run begins for an instant that has not been handled, or as the
/// next attempt after a run whose instance is gone. It ends once, with the identity with which it began, and only if no
/// other run has replaced it meanwhile. A run whose start was undone never called its body.
class records_tell_one_story {
public:
    static constexpr std::string_view name = "I1 I2 I4 I5 run records tell one story";

    std::string on(observation const& o, cluster_view const&);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    struct knowledge {
        run_record record;
        revision at = 0;
        std::int64_t token = 0; ///< of the live run
        mono_time begun{};      ///< the time at which the run was first seen
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

/// I6, and the second part of I4: in a settled cluster no record contains a run of a dead instance, and every instant
/// of a monitored job has been handled or waits for the run in progress.
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
