// SPDX-License-Identifier: Apache-2.0
#include <laws/registry.hpp>

#include <support/memory_world.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;

TEST_CASE("registry.laws: the in-memory registry obeys them on a thread") {
    for (auto const& law : laws::registry_laws<test::ThreadedMemoryWorld>()) {
        // Short time-outs, so that sessions end soon.
        test::ThreadedMemoryWorld world{memory_server_options{.session_timeout = std::chrono::milliseconds{50}}};
        auto const report = law.check(world);
        CHECK_MESSAGE(report.holds(), std::string{law.name}, ": ", report.broken);
    }
}
