// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/run_book.hpp>

#include <elasticjob/execution/run_record.hpp>

#include <support/job_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

struct shop : job_world {
    instance_id self = instance_id::parse("10.0.0.1@-@1-a").value();
    instance_id other = instance_id::parse("10.0.0.2@-@2-b").value();
    joint_commits<session_type> my_commits{one}, their_commits{two};
    run_book<session_type> mine{one, my_commits, at, self};
    run_book<session_type> theirs{two, their_commits, at, other};

    explicit shop(item_index count, memory_server_options o = {}) : job_world{o} {
        create_as(one, at.instance(self), {}, create_mode::ephemeral);
        create_as(two, at.instance(other), {}, create_mode::ephemeral);
        create(at.assignment(), "v0");
        create(at.run_records());
        for (item_index i = 0; i < count; ++i) create(at.item_instance(i), self.str());
    }

    /// As a member claims under an assignment of ours.
    std::vector<item_claim::proof> under_assignment() const {
        return {{at.assignment(), find(at.assignment())->stat.version}};
    }
    std::optional<node_version> version(item_index i) const {
        auto const* n = find(at.run_record(i));
        return n ? std::optional{n->stat.version} : std::nullopt;
    }
    std::vector<run_start> starts(items const& which) const {
        std::vector<run_start> all;
        for (auto const i : which) all.push_back({{i, {}}, "run of " + std::to_string(i), version(i)});
        return all;
    }
    /// As a member claims after a Java leader has sharded.
    std::vector<run_start> starts_by_nodes(items const& which) const {
        auto all = starts(which);
        for (auto& s : all)
            s.share.own.push_back({at.item_instance(s.share.item), find(at.item_instance(s.share.item))->stat.version});
        return all;
    }
    result<start_report> start(items const& which) { return start(under_assignment(), starts(which)); }
    result<start_report> start(std::vector<item_claim::proof> common, std::vector<run_start> all) {
        return wait_for(mine.start(one.session().generation, std::move(common), std::move(all)));
    }
    std::vector<end_result> finish(items const& which) {
        std::vector<run_end> ends;
        for (auto const i : which) ends.push_back({i, "end", version(i).value(), true});
        return end(std::move(ends));
    }
    std::vector<end_result> end(std::vector<run_end> ends) { return report_of(std::move(ends)).results; }
    end_report report_of(std::vector<run_end> ends) {
        auto run = [](run_book<session_type>& m, session_generation g,
                      std::vector<run_end> e) -> task<result<end_report>> {
            co_return co_await m.finish(g, std::move(e));
        };
        return wait_for(run(mine, one.session().generation, std::move(ends))).value();
    }
    static items of(std::vector<run_ticket> const& tickets) {
        items all;
        for (auto const& t : tickets) all.push_back(t.item);
        return all;
    }
    bool is_marked_by(session_type& r, item_index i) const {
        auto const* n = find(at.item_running(i));
        return n && n->stat.owner == r.session().id;
    }
    items marked(item_index count) const {
        items all;
        for (item_index i = 0; i < count; ++i)
            if (has(at.item_running(i))) all.push_back(i);
        return all;
    }
};

items hindered(start_report const& r, start_answer why) {
    items all;
    for (auto const& h : r.hindered)
        if (h.why == why) all.push_back(h.item);
    return all;
}

/// A hundred times, the parent of the records goes before each transaction.
struct parentless_registry : session_type {
    using session_type::session_type;
    node_path parent;
    int commits = 0;

    task<result<commit_reply>> commit(transaction t) {
        if (++commits <= 100) (void)co_await remove(parent);
        co_return co_await session_type::commit(std::move(t));
    }
};

} // namespace

TEST_CASE("execution.run_book: a hundred items start with one request and end with one") {
    shop s{100};
    items all;
    for (item_index i = 0; i < 100; ++i) all.push_back(i);
    s.server.counts() = {};
    auto const report = s.start(all);
    REQUIRE(report);
    CHECK(shop::of(report->started) == all);
    CHECK(s.server.counts().writes == 1);
    CHECK(s.server.counts().reads == 0);
    CHECK(s.marked(100) == all);
    s.finish(all);
    CHECK(s.server.counts().writes == 2);
    CHECK(s.server.counts().reads == 0);
    CHECK(s.marked(100).empty());
}

TEST_CASE("execution.run_book: disabled items, items that run elsewhere and items of others are told apart") {
    shop s{6};
    s.create(s.at.item_disabled(1));
    s.create_as(s.two, s.at.item_running(2), {}, create_mode::ephemeral);
    s.set(s.at.item_instance(3), s.other.str());
    s.set(s.at.item_instance(4), {}); // released by an instance that has left
    auto const report = s.start({0, 1, 2, 3, 4, 5});
    REQUIRE(report);
    CHECK(hindered(*report, start_answer::disabled) == items{1});
    CHECK(hindered(*report, start_answer::running_elsewhere) == items{2});
    CHECK(hindered(*report, start_answer::unclaimed) == items{3, 4});
    CHECK(shop::of(report->started) == items{0, 5});
    CHECK(s.marked(6) == items{0, 2, 5});
    CHECK_FALSE(s.has(s.at.item_disabled(0))); // the check for absence leaves nothing
}

TEST_CASE("execution.run_book: nothing starts when the assignment is no longer the one that was claimed by (D-13)") {
    shop s{2};
    auto const common = s.under_assignment();
    s.set(s.at.assignment(), "v1");
    auto const report = s.start(common, s.starts({0, 1}));
    REQUIRE(report);
    CHECK(hindered(*report, start_answer::unclaimed) == items{0, 1});
    CHECK(s.marked(2).empty());
}

TEST_CASE("execution.run_book: an item whose nodes an operator has removed gets them back when it starts") {
    shop s{4};
    s.remove(s.at.item_instance(1));
    s.remove(s.at.item_instance(2));
    s.remove(s.at.item(2));
    auto const report = s.start({1, 2, 3});
    REQUIRE(report);
    CHECK(shop::of(report->started) == items{1, 2, 3});
    CHECK(s.owners(4) == std::vector<std::string>(4, s.self.str()));
}

TEST_CASE("execution.run_book: nothing starts on an instance whose node is gone") {
    shop s{1};
    s.remove(s.at.instance(s.self));
    auto const report = s.start({0});
    REQUIRE(report);
    CHECK(hindered(*report, start_answer::unclaimed) == items{0});
    CHECK(s.marked(1).empty());
}

TEST_CASE("execution.run_book: an item claimed by its own node starts only while that has not been written") {
    shop s{2};
    auto const starts = s.starts_by_nodes({0, 1});
    s.set(s.at.item_instance(1), s.self.str()); // by another writer, though with the same content
    auto const report = s.start({}, starts);
    REQUIRE(report);
    CHECK(shop::of(report->started) == items{0});
    CHECK(hindered(*report, start_answer::unclaimed) == items{1});
}

TEST_CASE("execution.run_book: whichever request or reply is lost, each item that is reported as started is marked, "
          "and no other") {
    for (std::uint64_t n = 0; n < 6; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            shop s{3};
            s.create(s.at.item_disabled(1));
            std::optional<result<start_report>> report;
            {
                losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
                report = s.start({0, 1, 2});
            }
            if (*report)
                CHECK(s.marked(3) == shop::of((*report)->started));
            else
                CHECK(s.marked(3).empty());
        }
}

TEST_CASE("execution.run_book: whichever request or reply is lost, the marks go at the end") {
    for (std::uint64_t n = 0; n < 6; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            shop s{2};
            REQUIRE(s.start({0, 1}));
            losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
            s.finish({0, 1});
            CHECK(s.marked(2).empty());
        }
}

TEST_CASE("execution.run_book: a mark is only taken away by the session that set it") {
    shop s{2};
    REQUIRE(s.start({0, 1}));
    s.remove(s.at.item_running(0));                                       // an operator thought it was stale,
    s.create_as(s.two, s.at.item_running(0), {}, create_mode::ephemeral); // and another has started the item since
    s.remove(s.at.item_running(1));
    s.finish({1, 0});
    CHECK(s.is_marked_by(s.two, 0));
}

TEST_CASE("execution.run_book: more items than fit into one request start in several, and so they end") {
    memory_server_options o;
    o.limits.operations_max = 17; // two checks and five operations an item, the first time; two at its end
    shop s{9, o};
    items const all{0, 1, 2, 3, 4, 5, 6, 7, 8};
    s.server.counts() = {};
    auto const report = s.start(all);
    REQUIRE(report);
    CHECK(shop::of(report->started) == all);
    CHECK(s.server.counts().writes == 3);
    s.finish(all);
    CHECK(s.server.counts().writes == 3 + 2);
    CHECK(s.marked(9).empty());
}

TEST_CASE("execution.run_book: runs are marked again under a new session, unless another instance has taken the item "
          "over (D-17)") {
    shop s{3};
    REQUIRE(s.start({0, 1, 2}));
    post(s.loop, [&] { s.one.expire(); });
    s.loop.run_ready();
    CHECK(s.marked(3).empty());
    s.create_as(s.two, s.at.item_running(1), {}, create_mode::ephemeral); // a Java member, which keeps no record
    s.set(s.at.run_record(2), "taken over");
    auto again = [](run_book<session_type>& m, session_generation g, item_index i) -> task<result<bool>> {
        co_return co_await m.mark_again(g, i, 1);
    };
    auto const g = s.one.session().generation;
    CHECK(s.wait_for(again(s.mine, g, 0)).value());
    CHECK_FALSE(s.wait_for(again(s.mine, g, 1)).value());
    CHECK_FALSE(s.wait_for(again(s.mine, g, 2)).value());
    CHECK(s.is_marked_by(s.one, 0));
    CHECK(s.is_marked_by(s.two, 1));
    CHECK_FALSE(s.has(s.at.item_running(2)));
    for (std::uint64_t n = 0; n < 3; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            s.remove(s.at.item_running(0));
            losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
            CHECK(s.wait_for(again(s.mine, g, 0)).value());
            CHECK(s.is_marked_by(s.one, 0));
        }
    // The servers have not ended the last session yet: another one plays its part.
    for (std::uint64_t n = 0; n < 5; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            s.remove(s.at.item_running(0));
            s.create_as(s.two, s.at.item_running(0), s.self.str(), create_mode::ephemeral);
            losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
            CHECK(s.wait_for(again(s.mine, g, 0)).value());
            CHECK(s.is_marked_by(s.one, 0));
        }
    s.create_as(s.two, s.at.item_running(2), s.self.str(), create_mode::ephemeral);
    CHECK_FALSE(s.wait_for(again(s.mine, g, 2)).value()); // whatever the mark says, the record has changed
    CHECK(s.is_marked_by(s.two, 2));
}

TEST_CASE("execution.run_book: tokens grow with every run of an item, whoever runs it") {
    shop s{1};
    auto const first = s.start({0});
    s.finish({0});
    s.set(s.at.instance(s.self), {}); // anything else that happens
    auto const second = s.start({0});
    REQUIRE((first && second));
    CHECK(first->started.front().at > 0);
    CHECK(second->started.front().at > first->started.front().at);
    CHECK(second->started.front().at == s.find(s.at.run_record(0))->stat.modified);
    CHECK(second->started.front().version == s.version(0));
}

TEST_CASE("execution.run_book: a record that another writer has changed is not overwritten, and nothing starts") {
    shop s{2};
    s.create(s.at.run_record(0), "a");
    auto starts = s.starts({0, 1});
    s.set(s.at.run_record(0), "b");
    s.create(s.at.run_record(1), "b");
    for (item_index i : {0U, 1U}) { // each for itself, for one that is refused has the others looked at
        auto const report = s.start(s.under_assignment(), {starts[i]});
        REQUIRE(report);
        CHECK(hindered(*report, start_answer::outdated) == items{i});
    }
    CHECK(s.data(s.at.run_record(0)) == "b");
    CHECK(s.data(s.at.run_record(1)) == "b");
    CHECK(s.marked(2).empty());
}

TEST_CASE("execution.run_book: the run of an instance that lives is not made up for") {
    shop s{1};
    auto starts = s.starts({0});
    starts[0].dead = s.other;
    starts[0].is_failover = true;
    auto const early = s.start(s.under_assignment(), starts);
    REQUIRE(early);
    CHECK(hindered(*early, start_answer::outdated) == items{0});
    CHECK_FALSE(s.has(s.at.item_failover(0)));
    s.remove(s.at.instance(s.other));
    auto const later = s.start(s.under_assignment(), starts);
    REQUIRE(later);
    CHECK(shop::of(later->started) == items{0});
    CHECK(s.data(s.at.item_failover(0)) == s.self.str());
    s.end({{0, "end", 1, true, true}});
    CHECK_FALSE(s.has(s.at.item_failover(0)));
    CHECK(s.marked(1).empty());
}

TEST_CASE("execution.run_book: with a failover, the flag of the Java members goes; an item that one of them has taken "
          "is left to it") {
    shop s{2};
    for (item_index i : {0U, 1U}) s.create(s.at.failover_item(i));
    s.create_as(s.two, s.at.item_failover(1), s.other.str(), create_mode::ephemeral);
    auto starts = s.starts({0, 1});
    for (auto& one : starts) one.is_failover = one.answers_flag = true;
    auto const report = s.start(s.under_assignment(), starts);
    REQUIRE(report);
    CHECK(hindered(*report, start_answer::taken) == items{1});
    CHECK(hindered(*report, start_answer::outdated) ==
          items{0}); // the item is looked at again, because the state read with the flag has changed
    starts.pop_back();
    CHECK(shop::of(s.start(s.under_assignment(), starts)->started) == items{0});
    CHECK_FALSE(s.has(s.at.failover_item(0)));
    CHECK(s.has(s.at.failover_item(1)));
}

TEST_CASE("execution.run_book: the end of a run that was taken over is refused, and removes no other mark") {
    shop s{1};
    REQUIRE(s.start({0}));
    post(s.loop, [&] { s.one.expire(); });
    s.loop.run_ready();
    s.set(s.at.run_record(0), "run of the other");
    s.create_as(s.two, s.at.item_running(0), {}, create_mode::ephemeral);
    CHECK(s.end({{0, "end", 1, true}}) == std::vector{end_result::fenced});
    CHECK(s.data(s.at.run_record(0)) == "run of the other");
    CHECK(s.is_marked_by(s.two, 0));
}

TEST_CASE("execution.run_book: whichever request or reply is lost, an end is recorded once") {
    for (std::uint64_t n = 0; n < 6; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            shop s{2};
            REQUIRE(s.start({0, 1}));
            losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
            CHECK(s.finish({0, 1}) == std::vector{end_result::recorded, end_result::recorded});
            CHECK(s.data(s.at.run_record(0)) == "end");
            CHECK(s.version(0) == 2);
            CHECK(s.marked(2).empty());
        }
}

TEST_CASE("execution.run_book: an end whose session is over reports that, and can be recorded under the next session") {
    shop s{1};
    REQUIRE(s.start({0}));
    auto const old = s.one.session().generation;
    post(s.loop, [&] { s.one.expire(); });
    s.loop.run_ready();
    auto finish = [](run_book<session_type>& m, session_generation g, run_end e) -> task<result<end_result>> {
        std::vector<run_end> ends{std::move(e)};
        auto const all = co_await m.finish(g, std::move(ends));
        co_return all.results.front();
    };
    CHECK(s.wait_for(finish(s.mine, old, {0, "end", 1, true})).value() == end_result::session_over);
    CHECK(s.wait_for(finish(s.mine, s.one.session().generation, {0, "end", 1, false})).value() == end_result::recorded);
    CHECK(s.data(s.at.run_record(0)) == "end");
}

TEST_CASE("execution.run_book: an end that the registry refuses keeps its mark, says why, and can be recorded later") {
    shop s{2};
    REQUIRE(s.start({0, 1}));
    s.server.set_read_only(s.at.run_records(), true);
    std::vector<run_end> const ends{{0, "end", 1, true}, {1, "end", 1, true}};
    auto const before = s.server.counts().all();
    auto const report = s.report_of(ends);
    CHECK(s.server.counts().all() - before < 15);
    CHECK(report.results == std::vector{end_result::refused, end_result::refused});
    REQUIRE(report.refusal);
    CHECK(*report.refusal == errc::no_auth);
    CHECK(report.refusal->where == s.at.run_record(0).str());
    CHECK(s.marked(2) == items{0, 1});
    s.server.set_read_only(s.at.run_records(), false);
    CHECK(s.end(ends) == std::vector{end_result::recorded, end_result::recorded});
    CHECK(s.marked(2).empty());
}

TEST_CASE("execution.run_book: a registry that loses every reply is not asked without end") {
    shop s{1};
    REQUIRE(s.start({0}));
    losing const network{s.server, [](std::int64_t, operation::kind const* write) {
                             return write ? request_fate::request_lost : request_fate::served;
                         }};
    auto const report = s.report_of({{0, "end", 1, true}});
    CHECK(report.results == std::vector{end_result::refused});
    CHECK(*report.refusal == errc::unknown_outcome);
}

TEST_CASE("execution.run_book: a mark of another instance in the same session is left alone") {
    shop s{1};
    REQUIRE(s.start({0}));
    s.set(s.at.run_record(0), "run of the other");
    s.remove(s.at.item_running(0));
    s.create_as(s.one, s.at.item_running(0), s.other.str(), create_mode::ephemeral);
    CHECK(s.end({{0, "end", 1, true}}) == std::vector{end_result::fenced});
    CHECK(s.is_marked_by(s.one, 0));
}

TEST_CASE("execution.run_book: an end whose reply was lost counts, though the next owner has begun meanwhile") {
    shop s{1};
    run_record ours;
    ours.running = run_begin{wall_time{1s}, run_source::schedule, 1, s.self.str(), wall_time{2s}};
    std::vector<run_start> starts{{{0, {}}, ours.to_text(), std::nullopt}};
    REQUIRE(s.start({}, starts));
    ours.end(run_outcome::completed, wall_time{3s});
    auto next = ours;
    next.running = run_begin{wall_time{4s}, run_source::schedule, 1, s.other.str(), wall_time{4s}};
    auto not_ours = next;
    not_ours.ledger.clear();
    for (bool const is_recorded : {true, false}) {
        INFO("it is recorded: " << is_recorded);
        auto const text = is_recorded ? next.to_text() : not_ours.to_text();
        int step = 0;
        losing const network{s.server, [&](std::int64_t session, operation::kind const* write) {
                                 if (session != s.one.session().id) return request_fate::served;
                                 if (write && step == 0) return ++step, request_fate::reply_lost;
                                 if (!write && step == 1) { // it looks up the outcome, but another instance is faster
                                     ++step;
                                     operation const begins{operation::kind::set, s.at.run_record(0), text,
                                                            create_mode::persistent, any_version};
                                     s.server.apply({begins}, s.two.session().id);
                                 }
                                 return request_fate::served;
                             }};
        auto const version = s.version(0).value();
        auto const what = s.end({{0, ours.to_text(), version, is_recorded}});
        CHECK(what == std::vector{is_recorded ? end_result::recorded_before : end_result::fenced});
        REQUIRE(s.data(s.at.run_record(0)) == text);
    }
}

TEST_CASE("execution.run_book: an end whose reply was lost counts, though its item has been removed meanwhile") {
    for (bool const is_recorded : {true, false}) {
        INFO("it is recorded: " << is_recorded);
        shop s{1};
        REQUIRE(s.start({0}));
        auto const version = s.version(0).value();
        int step = 0;
        losing const network{
            s.server, [&](std::int64_t session, operation::kind const* write) {
                if (session != s.one.session().id) return request_fate::served;
                if (write && step == 0 && is_recorded) return ++step, request_fate::reply_lost;
                if (step == (is_recorded ? 1 : 0)) { // before the first request that can see it
                    ++step;
                    std::vector<operation> removal;
                    for (auto const& path : {s.at.run_record(0), s.at.item_running(0)})
                        if (s.has(path))
                            removal.push_back(
                                {operation::kind::remove, path, {}, create_mode::persistent, any_version});
                    s.server.apply(removal, s.two.session().id);
                }
                return request_fate::served;
            }};
        auto const what = s.end({{0, "end", version, true}});
        CHECK(what == std::vector{is_recorded ? end_result::recorded_before : end_result::fenced});
        CHECK_FALSE(s.has(s.at.run_record(0)));
    }
}

TEST_CASE("execution.run_book: data saved during a run is fenced like the end of the run") {
    shop s{1};
    REQUIRE(s.start({0}));
    auto save = [&](node_version v) { return s.wait_for(s.mine.save(s.one.session().generation, {0, "half way", v})); };
    for (std::uint64_t n = 0; n < 2; ++n) {
        auto const v = s.version(0).value();
        losing const network{s.server, losing::nth(s.one.session().id, n, request_fate::reply_lost)};
        CHECK(save(v));
    }
    CHECK(s.data(s.at.run_record(0)) == "half way");
    CHECK(s.version(0) == 3);
    CHECK(save(1).error() == errc::fenced);
}

TEST_CASE("execution.run_book: a note that another write has overtaken is a conflict, which is no trouble") {
    shop s{1};
    s.create(s.at.run_record(0), "first");
    auto amend = [&](std::string text, node_version v) {
        return s.wait_for(s.mine.amend(s.one.session().generation, {0, std::move(text), v}, std::nullopt, false));
    };
    CHECK(amend("noted", 0));
    auto const late = amend("noted too late", 0);
    REQUIRE_FALSE(late);
    CHECK(is_conflict(late.error().code));
    CHECK_FALSE(is_lasting(late.error()));
    CHECK(s.data(s.at.run_record(0)) == "noted");
}

TEST_CASE("execution.run_book: records are opened once, and so are their parents if they have been removed") {
    shop s{3};
    s.create(s.at.run_record(1), "theirs");
    std::vector<record_creation> fresh;
    auto open = [&] {
        fresh = {{0, "new"}, {1, "new"}, {2, "new"}};
        return s.wait_for(s.mine.open(s.my_commits, s.one.session().generation, fresh));
    };
    CHECK(open());
    CHECK(fresh[0].created != 0);
    CHECK(fresh[0].created == s.find(s.at.run_record(0))->stat.created);
    CHECK(fresh[1].created == 0); // another instance's
    CHECK(s.data(s.at.run_record(0)) == "new");
    CHECK(s.data(s.at.run_record(1)) == "theirs");
    CHECK(s.data(s.at.run_record(2)) == "new");
    for (item_index i : {0U, 1U, 2U}) s.remove(s.at.run_record(i));
    s.remove(s.at.run_records());
    CHECK(open());
    CHECK(s.data(s.at.run_record(1)) == "new");
    s.remove(s.at.instance(s.self));
    CHECK(open().error() == errc::no_node);
}

TEST_CASE("execution.run_book: opening records ends though their parent goes again and again") {
    shop s{1};
    s.remove(s.at.instance(s.self));
    parentless_registry r{s.server};
    r.parent = s.at.run_records();
    s.create_as(r, s.at.instance(s.self), {}, create_mode::ephemeral);
    joint_commits<parentless_registry> commits{r};
    run_book<parentless_registry> book{r, commits, s.at, s.self};
    std::vector<record_creation> fresh{{0, "new"}};
    CHECK(s.wait_for(book.open(commits, r.session().generation, fresh)).error() == errc::version_conflict);
    CHECK(r.commits == 10);
    CHECK(fresh[0].created == 0);
}

TEST_CASE("execution.run_book: with the registry away for good, starting and finishing end with the session") {
    shop s{2};
    REQUIRE(s.start({0}));
    post(s.loop, [&] { s.one.disconnect(); });
    s.finish({0});
    CHECK_FALSE(s.start({1}));
    CHECK(s.loop.now().time_since_epoch() <= 11s);
}

TEST_CASE("execution.run_book: when a later request of a start fails, the items already started are not forgotten") {
    memory_server_options o;
    o.limits.operations_max = 17;
    for (std::uint64_t n = 0; n < 12; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            shop s{8, o};
            s.create(s.at.item_disabled(4));
            std::optional<result<start_report>> report;
            {
                losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
                report = s.start({0, 1, 2, 3, 4, 5, 6, 7});
            }
            if (*report)
                CHECK(s.marked(8) == shop::of((*report)->started));
            else
                CHECK(s.marked(8).empty());
        }
}
