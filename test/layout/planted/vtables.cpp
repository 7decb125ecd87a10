// SPDX-License-Identifier: Apache-2.0
// What check_vtables.sh must find in an archive.
#include <functional>
#include <utility>

namespace elasticjob {

struct dispatches {
    virtual ~dispatches() = default;
};
dispatches instance_of_dispatches;

struct erases {
    std::function<int(erases const&)> f;
};
int use(erases const& e);
int use(erases const& e) { return e.f(e); }
erases make(int n);
erases make(int n) {
    return {[n](erases const&) { return n; }};
}

} // namespace elasticjob
