// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <elasticjob/operations/dead_letters.hpp>
#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

// A command keeps a pointer to its plan, so the plan must not be a temporary.
struct empty_plan {
    task<result<detail::command_plan>> operator()(transaction&) const;
};
static_assert(std::is_constructible_v<detail::command_planner, empty_plan const&>);
static_assert(!std::is_constructible_v<detail::command_planner, empty_plan>);

using effect = command_result::effect;
using items = std::vector<item_index>;

command_by const ann{"ann"};

/// An instance joins just before its first transaction.
struct joining_registry : basic_memory_registry<virtual_loop> {
    using base = basic_memory_registry<virtual_loop>;
    using base::base;

    task<result<commit_reply>> commit(transaction t) {
        if (arrival) {
            auto first = std::move(*arrival);
            arrival.reset();
            auto const reply = co_await joiner->commit(std::move(first));
            REQUIRE(reply);
            REQUIRE(*reply);
        }
        co_return co_await base::commit(std::move(t));
    }

    base* joiner = nullptr;
    std::optional<transaction> arrival{};
};
static_assert(registry<joining_registry>);

/// Two members of one job that runs only when triggered.
struct job_of_two {
    cluster c;
    member& one = c.add();
    member& two = c.add();

    explicit job_of_two(int count = 4) {
        for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", never, count)));
        c.run_for(1s);
    }
    audit_trail trail() { return list_commands(c.by_hand, "settle").value(); }
    audit_entry last() { return trail().entries().back(); }
    items started() {
        c.run_for(1s);
        return c.started();
    }
    losing lose(std::uint64_t nth, request_fate fate) {
        return losing{c.server, losing::nth_write(c.by_hand.session().id, nth, fate)};
    }
};

effect effect_of(result<command_result> const& r) {
    REQUIRE_MESSAGE(r.has_value(), (r ? std::string{} : to_string(r.error())));
    return r->what;
}

} // namespace

TEST_CASE("operations.commands: each carries a name, and goes on record with its effect") {
    job_of_two j;
    auto const done = trigger_job(j.c.by_hand, "settle", {"ann", "key-1"}).value();
    CHECK(done.what == effect::done);
    CHECK(done.key == "key-1");
    CHECK(done.text == "every item runs once");
    CHECK(j.started() == items{0, 1, 2, 3});
    auto const e = j.last();
    CHECK(e.operator_name == "ann");
    CHECK(e.key == "key-1");
    CHECK(e.verb == "trigger");
    CHECK(e.subject.empty());
    CHECK(e.outcome == command_outcome::done);
    CHECK(e.note == done.text);
    CHECK(trigger_job(j.c.by_hand, "settle", {""}).error() == errc::invalid_argument);
    CHECK(trigger_job(j.c.by_hand, "settle", {"a\nb"}).error() == errc::invalid_argument);
    CHECK(trigger_job(j.c.by_hand, "settle", {std::string(101, 'a')}).error() == errc::invalid_argument);
    CHECK(trigger_job(j.c.by_hand, "settle", {"ann", "a b"}).error() == errc::invalid_argument);
    CHECK(trigger_job(j.c.by_hand, "nobody", ann).error() == errc::no_node);
    CHECK(trigger_job(j.c.by_hand, "a/b", ann).error() == errc::invalid_argument);
    CHECK_FALSE(j.c.has("/nobody"));
    CHECK(j.trail().entries().size() == 1);
    j.c.create("/gone");
    j.c.create("/gone/ext");
    j.c.create("/gone/ext/removed");
    CHECK(trigger_job(j.c.by_hand, "gone", ann).error() == errc::removed);
}

TEST_CASE("operations.commands: two calls with one key are one command") {
    job_of_two j;
    CHECK(effect_of(trigger_job(j.c.by_hand, "settle", {"ann", "key-1"})) == effect::done);
    CHECK(j.started().size() == 4);
    auto const again = trigger_job(j.c.by_hand, "settle", {"bob", "key-1"}).value();
    CHECK(again.what == effect::repeated);
    CHECK(again.text == "every item runs once");
    CHECK(j.started().size() == 4);
    CHECK(j.trail().entries().size() == 1);
    CHECK(trigger_item(j.c.by_hand, "settle", 1, {"ann", "key-1"}).error() == errc::invalid_argument);
    CHECK(effect_of(trigger_job(j.c.by_hand, "settle", {"ann", "key-2"})) == effect::done);
    CHECK(j.started().size() == 8);
}

TEST_CASE("operations.commands: a command with a long subject can be repeated, and differs from one that begins alike") {
    job_of_two j;
    std::string const server = std::string(130, 'w') + ".example";
    for (auto const& name : {server, server + ".org"}) j.c.create("/settle/servers/" + name);
    command_by const by{"ann", "key-1"};
    CHECK(effect_of(switch_server(j.c.by_hand, "settle", server, switched::off, by)) == effect::done);
    CHECK(effect_of(switch_server(j.c.by_hand, "settle", server, switched::off, by)) == effect::repeated);
    CHECK(switch_server(j.c.by_hand, "settle", server + ".org", switched::off, by).error() == errc::invalid_argument);
    CHECK(j.trail().entries().back().subject.size() <= audit_trail::word_bytes_max);
}

TEST_CASE("operations.commands: a key belongs to one configuration") {
    job_of_two j;
    command_by const by{"ann", "key-1"};
    auto const twice = make_job("settle", "0/5 * * * * ?", 2), thrice = make_job("settle", "0/5 * * * * ?", 3);
    CHECK(effect_of(change_settings(j.c.by_hand, {twice, {}, true}, by)) == effect::done);
    CHECK(effect_of(change_settings(j.c.by_hand, {twice, {}, true}, by)) == effect::repeated);
    CHECK(change_settings(j.c.by_hand, {thrice, {}, true}, by).error() == errc::invalid_argument);
    CHECK(read_settings(j.c.by_hand, "settle").value().config.sharding_total_count == 2);
    CHECK(j.trail().find("key-1")->subject.starts_with("configuration "));
}

TEST_CASE("operations.commands: a call that the other one with its key has overtaken is not refused because of it") {
    job_of_two j;
    auto& r = j.c.by_hand;
    auto const settle = job_name::parse("settle").value();
    detail::command_title const title{"make", "it"};
    std::string const node = "/settle/ext/made";
    auto const other = [&](transaction& t) -> task<result<detail::command_plan>> {
        t.create(node_path::parse(node).value(), {});
        co_return detail::command_plan{"made"};
    };
    auto const plan = [&](transaction& t) -> task<result<detail::command_plan>> {
        if (!j.c.has(node)) {
            command_by first{"ann", "key-1"};
            auto overtaking = detail::carry_out(r, settle, std::move(first), title, other);
            (void)co_await std::move(overtaking);
        }
        if (j.c.has(node)) co_return error{errc::node_exists, "it is there already", node};
        co_return co_await other(t);
    };
    command_by const bob{"bob", "key-1"}, later{"bob", "key-2"};
    auto const second = j.c.wait_for(detail::carry_out(r, settle, bob, title, plan));
    CHECK(effect_of(second) == effect::repeated);
    CHECK(second->text == "made");
    CHECK(j.trail().entries().size() == 1);
    auto const third = j.c.wait_for(detail::carry_out(r, settle, later, title, plan));
    CHECK(third.error() == errc::node_exists);
    CHECK(j.last().outcome == command_outcome::refused);
}

TEST_CASE("operations.commands: the same holds for a call that finds neither the job's configuration nor a tombstone") {
    job_of_two j;
    auto& r = j.c.by_hand;
    auto const settle = job_name::parse("settle").value();
    auto const removed = job_layout{settle}.removed();
    REQUIRE(remove_job(r, "settle", ann));
    detail::command_title title{"restore"};
    title.may_create = title.may_be_removed = true;
    auto const other = [&](transaction& t) -> task<result<detail::command_plan>> {
        t.remove(removed);
        co_return detail::command_plan{"restored"};
    };
    auto const plan = [&](transaction& t) -> task<result<detail::command_plan>> {
        command_by first{"ann", "key-1"};
        auto overtaking = detail::carry_out(r, settle, std::move(first), title, other);
        CHECK(co_await std::move(overtaking));
        (void)t;
        co_return error{errc::no_node, "the job has not been removed", removed.str()};
    };
    command_by const bob{"bob", "key-1"};
    CHECK(effect_of(j.c.wait_for(detail::carry_out(r, settle, bob, title, plan))) == effect::repeated);
}

TEST_CASE("operations.commands: a refusal after a lost reply counts only if the trail can be read") {
    for (bool const is_readable : {true, false}) {
        INFO(is_readable);
        job_of_two j;
        auto& r = j.c.by_hand;
        auto const settle = job_name::parse("settle").value();
        bool is_refused = false;
        int writes = 0;
        auto const decide = [&](std::int64_t session, operation::kind const* write) {
            if (session != r.session().id) return request_fate::served;
            bool const is_cut = is_refused && !is_readable;
            bool const is_first = write && writes++ == 0;
            return is_cut || is_first ? request_fate::request_lost : request_fate::served;
        };
        losing const network{j.c.server, decide};
        int plans = 0;
        auto const plan = [&](transaction& t) -> task<result<detail::command_plan>> {
            t.check(job_layout{settle}.config());
            if (++plans == 1) co_return detail::command_plan{"done"};
            is_refused = true;
            co_return error{errc::not_running, "it is over"};
        };
        command_by const by{"ann", "key-1"};
        auto const done = j.c.wait_for(detail::carry_out(r, settle, by, detail::command_title{"stop"}, plan));
        REQUIRE_FALSE(done);
        CHECK(done.error() == (is_readable ? errc::not_running : errc::unknown_outcome));
        CHECK((done.error().what.find("with its key") != std::string::npos) == !is_readable);
    }
}

TEST_CASE("operations.commands: a lost reply or request leads to one run, and is reported as done") {
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost}) {
        job_of_two j;
        {
            auto const lost = j.lose(0, fate);
            CHECK(effect_of(trigger_job(j.c.by_hand, "settle", ann)) == effect::done);
        }
        CHECK(j.started().size() == 4);
        CHECK(j.trail().entries().size() == 1);
        {
            auto const lost = j.lose(0, fate);
            CHECK(effect_of(trigger_item(j.c.by_hand, "settle", 2, ann)) == effect::done);
        }
        CHECK(j.started().size() == 5);
    }
}

TEST_CASE("operations.commands: a refusal goes on record, changes nothing, and uses up no key") {
    job_of_two j;
    CHECK(trigger_item(j.c.by_hand, "settle", 9, {"ann", "key-1"}).error() == errc::no_node);
    auto const e = j.last();
    CHECK(e.outcome == command_outcome::refused);
    CHECK(e.operator_name == "ann");
    CHECK(e.subject == "item 9");
    CHECK(e.note.starts_with("no_node: the job has the items 0 to 3"));
    CHECK(effect_of(trigger_item(j.c.by_hand, "settle", 3, {"ann", "key-1"})) == effect::done);
    CHECK(j.started() == items{3});
}

TEST_CASE("operations.commands: a dry run validates and writes nothing") {
    job_of_two j;
    auto const before = j.c.dump("/settle");
    command_by const dry{"ann", {}, true};
    CHECK(effect_of(trigger_job(j.c.by_hand, "settle", dry)) == effect::planned);
    CHECK(effect_of(trigger_server(j.c.by_hand, "settle", "10.0.0.1", dry)) == effect::planned);
    CHECK(effect_of(switch_job(j.c.by_hand, "settle", switched::off, dry)) == effect::planned);
    CHECK(effect_of(shut_down_job(j.c.by_hand, "settle", dry)) == effect::planned);
    CHECK(trigger_item(j.c.by_hand, "settle", 9, dry).error() == errc::no_node);
    CHECK(j.started().empty());
    CHECK(j.c.dump("/settle") == before);
    CHECK(j.trail().entries().empty());
}

TEST_CASE("operations.commands: an unreadable trail stops commands, and the error says what to do") {
    job_of_two j;
    j.c.create("/settle/ext/audit", "nonsense");
    auto const refused = trigger_job(j.c.by_hand, "settle", ann);
    CHECK(refused.error() == errc::malformed_data);
    CHECK(refused.error().where == "/settle/ext/audit, line 1");
    CHECK(refused.error().what.find("remove the node") != std::string::npos);
}

TEST_CASE("operations.trigger: one server, by the word that Java members know") {
    job_of_two j;
    CHECK(effect_of(trigger_server(j.c.by_hand, "settle", "10.0.0.2", ann)) == effect::done);
    CHECK(j.started().size() == 2);
    CHECK(j.c.started(0).empty());
    CHECK(trigger_server(j.c.by_hand, "settle", "10.0.0.9", ann).error() == errc::no_node);
    CHECK(trigger_server(j.c.by_hand, "settle", "a/b", ann).error() == errc::invalid_argument);
    CHECK_FALSE(j.c.has("/settle/instances/10.0.0.9"));
    REQUIRE(switch_server(j.c.by_hand, "settle", "10.0.0.2", switched::off, ann));
    CHECK(trigger_server(j.c.by_hand, "settle", "10.0.0.2", ann).error() == errc::no_node);
}

TEST_CASE("operations.trigger: a Java member is told by its node, and owns its items whole") {
    cluster c;
    c.create("/settle");
    for (auto const* name : {"config", "servers", "instances", "sharding", "sharding/0"})
        c.create(std::string{"/settle/"} + name);
    c.set("/settle/config", to_json(make_job("settle", never, 1)));
    c.create("/settle/servers/10.0.0.7");
    c.create("/settle/instances/10.0.0.7@-@4711", {}, create_mode::ephemeral);
    c.create("/settle/sharding/0/instance", "10.0.0.7@-@4711");
    CHECK(effect_of(trigger_job(c.by_hand, "settle", ann)) == effect::done);
    CHECK(c.data("/settle/instances/10.0.0.7@-@4711") == "TRIGGER");
    auto const refused = trigger_item(c.by_hand, "settle", 0, ann);
    CHECK(refused.error() == errc::no_node);
    CHECK(refused.error().what.find("Java member") != std::string::npos);
    c.remove("/settle/instances/10.0.0.7@-@4711");
    CHECK(trigger_job(c.by_hand, "settle", ann).error() == errc::no_node);
    CHECK_FALSE(c.has("/settle/instances/10.0.0.7@-@4711"));
}

TEST_CASE("operations.trigger: one item, whether it has run before or not") {
    job_of_two j;
    for (int n = 1; n <= 2; ++n) {
        CHECK(effect_of(trigger_item(j.c.by_hand, "settle", 2, ann)) == effect::done);
        CHECK(j.started() == items(static_cast<std::size_t>(n), 2));
        auto const run = j.c.all(heard::kind::started, 2).back();
        CHECK(run.source == run_source::trigger);
        CHECK(run.attempt == 1);
    }
    CHECK_FALSE(j.c.has("/settle/ext/orders/look-2"));
    CHECK(j.c.count(heard::kind::trouble) == 0);
    // The record does not keep the item from obeying later orders.
    REQUIRE(trigger_job(j.c.by_hand, "settle", ann));
    CHECK(j.started().size() == 6);
}

TEST_CASE("operations.trigger: an item that runs, waits or is disabled is refused, not forgotten") {
    job_of_two j;
    j.one.holds = j.two.holds = true;
    REQUIRE(trigger_item(j.c.by_hand, "settle", 0, ann));
    CHECK(j.started() == items{0});
    auto const running = trigger_item(j.c.by_hand, "settle", 0, ann);
    CHECK(running.error() == errc::version_conflict);
    CHECK(running.error().what.find("runs") != std::string::npos);
    CHECK(j.last().outcome == command_outcome::refused);
    j.one.holds = j.two.holds = false;
    j.one.release_all();
    j.two.release_all();
    j.c.run_for(1s);
    REQUIRE(switch_item(j.c.by_hand, "settle", 0, switched::off, ann));
    CHECK(trigger_item(j.c.by_hand, "settle", 0, ann).error() == errc::version_conflict);
    REQUIRE(switch_item(j.c.by_hand, "settle", 0, switched::on, ann));
    REQUIRE(trigger_item(j.c.by_hand, "settle", 0, ann));
    CHECK(j.started() == items{0, 0});
    REQUIRE(switch_job(j.c.by_hand, "settle", switched::off, ann));
    CHECK(trigger_item(j.c.by_hand, "settle", 0, ann).error() == errc::no_node);
    CHECK(trigger_job(j.c.by_hand, "settle", ann).error() == errc::no_node);
}

TEST_CASE("operations.trigger: a job without records has no items to be triggered one by one") {
    cluster c;
    auto job = make_job("settle", never, 2);
    job.monitor_execution = false;
    REQUIRE(c.add().schedule(job));
    c.run_for(1s);
    CHECK(trigger_item(c.by_hand, "settle", 0, ann).error() == errc::invalid_argument);
    REQUIRE(trigger_job(c.by_hand, "settle", ann));
    c.run_for(1s);
    CHECK(c.started() == items{0, 1});
}

TEST_CASE("operations.dead_letters: a pending order to look is written anew, so that it cannot be removed as read") {
    cluster c;
    c.create("/settle");
    c.create("/settle/config", to_json(make_job("settle", never, 2)));
    for (auto const* name : {"ext", "ext/orders", "ext/orders/look-1", "ext/run"})
        c.create(std::string{"/settle/"} + name);
    run_record record;
    record.dead_letters.push_back(
        {{wall_time{60s}, run_source::schedule, 1, "a@-@b", wall_time{60s}}, run_outcome::failed, wall_time{61s}});
    c.create("/settle/ext/run/1", record.to_text());
    REQUIRE(run_again(c.by_hand, "settle", 1, wall_time{60s}));
    CHECK(c.find("/settle/ext/orders/look-1")->stat.version == 1);
}

TEST_CASE("operations.switches: a job, a server, an item") {
    job_of_two j;
    CHECK(effect_of(switch_server(j.c.by_hand, "settle", "10.0.0.1", switched::off, ann)) == effect::done);
    CHECK(j.last().verb == "disable");
    CHECK(j.last().subject == "server 10.0.0.1");
    j.c.run_for(1s);
    CHECK(j.c.owners("settle", 4) == std::vector<std::string>(4, j.two.id("settle")));
    auto const again = switch_server(j.c.by_hand, "settle", "10.0.0.1", switched::off, ann);
    CHECK(effect_of(again) == effect::unchanged);
    CHECK(j.last().outcome == command_outcome::unchanged);
    auto const all = switch_job(j.c.by_hand, "settle", switched::off, ann);
    CHECK(effect_of(all) == effect::done);
    CHECK(all->text == "1 server is disabled");
    CHECK(j.c.data("/settle/servers/10.0.0.2") == "DISABLED");
    CHECK(switch_job(j.c.by_hand, "settle", switched::on, ann)->text == "2 servers are enabled");
    j.c.run_for(1s);
    CHECK(j.c.data("/settle/servers/10.0.0.1").empty());
    CHECK(switch_server(j.c.by_hand, "settle", "10.0.0.9", switched::off, ann).error() == errc::no_node);
    CHECK_FALSE(j.c.has("/settle/servers/10.0.0.9"));

    CHECK(effect_of(switch_item(j.c.by_hand, "settle", 1, switched::off, ann)) == effect::done);
    CHECK(effect_of(switch_item(j.c.by_hand, "settle", 1, switched::off, ann)) == effect::unchanged);
    REQUIRE(trigger_job(j.c.by_hand, "settle", ann));
    CHECK(j.started() == items{0, 2, 3});
    CHECK(effect_of(switch_item(j.c.by_hand, "settle", 1, switched::on, ann)) == effect::done);
    CHECK(effect_of(switch_item(j.c.by_hand, "settle", 1, switched::on, ann)) == effect::unchanged);
    CHECK(switch_item(j.c.by_hand, "settle", 4, switched::off, ann).error() == errc::no_node);
    CHECK_FALSE(j.c.has("/settle/sharding/4"));
}

TEST_CASE("operations.switches: an item can be disabled before the job has had an instance") {
    cluster c;
    REQUIRE(change_settings(c.by_hand, {make_job("settle", "0/5 * * * * ?", 3), {}, true}, ann));
    REQUIRE(switch_item(c.by_hand, "settle", 1, switched::off, ann));
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 3)));
    c.run_for(6s);
    CHECK(c.started() == std::vector<item_index>{0, 2});
    CHECK(c.owner("settle", 1) == m.id("settle"));
    CHECK(c.count(heard::kind::trouble) == 0);
}

TEST_CASE("operations.switches: a server in all its jobs, under one key") {
    job_of_two j;
    REQUIRE(j.one.schedule(make_job("bill", never, 1)));
    j.c.run_for(1s);
    auto const all = switch_server_everywhere(j.c.by_hand, "10.0.0.1", switched::off, {"ann", "key-1"});
    REQUIRE(all);
    REQUIRE(all->size() == 2);
    CHECK((*all)[0].job == "bill");
    CHECK(effect_of((*all)[0].outcome) == effect::done);
    CHECK(j.c.data("/bill/servers/10.0.0.1") == "DISABLED");
    CHECK(j.c.data("/settle/servers/10.0.0.1") == "DISABLED");
    CHECK(j.c.data("/settle/servers/10.0.0.2").empty());
    auto const again = switch_server_everywhere(j.c.by_hand, "10.0.0.1", switched::off, {"ann", "key-1"});
    CHECK(effect_of((*again)[1].outcome) == effect::repeated);
    CHECK(switch_server_everywhere(j.c.by_hand, "10.0.0.9", switched::off, ann).error() == errc::no_node);
}

TEST_CASE("operations.shut_down: an instance, a server, a job") {
    job_of_two j;
    auto const id = j.one.id("settle");
    CHECK(effect_of(shut_down_instance(j.c.by_hand, "settle", id, ann)) == effect::done);
    CHECK(j.last().subject == "instance " + id);
    j.c.run_for(1s);
    CHECK(j.c.owners("settle", 4) == std::vector<std::string>(4, j.two.id("settle")));
    CHECK(shut_down_instance(j.c.by_hand, "settle", id, ann).error() == errc::no_node);
    CHECK(shut_down_instance(j.c.by_hand, "settle", "nonsense", ann).error() == errc::invalid_argument);
    CHECK(shut_down_server(j.c.by_hand, "settle", "10.0.0.1", ann).error() == errc::no_node);
    CHECK(effect_of(shut_down_server(j.c.by_hand, "settle", "10.0.0.2", ann)) == effect::done);
    j.c.run_for(1s);
    CHECK(list_instances(j.c.by_hand, "settle")->empty());
    auto& three = j.c.add();
    REQUIRE(three.schedule(make_job("settle", never, 4)));
    REQUIRE(three.schedule(make_job("bill", never, 1)));
    j.c.run_for(1s);
    CHECK(effect_of(shut_down_job(j.c.by_hand, "settle", ann)) == effect::done);
    CHECK(shut_down_job(j.c.by_hand, "settle", ann).error() == errc::no_node);
    CHECK(j.c.has("/settle/config"));
    auto const all = shut_down_server_everywhere(j.c.by_hand, "10.0.0.3", ann);
    REQUIRE(all->size() == 2);
    CHECK(effect_of((*all)[0].outcome) == effect::done);
    CHECK((*all)[1].outcome.error() == errc::no_node);
}

TEST_CASE("operations.shut_down: a server that is left over is removed, a present one is not") {
    job_of_two j;
    j.c.create("/settle/servers/10.0.0.9", "DISABLED");
    CHECK(remove_server(j.c.by_hand, "settle", "10.0.0.1", ann).error() == errc::version_conflict);
    j.c.create("/settle/ext/hosts");
    j.c.create("/settle/ext/hosts/10.0.0.9", "db-9");
    CHECK(effect_of(remove_server(j.c.by_hand, "settle", "10.0.0.9", ann)) == effect::done);
    CHECK_FALSE(j.c.has("/settle/servers/10.0.0.9"));
    CHECK_FALSE(j.c.has("/settle/ext/hosts/10.0.0.9"));
    CHECK(remove_server(j.c.by_hand, "settle", "10.0.0.9", ann).error() == errc::no_node);
    REQUIRE(shut_down_job(j.c.by_hand, "settle", ann));
    j.c.run_for(1s);
    CHECK(j.c.has("/settle/leader/sharding/necessary")); // a sharding is requested, and no instance can do it
    auto const all = remove_server_everywhere(j.c.by_hand, "10.0.0.1", ann);
    CHECK(effect_of((*all)[0].outcome) == effect::done);
    CHECK_FALSE(j.c.has("/settle/servers/10.0.0.1"));
    auto const again = remove_server_everywhere(j.c.by_hand, "10.0.0.1", ann);
    REQUIRE(again.has_error());
    CHECK(again.error() == errc::no_node);
    CHECK(again.error().what.find("the removal is complete") != std::string::npos);
    CHECK(j.c.has("/settle/instances"));
    // An instance that joins now works normally.
    REQUIRE(j.c.add().schedule(make_job("settle", never, 4)));
    j.c.run_for(1s);
    CHECK(list_instances(j.c.by_hand, "settle")->size() == 1);
}

TEST_CASE("operations.shut_down: a server is not removed while an instance of it joins") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    c.create("/settle/servers/10.0.0.2");
    bool is_empty = false;
    SUBCASE("beside others") {}
    SUBCASE("as the first") {
        REQUIRE(m.shutdown("settle"));
        is_empty = true;
    }
    joining_registry r{c.server};
    r.arrival.emplace(c.by_hand.session().generation);
    r.arrival->check(cluster::parsed("/settle/servers/10.0.0.2"));
    r.arrival->create(cluster::parsed("/settle/instances/10.0.0.2@-@7-0123456789abcdef"), {}, create_mode::ephemeral);
    if (!is_empty) r.arrival->create(cluster::parsed("/settle/leader/sharding/necessary"), {});
    r.joiner = &c.by_hand;
    auto const refused = remove_server(r, "settle", "10.0.0.2", ann);
    CHECK(refused.error() == errc::version_conflict);
    CHECK(refused.error().where == "/settle/instances/10.0.0.2@-@7-0123456789abcdef");
    CHECK(c.has("/settle/servers/10.0.0.2"));
    CHECK_FALSE(r.arrival);
}

TEST_CASE("operations.job_settings: settings can be read and then changed, unless another operator was faster") {
    job_of_two j;
    auto read = read_settings(j.c.by_hand, "settle").value();
    CHECK(read.config.sharding_total_count == 4);
    auto change = settings_change{read.config, read.tag};
    change.config.sharding_total_count = 2;
    change.config.description = "monthly";
    auto const done = change_settings(j.c.by_hand, change, ann).value();
    CHECK(done.what == effect::done);
    CHECK(done.text == "shardingTotalCount is 2, was 4; description is 'monthly', was ''");
    j.c.run_for(1s);
    auto const now = read_settings(j.c.by_hand, "settle").value();
    CHECK(now.config == change.config);
    CHECK(now.tag != read.tag);
    change.config.sharding_total_count = 3;
    auto const late = change_settings(j.c.by_hand, change, ann);
    CHECK(late.error() == errc::version_conflict);
    CHECK(j.last().outcome == command_outcome::refused);
    CHECK(read_settings(j.c.by_hand, "settle")->config.sharding_total_count == 2);
    change.expected.clear();
    CHECK(effect_of(change_settings(j.c.by_hand, change, ann)) == effect::done);
    CHECK(effect_of(change_settings(j.c.by_hand, change, ann)) == effect::unchanged);
    change.config.item_labels = "0=gpu";
    change.config.schedules = {job_schedule::fixed_rate(1h)};
    CHECK(effect_of(change_settings(j.c.by_hand, change, ann)) == effect::done);
    CHECK(read_settings(j.c.by_hand, "settle")->config.item_labels == "0=gpu");
    CHECK(read_settings(j.c.by_hand, "settle")->config.schedules.size() == 1);
    CHECK(read_settings(j.c.by_hand, "nobody").error() == errc::no_node);
    change.expected = no_settings_tag; // there was no such job
    change.may_add = true;
    CHECK(change_settings(j.c.by_hand, change, ann).error() == errc::version_conflict);
    change.config.name = "another";
    CHECK(effect_of(change_settings(j.c.by_hand, change, ann)) == effect::done);
    j.c.set("/another/config", ""); // Java's console does this; the schedule is left over
    CHECK(read_settings(j.c.by_hand, "another").error() == errc::no_node);
    CHECK(effect_of(change_settings(j.c.by_hand, change, ann)) == effect::done);
}

TEST_CASE("operations.job_settings: settings that cannot run are not written") {
    job_of_two j;
    auto const read = read_settings(j.c.by_hand, "settle").value();
    auto const refused = [&](auto edit) {
        auto change = settings_change{read.config};
        edit(change);
        return change_settings(j.c.by_hand, std::move(change), ann).error().code;
    };
    CHECK(refused([](auto& c) { c.config.cron = "nonsense"; }) == errc::invalid_cron);
    CHECK(refused([](auto& c) { c.config.sharding_total_count = 0; }) == errc::invalid_config);
    CHECK(refused([](auto& c) { c.config.name = "nobody"; }) == errc::no_node);
    CHECK(refused([](auto& c) { c.config.name = "a/b"; }) == errc::invalid_argument);
    CHECK(refused([](auto& c) { c.config.job_class = "other"; }) == errc::job_conflict);
    CHECK(refused([](auto& c) { c.config.job_sharding_strategy_class = "mine"; }) == errc::unknown_strategy);
    CHECK(refused([](auto& c) { c.config.schedules = {job_schedule::after_job("settle")}; }) == errc::invalid_config);
    CHECK(read_settings(j.c.by_hand, "settle")->tag == read.tag);
    CHECK_FALSE(j.c.has("/nobody"));
    auto change = settings_change{read.config};
    change.config.job_sharding_strategy_class = "mine";
    change.strategies = {"mine"};
    CHECK(effect_of(change_settings(j.c.by_hand, change, {"ann", {}, true})) == effect::planned);
}

TEST_CASE("operations.job_settings: a job is added once, and one that was removed is not") {
    cluster c;
    settings_change const change{make_job("settle", never, 2), {}, true};
    {
        losing const lost{c.server, losing::nth_write(c.by_hand.session().id, 0, request_fate::reply_lost)};
        auto const added = change_settings(c.by_hand, change, ann);
        CHECK(effect_of(added) == effect::done);
        CHECK(added->text == "the job is added");
    }
    CHECK(list_commands(c.by_hand, "settle")->entries().size() == 1);
    CHECK(effect_of(change_settings(c.by_hand, change, ann)) == effect::unchanged);
    REQUIRE(c.add().schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    CHECK(describe_job(c.by_hand, "settle")->health == job_health::ok);
    c.set("/settle/config", "nonsense");
    auto const mended = change_settings(c.by_hand, change, ann);
    CHECK(mended->text == "the unreadable configuration is replaced");
    c.create("/gone");
    c.create("/gone/ext");
    c.create("/gone/ext/removed");
    auto gone = change;
    gone.config.name = "gone";
    CHECK(change_settings(c.by_hand, gone, ann).error() == errc::removed);
}
