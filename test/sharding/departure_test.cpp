// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/departure.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;
using kind = departure_step::kind;
using phase = departure::phase;

namespace {

constexpr registry_limits roomy{.request_bytes_max = 1'000'000, .operations_max = 1'000};

struct leaver {
    job_layout at{job_name::parse("settle").value()};
    instance_id self = instance_id::parse("10.0.0.1@-@1-x").value();
    session_view session{.generation = {3}, .id = 7, .state = session_state::connected, .timeout = 4s};
    mono_time now{1h};
    departure d;

    explicit leaver(bool has_java_members = false) : d{at, self, {3}, now + 5s, false, has_java_members} {}

    static node owned(std::int64_t session) {
        node n;
        n.stat.owner = session;
        return n;
    }
    /// The reply to a read of so many nodes. Only the instance's own node exists, if any.
    static result<std::vector<std::optional<node>>> nodes(std::size_t count, bool is_there) {
        std::vector<std::optional<node>> all(count);
        if (is_there) all[0] = owned(7);
        return all;
    }
    departure_step read(departure_step const& step, bool is_there = true) {
        REQUIRE(step.what == kind::read);
        return d.nodes_read(nodes(step.paths.size(), is_there), roomy, session, now);
    }
    /// Reads the items, too, if it asks for them: there are none.
    departure_step read_all(departure_step const& step) {
        auto next = read(step);
        return next.what == kind::read_items
                   ? d.items_read(item_nodes{std::map<item_index, item_nodes::reading>{}}, roomy, now)
                   : std::move(next);
    }
    departure_step refused(errc why) { return d.committed(commit_reply{commit_reply::refusal{0, why}}, session, now); }
};

bool writes(departure_step const& step, node_path const& path) {
    for (auto const& o : step.changes.operations())
        if (o.path == path && o.what != operation::kind::check) return true;
    return false;
}

} // namespace

TEST_CASE("sharding.departure: one reading, one transaction") {
    leaver l;
    auto const removal = l.read(l.d.begin(l.session));
    REQUIRE(removal.what == kind::commit);
    CHECK(writes(removal, l.at.instance(l.self)));
    CHECK(writes(removal, l.at.sharding_necessary()));
    auto const end = l.d.committed(commit_reply{}, l.session, l.now);
    CHECK(end.what == kind::finished);
    CHECK(end.outcome);
    CHECK(l.d.where() == phase::gone);
}

TEST_CASE("sharding.departure: nothing is removed under another session") {
    leaver l;
    auto other = l.session;
    other.generation = {4};
    CHECK(l.d.begin(other).what == kind::finished);

    leaver m;
    auto const step = m.d.begin(m.session);
    auto theirs = leaver::nodes(step.paths.size(), true);
    theirs.value()[0]->stat.owner = 8; // another process of the same name
    auto const next = m.d.nodes_read(std::move(theirs), roomy, m.session, m.now);
    CHECK(m.d.where() == phase::catching_up);
    CHECK_FALSE(writes(next, m.at.instance(m.self)));
}

TEST_CASE("sharding.departure: the absence of a node counts only after an answered write") {
    leaver l;
    auto const write = l.read(l.d.begin(l.session), false);
    REQUIRE(write.what == kind::commit);
    CHECK(l.d.where() == phase::catching_up);
    auto const again = l.d.committed(commit_reply{}, l.session, l.now);
    REQUIRE(again.what == kind::read);
    SUBCASE("now it is there after all") { CHECK(writes(l.read(again), l.at.instance(l.self))); }
    SUBCASE("still not") { CHECK(l.read(again, false).what == kind::finished); }
}

TEST_CASE("sharding.departure: a lost reply is no answer") {
    leaver l;
    (void)l.read(l.d.begin(l.session));
    auto const pause = l.d.committed(error{errc::unknown_outcome, "lost"}, l.session, l.now);
    REQUIRE(pause.what == kind::pause);
    // It may have happened, or a follower is behind: a write goes first.
    CHECK(l.read(l.d.resumed(l.session), false).what == kind::commit);
    CHECK(l.d.where() == phase::catching_up);
}

TEST_CASE(
    "sharding.departure: an instance that loses the race leaves its items to the leader; beside Java it keeps trying") {
    for (bool const has_java_members : {false, true}) {
        leaver l{has_java_members};
        auto const first = l.d.begin(l.session);
        (void)l.read_all(first);
        auto const second = l.refused(errc::version_conflict);
        REQUIRE(second.what == kind::read);
        CHECK((second.paths.size() == first.paths.size()) == has_java_members);
        CHECK(writes(l.read_all(second), l.at.sharding_necessary()) == has_java_members);
    }
}

TEST_CASE("sharding.departure: refusals do not make it read without a pause forever, nor beyond its deadline") {
    leaver l{true};
    int attempts = 0;
    auto step = l.d.begin(l.session);
    for (; step.what == kind::read && attempts < 100; ++attempts) {
        (void)l.read_all(step);
        step = l.refused(errc::version_conflict);
    }
    CHECK(attempts == 30);
    REQUIRE(step.what == kind::pause);
    l.now += 5s;
    (void)l.read_all(l.d.resumed(l.session));
    auto const end = l.refused(errc::version_conflict);
    REQUIRE(end.what == kind::finished);
    CHECK(end.outcome.error() == errc::version_conflict);
}

TEST_CASE("sharding.departure: an instance that got no answer until its deadline may have left") {
    leaver l;
    (void)l.read(l.d.begin(l.session));
    l.now += 5s;
    auto const end = l.d.committed(error{errc::unknown_outcome, "lost"}, l.session, l.now);
    REQUIRE(end.what == kind::finished);
    CHECK(end.outcome.error() == errc::timed_out);
}

TEST_CASE("sharding.departure: a registry that forbids it, or is closed, is not asked again") {
    for (auto const why : {errc::no_auth, errc::closed}) {
        leaver l;
        (void)l.d.begin(l.session);
        auto const end = l.d.nodes_read(error{why, "no"}, roomy, l.session, l.now);
        REQUIRE(end.what == kind::finished);
        CHECK(end.outcome.error() == why);
    }
    for (auto const why : {errc::no_auth, errc::closed}) {
        leaver l;
        (void)l.read(l.d.begin(l.session));
        auto const end = l.d.committed(error{why, "no"}, l.session, l.now);
        REQUIRE(end.what == kind::finished);
        CHECK(end.outcome.error() == why);
    }
}

TEST_CASE("sharding.departure: another refusal counts once the deadline is over") {
    leaver l;
    (void)l.read(l.d.begin(l.session));
    CHECK(l.d.committed(error{errc::too_large, "a quota"}, l.session, l.now).what == kind::pause);
    l.now += 5s;
    (void)l.read(l.d.resumed(l.session));
    auto const end = l.d.committed(error{errc::too_large, "a quota"}, l.session, l.now);
    REQUIRE(end.what == kind::finished);
    CHECK(end.outcome.error() == errc::too_large);
}

TEST_CASE("sharding.departure: the names that a Java leader has written go with the instance (JV-4)") {
    auto const named = [](std::string owner, node_version version) {
        node n;
        n.data = std::move(owner);
        n.stat.version = version;
        return item_nodes::reading{std::move(n)};
    };
    for (bool const has_assignment : {false, true}) {
        leaver l{true};
        auto const step = l.d.begin(l.session);
        auto read = leaver::nodes(step.paths.size(), true);
        for (std::size_t n = 0; n < step.paths.size(); ++n) {
            if (step.paths[n] == l.at.item_instance(0)) read.value()[n] = node{};
            if (step.paths[n] == l.at.assignment() && has_assignment) {
                read.value()[n] = node{};
                read.value()[n]->stat.modified = 1; // the node of the first item's owner is of another transaction
            }
        }
        auto const next = l.d.nodes_read(std::move(read), roomy, l.session, l.now);
        REQUIRE(next.what == kind::read_items);
        CHECK(l.d.where() == phase::reading_items);
        auto const removal = l.d.items_read(
            item_nodes{
                {{0, named("10.0.0.2@-@2-x", 4)}, {1, named(l.self.str(), 7)}, {2, {}}, {5, named(l.self.str(), 0)}}},
            roomy, l.now);
        CHECK(writes(removal, l.at.instance(l.self)));
        CHECK_FALSE(writes(removal, l.at.item_instance(0)));
        for (auto const& o : removal.changes.operations())
            if (o.path == l.at.item_instance(1))
                CHECK((o.what == operation::kind::set && owner_in(o.data).empty() && o.version == 7));
        CHECK(writes(removal, l.at.item_instance(1)));
        CHECK(writes(removal, l.at.item_instance(5)));
    }
}

TEST_CASE("sharding.departure: items that could not be read are read again, and too many are left to the leader") {
    leaver l{true};
    (void)l.read(l.d.begin(l.session));
    REQUIRE(l.d.where() == phase::reading_items);
    CHECK(l.d.items_read(error{errc::unknown_outcome, "away"}, roomy, l.now).what == kind::pause);
    (void)l.read(l.d.resumed(l.session));
    std::map<item_index, item_nodes::reading> many;
    for (item_index i = 0; i < roomy.operations_max; ++i) {
        node n;
        n.data = l.self.str();
        many.emplace(i, item_nodes::reading{std::move(n)});
    }
    auto const removal = l.d.items_read(item_nodes{std::move(many)}, roomy, l.now);
    REQUIRE(removal.what == kind::commit);
    CHECK(writes(removal, l.at.instance(l.self)));
    CHECK_FALSE(writes(removal, l.at.item_instance(1)));
}
