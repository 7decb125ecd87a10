// SPDX-License-Identifier: Apache-2.0
/// \file \brief The two events of one run: an item begins, and it ends.
#ifndef ELASTICJOB_BENCHMARKS_ONE_RUN_HPP
#define ELASTICJOB_BENCHMARKS_ONE_RUN_HPP

#include <elasticjob/events/event.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace elasticjob::bench {

struct one_run {
    std::string task = "settle@-@0,1@-@READY@-@10.0.0.1@-@7-x";
    instance_id id = instance_id::parse("10.0.0.1@-@7-x").value();
    std::optional<error> none{};
    wall_time due{std::chrono::seconds{1'767'225'600}};
    std::uint64_t number = 5;

    template <class Sink>
    void tell(Sink& sink) const {
        using std::chrono::milliseconds;
        events::run_name const run{number, task, run_source::schedule, 1, due + milliseconds{25}};
        sink(events::item_started{{"settle", id, due + milliseconds{25}}, 1, due, run_source::schedule, 1, 77, run});
        sink(events::item_finished{{"settle", id, due + milliseconds{1275}}, 1, due, milliseconds{1250}, none, 77, run});
    }
};

} // namespace elasticjob::bench
#endif // ELASTICJOB_BENCHMARKS_ONE_RUN_HPP
