// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/change_attempts.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using detail::change_attempts;

TEST_CASE("registry.change_attempts: there are as many as allowed, and those that others overtake end in a conflict") {
    change_attempts attempts{3};
    for (int n = 0; n < 3; ++n) {
        REQUIRE(attempts.next());
        CHECK(attempts.number() == n);
    }
    CHECK_FALSE(attempts.next());
    CHECK(attempts.failure("it kept changing", "/job") == error{errc::version_conflict, "it kept changing", "/job"});
}

TEST_CASE("registry.change_attempts: a failed read matters in its own attempt, a lost write ever after") {
    change_attempts attempts{9};
    error const lost{errc::unknown_outcome, "the reply was lost", "/job"};
    error const not_sent{errc::not_sent, "there was no connection", "/job"};

    REQUIRE(attempts.next());
    CHECK_FALSE(attempts.note_read({errc::no_auth, "the access list forbids it", "/job"}));
    CHECK(attempts.note_read(lost));
    CHECK(attempts.failure("", "") == error{errc::not_sent, lost.what, lost.where}); // nothing was written
    REQUIRE(attempts.next());
    CHECK(attempts.failure("", "") == errc::version_conflict);

    CHECK(attempts.note_write(not_sent)); // certainly without effect
    CHECK_FALSE(attempts.may_be_done());
    CHECK(attempts.failure("", "") == not_sent);

    CHECK_FALSE(attempts.note_write({errc::too_large, "it is too large", "/job"}));
    CHECK_FALSE(attempts.may_be_done());
    CHECK(attempts.note_write(lost));
    CHECK(attempts.may_be_done());
    REQUIRE(attempts.next());
    CHECK(attempts.note_read(not_sent));
    auto const failure = attempts.failure("", "/job");
    CHECK(failure == errc::unknown_outcome);
    CHECK(failure.where == "/job");
}

TEST_CASE("registry.change_attempts: an error does not hide that an earlier write may have taken effect") {
    error const refused{errc::malformed_data, "line 1: not JSON", "/job/config"};
    error const closed{errc::closed, "the registry is closed", ""};
    change_attempts attempts{9};
    REQUIRE(attempts.next());
    CHECK(attempts.known(refused) == refused);
    CHECK(attempts.note_write({errc::unknown_outcome, "the reply was lost", "/job"}));
    auto const unknown = attempts.known(refused);
    CHECK(unknown == errc::unknown_outcome);
    CHECK(unknown.where == "/job/config");
    CHECK(unknown.what.ends_with("; the next attempt failed: malformed_data: line 1: not JSON"));
    CHECK(attempts.known(closed) == closed); // this code says the same

    change_attempts ended{9};
    REQUIRE(ended.next());
    CHECK_FALSE(ended.note_write(closed));
    CHECK(ended.may_be_done());
}
