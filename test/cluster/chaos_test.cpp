// SPDX-License-Identifier: Apache-2.0
// Processes on a real server are killed, frozen for shorter and for longer than their session lives, sent away and
// replaced, as a seed says. The test checks the simulation's invariants as far as they show from outside: in the output
// of the processes, and in the records on the server.
#include <cluster/cluster.hpp>
#include <cluster/record_history.hpp>

#include <elasticjob/core/random.hpp>
#include <elasticjob/testing/record_invariants.hpp>

#include <cstdlib>
#include <limits>
#include <set>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr unsigned items = 6;
constexpr std::size_t workers = 4;
constexpr int rounds = 8;
constexpr auto step = 2s;
constexpr std::int64_t never_us = std::numeric_limits<std::int64_t>::max();

std::int64_t steady_us() {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}
std::int64_t ms(wall_time t) { return t.time_since_epoch() / 1ms; }

/// A process and the faults that it has had.
struct actor {
    member* process;
    std::string ip;
    std::vector<std::pair<std::int64_t, std::int64_t>> frozen{}; ///< from when to when
    std::int64_t killed_us = never_us;
    bool has_left = false;

    bool is_there() const { return killed_us == never_us && !has_left; }
    bool slept_between(std::int64_t begin, std::int64_t end) const {
        return std::ranges::any_of(frozen, [&](auto const& f) { return f.first < end && f.second > begin; });
    }
    /// Whether its session may have ended before its time: the process knows if that has happened.
    bool may_have_lost_a_session() const {
        return killed_us != never_us || !frozen.empty() || process->count("joined") > 1;
    }
    std::set<std::string> ids() const {
        std::set<std::string> all;
        for (auto const& l : process->all("joined")) all.insert(l.words.at(0));
        return all;
    }
};

/// A call of the body.
struct call {
    actor const* by;
    std::int64_t due_ms, token;
    unsigned attempt;
    std::int64_t began_us, ended_us; ///< ended, or died
    bool has_ended, is_fenced;
};

class chaos {
public:
    chaos(std::uint64_t seed, std::string name_space)
        : job{make_job()},
          at{*job_name::parse(job.name)},
          all{common_server(), std::move(name_space)},
          history{all.observer(), at},
          random{seed} {
        while (actors.size() < workers) add();
        wait_until_joined();
        all.wait_until_shared(job, there());
        first = cluster::next_due(step);
    }

    void play() {
        for (int n = 0; n < rounds; ++n) {
            pass(1500ms); // so that each fault meets another state
            if (n % 2 == 1) order();
            happen();
            while (there().size() < workers) add();
            wait_until_joined();
        }
    }

    /// I3, I6: each item has exactly one owner, which knows it, within a bound; then due runs start in time.
    void settle() {
        auto const begin = std::chrono::steady_clock::now();
        all.wait_until_shared(job, there());
        quiet_after = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
        CHECK(quiet_after < 10s); // the session time-out is 1.5 s; the rest is for a slow machine
        auto const watched = cluster::next_due(step);
        last = watched + step;
        for (auto const due : {watched, last}) {
            all.wait_for_runs(due, items);
            CHECK(cluster::wall_clock::now() - due < step);
        }
        all.wait_for("the last runs to end, and their ends to be recorded", [&] {
            for (auto* m : there())
                if (m->count("runs") != m->count("ran")) return false;
            for (unsigned i = 0; i < items; ++i) {
                auto const there_is = all.read(at.run_record(i));
                auto const record = run_record::parse(there_is ? there_is->data : std::string{});
                if (!record || record->running) return false;
            }
            return true;
        });
    }

    void check() {
        auto const written = history.stop();
        for (unsigned i = 0; i < items; ++i) {
            INFO("item " << i);
            auto const calls = calls_of(i);
            REQUIRE(written.contains(i));
            auto const entries = record_history::entries(written.at(i));
            check_tokens(calls);
            check_ends(calls, entries);
            check_instants(entries);
            check_attempts(calls, entries);
            check_story(written.at(i), calls);
            check_orders(written.at(i), entries);
        }
    }

    /// I8: all leave, and only the permanent nodes stay.
    void leave() {
        for (auto* m : there()) m->terminate();
        all.wait_for("all to leave", [&] {
            auto const gone = there();
            return std::ranges::all_of(gone, [](member* m) { return m->has_ended(); });
        });
        std::map<std::string, bool> expected; // whether it holds anything
        for (auto const& path : {at.config(), at.assignment()}) expected[path.str()] = true;
        for (auto const& path :
             {at.servers(), at.instances(), at.leader(), at.election(), at.election_latch(), at.sharding_flags(),
              at.sharding_necessary(), at.sharding(), at.ext(), at.run_records(), at.orders(), at.hosts()})
            expected[path.str()] = false;
        for (auto const& a : actors) {
            expected[at.server(a.ip).str()] = false;
            expected[at.host(a.ip).str()] = true;
        }
        for (unsigned i = 0; i < items; ++i) {
            for (auto const& path : {at.item(i), at.item_instance(i)}) expected[path.str()] = false;
            expected[at.run_record(i).str()] = true;
        }
        auto const left = all.tree(at.root());
        for (auto const& [path, holds] : expected) CHECK_MESSAGE(left.contains(path), "missing: " << path);
        for (auto const& [path, n] : left) {
            auto const e = expected.find(path);
            CHECK_MESSAGE(e != expected.end(), "left behind: " << path);
            CHECK_MESSAGE(n.stat.owner == 0, "ephemeral: " << path);
            // If many leave at once, the last ones leave their items to a leader, but none is left.
            bool const may_name_who_left = path.starts_with(at.sharding().str()) && path.ends_with("/instance");
            if (e != expected.end() && !may_name_who_left)
                CHECK_MESSAGE(n.data.empty() != e->second, path << " holds " << n.data);
        }
    }

    std::string summary() const {
        std::string text;
        for (auto const& [what, count] : counts) text += what + " " + std::to_string(count) + ", ";
        return text + "quiet after " + std::to_string(quiet_after.count()) + " ms";
    }
    std::string transcript() const { return did + all.transcript(); }

private:
    static job_config make_job() {
        auto c = every(2, items);
        c.failover = true;
        return c;
    }

    std::uint64_t pick(std::uint64_t below) { return random.next() % below; }
    void pass(std::chrono::milliseconds most) {
        all.wait_until(cluster::wall_clock::now() +
                       std::chrono::milliseconds{pick(static_cast<std::uint64_t>(most.count()))});
    }

    void add() {
        auto const n = std::to_string(actors.size() + 1);
        auto const ip = "10.0.0." + n;
        worker_options o{.jobs = {job}, .session_timeout = 1500ms, .body = 700ms};
        o.more = {"--server-ip", ip};
        actors.push_back({&all.start("w" + n, o), ip});
    }
    std::vector<member*> there() const {
        std::vector<member*> found;
        for (auto const& a : actors)
            if (a.is_there()) found.push_back(a.process);
        return found;
    }
    void wait_until_joined() {
        all.wait_for("the new ones to join", [&] {
            auto const who = there();
            return std::ranges::all_of(who, [](member* m) { return m->has("joined"); });
        });
    }
    actor& pick_one() {
        std::vector<actor*> found;
        for (auto& a : actors)
            if (a.is_there()) found.push_back(&a);
        return *found[pick(found.size())];
    }
    void note(char const* what, actor const& whom) {
        ++counts[what];
        did += std::to_string(steady_us()) + " " + what + " " + whom.process->name() + "\n";
    }

    /// An operator triggers every item once, just before a fault.
    void order() {
        REQUIRE(all.ask(all.observer().set(at.orders(), {})));
        auto const written = all.read(at.orders());
        REQUIRE(written.has_value());
        orders.emplace(written->stat.modified_at_ms, written->stat.modified);
        ++counts["ordered"];
        did += std::to_string(steady_us()) + " ordered\n";
    }

    void happen() {
        auto& a = pick_one();
        switch (pick(6)) {
        case 0:
        case 1:
            kill(a);
            break;
        case 2:
            kill(a);
            kill(pick_one());
            break;
        case 3:
            note("left", a);
            a.process->terminate();
            a.has_left = true;
            all.wait_for("it to leave", [&] { return a.process->has_ended(); });
            break;
        case 4:
            note("frozen for long", a);
            freeze(a, [&] {
                auto const instance = at.instances() / a.process->id();
                all.wait_for("its session to end", [&] { return !all.read(instance); });
                pass(2000ms);
            });
            break;
        default:
            note("frozen", a);
            freeze(a, [&] { pass(1000ms); });
        }
    }
    void kill(actor& a) {
        note("killed", a);
        a.process->kill();
        a.killed_us = steady_us();
    }
    template <class F>
    void freeze(actor& a, F meanwhile) {
        auto const from = steady_us();
        a.process->freeze();
        meanwhile();
        a.process->thaw();
        a.frozen.emplace_back(from, steady_us());
    }

    std::vector<call> calls_of(unsigned item) const {
        std::vector<call> found;
        for (auto const& a : actors) {
            for (auto const& l : a.process->all("runs"))
                if (l.item() == item)
                    found.push_back({&a, l.due_ms(), l.token(), l.attempt(), l.at_us, a.killed_us, false, false});
            for (auto const& l : a.process->all("ran"))
                for (auto& c : found)
                    if (c.by == &a && c.token == l.token() && l.item() == item) {
                        c.ended_us = l.at_us;
                        c.has_ended = true;
                    }
            for (auto const& l : a.process->all("fenced"))
                for (auto& c : found)
                    if (c.by == &a && c.token == l.token() && l.item() == item) c.is_fenced = true;
        }
        std::ranges::sort(found, {}, &call::began_us);
        return found;
    }

    /// I1: tokens grow in the order in which runs begin. A process that still runs when the next run begins has been
    /// asleep, and its token is no longer valid. (A process may sleep between getting its token and calling the body.)
    void check_tokens(std::vector<call> const& calls) {
        for (std::size_t n = 0; n < calls.size(); ++n)
            for (std::size_t k = n + 1; k < calls.size(); ++k) {
                bool const is_late = calls[k].token < calls[n].token;
                auto const& former = is_late ? calls[k] : calls[n];
                auto const& next = is_late ? calls[n] : calls[k];
                CHECK(former.token != next.token);
                if (!is_late && former.ended_us <= next.began_us) continue;
                ++counts["overtaken in their sleep"];
                bool const slept = is_late ? former.by->slept_between(0, former.began_us)
                                           : former.by->slept_between(former.began_us, next.began_us);
                CHECK_MESSAGE((slept || former.by->process->count("joined") > 1),
                              former.by->process->name() << " runs beside " << next.by->process->name() << ", tokens "
                                                         << former.token << " and " << next.token);
                if (former.by->is_there()) CHECK_MESSAGE(former.is_fenced, "not fenced: token " << former.token);
            }
    }

    /// I2: a run that is on record as ended has ended, on the recorded instance, and was not reported stale.
    void check_ends(std::vector<call> const& calls, std::vector<run_entry> const& entries) {
        for (auto const& e : entries) {
            if (e.outcome != run_outcome::completed && e.outcome != run_outcome::failed) continue;
            auto const is_it = [&](call const& c) {
                return c.due_ms == ms(e.run.due) && c.attempt == e.run.attempt && c.by->ids().contains(e.run.instance);
            };
            auto const c = std::ranges::find_if(calls, is_it);
            CHECK_MESSAGE((c != calls.end() && c->has_ended && !c->is_fenced),
                          "on record as ended: attempt " << e.run.attempt << " due " << ms(e.run.due));
        }
        for (auto const& c : calls) counts["fenced"] += c.is_fenced;
    }

    /// I4: each due instant has one outcome.
    void check_instants(std::vector<run_entry> const& entries) {
        std::map<std::int64_t, std::string> outcomes;
        for (auto const& e : entries) {
            ++counts[std::string{name_of(e.outcome)}];
            if (e.outcome == run_outcome::retried) continue;
            for (std::uint64_t back = 0; back < e.count; ++back)
                outcomes[ms(e.run.due - back * step)] += std::string{name_of(e.outcome)} + " ";
        }
        for (auto due = first; due <= last; due += step) {
            auto const& o = outcomes[cluster::ms(due)];
            bool const is_one = o == "completed " || o == "coalesced " || o == "skipped ";
            CHECK_MESSAGE(is_one, "due " << cluster::ms(due) << ": " << o);
        }
    }

    /// I5: attempts are consecutive, one for each time that an instance was lost during a run; no other run repeats.
    void check_attempts(std::vector<call> const& calls, std::vector<run_entry> const& entries) {
        std::map<std::int64_t, std::map<unsigned, int>> attempts;
        for (auto const& e : entries) {
            if (e.outcome == run_outcome::coalesced || e.outcome == run_outcome::skipped) continue;
            ++attempts[ms(e.run.due)][e.run.attempt];
            CHECK(e.outcome != run_outcome::interrupted);
            if (e.outcome != run_outcome::retried) continue;
            auto const who =
                std::ranges::find_if(actors, [&](actor const& a) { return a.ids().contains(e.run.instance); });
            REQUIRE(who != actors.end());
            CHECK_MESSAGE(who->may_have_lost_a_session(), "run again though it lived: " << e.run.instance);
        }
        for (auto const& [due, of_due] : attempts) {
            unsigned expected = 1;
            for (auto const& [attempt, count] : of_due) {
                CHECK_MESSAGE((attempt == expected && count == 1), "due " << due << " attempt " << attempt);
                ++expected;
            }
        }
        for (auto const& c : calls) {
            if (c.due_ms < cluster::ms(first)) continue;
            bool const is_interrupted = (!c.has_ended && !c.by->is_there()) || c.is_fenced;
            if (is_interrupted)
                CHECK_MESSAGE(attempts[c.due_ms].contains(c.attempt + 1),
                              "interrupted and not run again: due " << c.due_ms << " attempt " << c.attempt);
        }
    }

    /// I7: each item carries out each order once, or a later order replaces it; the last one is carried out. No run has
    /// an order that was not given.
    void check_orders(std::vector<record_history::writing> const& written, std::vector<run_entry> const& entries) {
        REQUIRE(!orders.empty());
        REQUIRE(!written.empty());
        CHECK(written.back().record.obeyed == orders.rbegin()->second);
        std::map<std::int64_t, int> ended;
        for (auto const& e : entries)
            if (e.run.source == run_source::trigger || orders.contains(ms(e.run.due))) {
                CHECK_MESSAGE(orders.contains(ms(e.run.due)), "nobody ordered " << ms(e.run.due));
                ended[ms(e.run.due)] += e.outcome != run_outcome::retried;
            }
        for (auto const& [given, revision] : orders) CHECK_MESSAGE(ended[given] <= 1, "twice: the order of " << given);
        CHECK(ended[orders.rbegin()->first] == 1);
    }

    /// The simulation's rule for two consecutive writes; and a run's token is the write that began it.
    void check_story(std::vector<record_history::writing> const& written, std::vector<call> const& calls) {
        std::int64_t token = 0; // of the current run; 0: not known
        for (std::size_t n = 0; n < written.size(); ++n) {
            auto const& now = written[n];
            bool const is_next = n > 0 && written[n - 1].version + 1 == now.version;
            counts["writings not seen"] += n > 0 && !is_next;
            if (is_next) {
                testing::detail::record_step s{written[n - 1].record, now.record};
                s.was_called = std::ranges::find(calls, token, &call::token) != calls.end();
                CHECK(testing::detail::find_wrong(s) == "");
            }
            auto const& running = now.record.running;
            token = is_next && running ? now.at : 0;
            for (auto const& c : calls) {
                if (token == 0 || c.due_ms != ms(running->due) || c.attempt != running->attempt) continue;
                if (c.by->ids().contains(running->instance)) CHECK(c.token == token);
            }
        }
    }

    job_config const job;
    job_layout const at;
    cluster all;
    record_history history;
    random_source random;
    std::list<actor> actors;
    std::map<std::int64_t, revision> orders; ///< by when they were given, in the registry's milliseconds
    cluster::wall_clock::time_point first{}, last{};
    std::chrono::milliseconds quiet_after{};
    std::map<std::string, std::size_t> counts;
    std::string did;
};

} // namespace

// ELASTICJOB_SEED=n runs another sequence of faults.
TEST_CASE("cluster: processes are killed, frozen, sent away and replaced, and every invariant that shows from outside "
          "holds") {
    auto const* given = std::getenv("ELASTICJOB_SEED");
    std::uint64_t const seed = given ? std::strtoull(given, nullptr, 10) : 1;
    MESSAGE("ELASTICJOB_SEED=" << seed);
    chaos c{seed, "chaos-" + std::to_string(seed)};
    {
        INFO(c.transcript());
        c.play();
        c.settle();
        c.check();
        c.leave();
    }
    MESSAGE(c.summary());
}
