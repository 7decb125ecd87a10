// expect: the event sink does not take events::item_fenced
// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/policies.hpp>

using namespace elasticjob;

namespace {

struct Sink {
    void operator()(events::joined const&) {}
    void operator()(events::left const&) {}
    void operator()(events::leadership_changed const&) {}
    void operator()(events::resharded const&) {}
    void operator()(events::share_changed const&) {}
    void operator()(events::item_started const&) {}
    void operator()(events::item_finished const&) {}
#ifndef BAD
    void operator()(events::item_fenced const&) {}
#endif
    void operator()(events::item_misfired const&) {}
    void operator()(events::item_skipped const&) {}
    void operator()(events::trouble const&) {}
};

} // namespace

int main() { return detail::checked_policy<Sink>::value ? 0 : 1; }
