// SPDX-License-Identifier: Apache-2.0
/// \file \brief Compares this machine's clock with the registry's, from any process.
#ifndef ELASTICJOB_OPERATIONS_CLOCK_HPP
#define ELASTICJOB_OPERATIONS_CLOCK_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/registry/registry.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace elasticjob {

/// The result of comparing the clocks.
struct clock_reading {
    wall_time here{};                        ///< the time of this machine at the end of the comparison
    std::chrono::microseconds offset{};      ///< the registry's clock minus this machine's
    std::chrono::microseconds uncertainty{}; ///< the true offset differs by this at most
    int samples = 0;                         ///< the number of writes behind the result
};

/// The range that contains the offset, after any number of writes. A value.
class clock_samples {
public:
    /// A write began and ended at these times of this machine's clock, and took effect in that millisecond of the
    /// registry's.
    void add(wall_time begun, std::int64_t registry_ms, wall_time ended);

    /// Precondition: there is a sample.
    clock_reading result(wall_time now) const;

private:
    std::chrono::nanoseconds low_{}, high_{};
    int count_ = 0;
};

namespace detail {

/// A path at the registry's root that is no valid job name.
node_path new_clock_path();

/// Makes the registry remove the node if no other code does.
template <registry Registry>
class clock_node {
public:
    clock_node(Registry& r, session_generation g) : registry_{r}, generation_{g}, path_{new_clock_path()} {}
    clock_node(clock_node const&) = delete;
    ~clock_node() {
        if (is_there_) registry_.abandon({generation_, {{path_}}, {}});
    }
    node_path const& path() const { return path_; }
    void made() { is_there_ = true; }
    void removed() { is_there_ = false; }

private:
    Registry& registry_;
    session_generation generation_;
    node_path path_;
    bool is_there_ = false;
};

} // namespace detail

/// Compares the clocks by `samples` writes, 1 to 100, of an ephemeral node at the registry's root. No list of jobs
/// shows that node, and it is always removed at the end. Takes `samples` + 2 requests, one after the other. The result
/// is the range that all samples have in common; if a clock is set meanwhile, the range begins anew. Errors:
/// invalid_argument for another number of samples; those of the registry.
template <registry Registry>
task<result<clock_reading>> find_clock(Registry& r, int samples = 5) {
    if (samples < 1 || samples > 100)
        co_return error{errc::invalid_argument, "the comparison of the clocks takes 1 to 100 writes", "samples"};
    ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
    detail::clock_node<Registry> node{r, session.generation};
    node.made(); // also if the reply was lost
    ELASTICJOB_CO_CHECK(co_await r.create(node.path(), {}, create_mode::ephemeral, session.generation));
    clock_samples taken;
    for (int n = 0; n < samples; ++n) {
        auto const begun = r.loop().wall_now();
        ELASTICJOB_CO_TRY(auto const written, co_await r.set(node.path(), {}, any_version, session.generation));
        taken.add(begun, written.modified_at_ms, r.loop().wall_now());
    }
    auto const gone = co_await r.remove(node.path(), any_version, session.generation);
    if (gone) node.removed();
    co_return taken.result(r.loop().wall_now());
}

/// As a blocking call. Waits up to ten seconds. Errors: as above, and timed_out. Threads: any but the loop's.
template <registry Registry>
result<clock_reading> read_clock(Registry& r, int samples = 5) {
    return detail::wait_within(r.loop(), std::chrono::seconds{10}, find_clock(r, samples));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/clock.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_CLOCK_HPP
