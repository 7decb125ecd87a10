// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_OBSERVATION_IPP
#define ELASTICJOB_IMPL_TESTING_OBSERVATION_IPP

#include <elasticjob/testing/observation.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL std::string to_string(observation const& o) {
    using kind = observation::kind;
    auto const us = std::chrono::duration_cast<std::chrono::microseconds>(o.at.time_since_epoch()).count();
    auto fraction = std::to_string(us % 1000);
    auto line = std::to_string(us / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction + " ms";
    if (o.process != 0) line += ", node " + std::to_string(o.node) + "." + std::to_string(o.process);
    if (!o.job.empty()) line += ", " + o.job;
    line.append(": ").append(name_of(o.what));
    auto const due = std::chrono::duration_cast<std::chrono::milliseconds>(o.due.time_since_epoch()).count();
    switch (o.what) {
    case kind::started:
    case kind::finished:
    case kind::fenced:
    case kind::misfired:
    case kind::skipped:
    case kind::body_began:
    case kind::body_ended:
        line += " " + std::to_string(o.item) + " due " + std::to_string(due);
        if (o.token != 0) line += " token " + std::to_string(o.token);
        if (o.what == kind::skipped) line.append(" ").append(name_of(o.why));
        break;
    case kind::share:
        for (auto const i : o.items) line += " " + std::to_string(i);
        break;
    default:
        break;
    }
    if (!o.text.empty()) line += " " + o.text;
    if (o.failure) line += " " + to_string(*o.failure);
    return line;
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_OBSERVATION_IPP
