// SPDX-License-Identifier: Apache-2.0
/// \file \brief Checks that a search finds each protection that has been removed.
#ifndef ELASTICJOB_TEST_SEARCH_REMOVALS_HPP
#define ELASTICJOB_TEST_SEARCH_REMOVALS_HPP

#include <support/full_run.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <iterator>

namespace elasticjob::test {

/// Each removal has `what`, the protection, and `moves`, the length of the shortest trace; `search` searches without
/// that protection. Under a sanitizer, only each fifth protection is removed, because the code is the same each time.
template <class Removals, class Search>
void check_removals(Removals const& removals, Search search) {
    auto const apart = amount_for_this_run({.full = 1, .usual = 1, .sanitized = 5});
    for (std::size_t n = 0; n < std::size(removals); n += apart) {
        auto const& r = removals[n];
        auto const found = search(r);
        MESSAGE("without this: " << r.what << ": " << to_string(found));
        CHECK_FALSE(found.problem.empty());
        CHECK(found.trace.size() == r.moves);
    }
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SEARCH_REMOVALS_HPP
