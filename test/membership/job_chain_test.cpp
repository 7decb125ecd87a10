// SPDX-License-Identifier: Apache-2.0
// Jobs that follow one another, and chains that are forbidden.
#include <elasticjob/membership/job_chain.hpp>

#include <support/enroll_alone.hpp>
#include <support/job_world.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

struct accept_all {
    result<void> operator()(valid_config const&) const { return success(); }
};

/// With `overwrite`, as a new member.
task<result<enrollment>> enroll_in(session_type& r, std::string name, std::string followed, std::string who = {}) {
    job_config c;
    c.name = name;
    c.overwrite = true;
    if (followed.empty())
        c.cron = "0/5 * * * * ?";
    else
        c.schedules = {job_schedule::after_job(followed)};
    auto self = instance_id::parse("10.0.0.1@-@42-" + name + who).value();
    return enroll_alone(r, job_layout{job_name::parse(name).value()},
                        {.self = std::move(self), .local = validate(c).value()}, accept_all{});
}
result<enrollment> join(job_world& w, std::string name, std::string followed) {
    return w.wait_for(enroll_in(w.one, std::move(name), std::move(followed)));
}

} // namespace

TEST_CASE("membership.job_chain: a chain can be built from either end") {
    job_world w;
    CHECK(join(w, "c", "b"));
    CHECK(join(w, "b", "a")); // job `a` does not exist
    CHECK(join(w, "a", ""));
    CHECK(join(w, "d", "a"));
    auto const links = w.wait_for(read_job_chain(w.one, "d", "c")).value();
    REQUIRE(links.size() == 3);
    CHECK(links[0].path.str() == "/c/ext/schedule");
    CHECK(links[0].version == 0);
    CHECK(links[1].path.str() == "/b/ext/schedule");
    CHECK(links[2].path.str() == "/a/ext/schedule");
    CHECK_FALSE(links[2].version);
}

TEST_CASE("membership.job_chain: a job that would close a cycle is refused, and leaves no nodes") {
    for (int const length : {2, 3}) {
        job_world w;
        REQUIRE(join(w, "a", "b"));
        if (length == 3) REQUIRE(join(w, "b", "c"));
        auto const last = length == 3 ? "c" : "b";
        auto const refused = join(w, last, "a");
        REQUIRE_FALSE(refused);
        CHECK(refused.error() == errc::invalid_config);
        CHECK(refused.error().what.find(length == 3 ? ": c after a after b after c;" : ": b after a after b;") !=
              std::string::npos);
        CHECK_FALSE(w.has(node_path{} / last));
        CHECK(join(w, last, "")); // so it may run
        CHECK(join(w, "a", "b"));
    }
}

TEST_CASE("membership.job_chain: of jobs that register at the same moment, not all succeed") {
    enum class before { nothing, bare, another };
    for (auto const length : {std::size_t{2}, std::size_t{3}})
        for (auto const there : {before::nothing, before::bare, before::another}) {
            INFO(length, " jobs, before: ", static_cast<int>(there));
            job_world w;
            std::array<session_type*, 3> const sessions{&w.one, &w.two, &w.by_hand};
            std::array<std::string, 3> const names{"a", "b", "c"};
            for (std::size_t n = 0; n < length; ++n) {
                auto const root = node_path{} / names[n];
                if (there == before::bare) w.create(root / "ext");
                if (there == before::another) REQUIRE(join(w, names[n], "another"));
            }
            std::array<std::optional<result<enrollment>>, 3> outcomes;
            for (std::size_t n = 0; n < length; ++n) {
                auto joining = enroll_in(*sessions[n], names[n], names[(n + 1) % length], "-second");
                auto keep = [](task<result<enrollment>> what, std::optional<result<enrollment>>& into) -> task<void> {
                    into.emplace(co_await std::move(what));
                };
                post(w.loop, [&w, &into = outcomes[n], keep, joining = std::move(joining)]() mutable {
                    w.background.spawn(keep(std::move(joining), into));
                });
            }
            w.loop.run_for(1s);
            std::size_t joined = 0;
            for (std::size_t n = 0; n < length; ++n) {
                REQUIRE(outcomes[n].has_value());
                joined += outcomes[n]->has_value();
                if (!*outcomes[n]) CHECK(outcomes[n]->error() == errc::invalid_config);
            }
            CHECK(joined == length - 1);
        }
}

TEST_CASE("membership.job_chain: a chain has an end, and an unreadable schedule ends it") {
    job_world w;
    for (int n = 1; n <= 16; ++n) CHECK(join(w, "job" + std::to_string(n), "job" + std::to_string(n - 1)));
    auto const refused = join(w, "job17", "job16");
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == errc::invalid_config);
    CHECK(refused.error().what.find("more than 16") != std::string::npos);
    w.set(job_layout{job_name::parse("job9").value()}.schedule(), "by a later version");
    CHECK(join(w, "job17", "job16"));
}
