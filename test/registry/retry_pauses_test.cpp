// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/retry_pauses.hpp>

#include <doctest/doctest.h>

using elasticjob::detail::growing_pause;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("registry.retry_pauses: a growing pause doubles up to its maximum") {
    static_assert(growing_pause(0) == milliseconds{200});
    static_assert(growing_pause(1) == milliseconds{400});
    static_assert(growing_pause(5) == milliseconds{6'400});
    static_assert(growing_pause(8) == milliseconds{51'200});
    static_assert(growing_pause(9) == seconds{60});
    static_assert(growing_pause(~0U) == seconds{60});
    static_assert(growing_pause(7, seconds{10}) == seconds{10});
}
