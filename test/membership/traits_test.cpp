// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/membership/traits.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;

TEST_CASE("membership.traits: traits survive being written and read, and the defaults are an empty text") {
    CHECK(stored_traits{}.to_text().empty());
    CHECK(stored_traits::parse("").value() == stored_traits{});
    for (auto const& t : {stored_traits{3, ""}, stored_traits{0, "gpu zone=a"}, stored_traits{1, "x"}})
        CHECK(stored_traits::parse(t.to_text()).value() == t);
    CHECK(stored_traits{3, "gpu"}.to_text() == "weight 3\nlabels gpu\n");
    CHECK(stored_traits::parse("labels gpu").value() == stored_traits{1, "gpu"});
}

TEST_CASE("membership.traits: an unreadable text is named in the error") {
    for (auto const* const text : {"nonsense", "weight much\n", "weight -1\n", "weight 3\ncolour red\n"})
        CHECK(stored_traits::parse(text).error() == errc::malformed_data);
}
