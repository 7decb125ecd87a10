// SPDX-License-Identifier: Apache-2.0
// Whole clusters under everything that a network, an operator and slow bodies can do, as a seed decides. What must hold is
// checked after each step; when the faults end, everything must come right again.
//
// ELASTICJOB_SEED=n replays one seed and prints what happened; ELASTICJOB_SEEDS=n runs that many.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

struct plan {
    std::uint64_t seed;
    memory_server_options server{};
    unsigned loses_one_in = 30; ///< requests or replies
};

class soak {
public:
    explicit soak(plan p)
        : random_{p.seed * 7919}, c_{p.server, p.seed}, network_{c_.server,
                                                                 [](auto, auto) { return request_fate::served; }},
          loses_one_in_{p.loses_one_in}, limit_{p.seed} {
        auto const nodes = 3 + pick(3);
        for (std::uint64_t n = 0; n < nodes; ++n)
            // Some servers have two instances.
            c_.add("10.0.0." + std::to_string(pick(4) == 0 && n > 0 ? n : n + 1));
        static constexpr char const* schedules[] = {"0/5 * * * * ?", "0/7 * * * * ?", "1/3 * * * * ?"};
        auto const jobs = 1 + pick(3);
        for (std::uint64_t j = 0; j < jobs; ++j) {
            jobs_.push_back(make_job("job" + std::to_string(j), schedules[j], static_cast<int>(1 + pick(9))));
            jobs_.back().failover = pick(2) == 0;
            jobs_.back().misfire = pick(2) == 0;
            jobs_.back().on_misfire.rule = pick(3) == 0 ? misfire_rule::all : misfire_rule::once;
        }
        c_.drain_timeout = 2s;
    }

    /// Empty, or what went wrong.
    std::string run() {
        network_.rule = [this](std::int64_t, operation::kind const*) {
            if (pick(loses_one_in_) != 0) return request_fate::served;
            return pick(2) == 0 ? request_fate::request_lost : request_fate::reply_lost;
        };
        for (auto& m : c_.members)
            for (auto const& j : jobs_)
                if (pick(5) != 0) join(*m, j);
        for (auto steps = 40 + pick(40); steps > 0; --steps) {
            disturb();
            pause();
            if (auto wrong = broken_invariant(); !wrong.empty()) return wrong;
        }
        return calm_down();
    }

    std::string transcript() const { return c_.transcript(); }

private:
    /// A blocking call that never ends would step through virtual time for ever.
    struct time_limit : timer {
        explicit time_limit(std::uint64_t s) noexcept : timer{&ring}, seed{s} {}
        static void ring(timer& t) {
            std::fprintf(stderr, "ELASTICJOB_SEED=%llu: a call does not end\n",
                         static_cast<unsigned long long>(static_cast<time_limit&>(t).seed));
            std::abort();
        }
        std::uint64_t seed;
    };

    template <class F>
    auto limited(F f) {
        c_.loop.arm(limit_, c_.loop.now() + 1h);
        auto outcome = f();
        c_.loop.disarm(limit_);
        return outcome;
    }

    std::uint64_t pick(std::uint64_t n) { return random_.next() % n; }
    member& somebody() { return *c_.members[pick(c_.members.size())]; }
    job_config const& some_job() { return jobs_[pick(jobs_.size())]; }
    bool is_member(member const& m, std::string const& job) const { return joined_.contains({m.number, job}); }

    bool is_alive(member const& m, std::string const& job) const {
        return !m.id(job).empty() && c_.has("/" + job + "/instances/" + m.id(job));
    }

    void join(member& m, job_config const& j) {
        if (is_member(m, j.name)) return;
        auto const joined = limited([&] { return m.schedule(j); });
        if (joined) joined_.insert({m.number, j.name});
    }
    void leave(member& m, std::string const& job) {
        m.holds = false;
        m.release_all(); // nobody else can let them end while we wait
        (void)limited([&] { return m.shutdown(job); });
        joined_.erase({m.number, job});
    }

    /// Some turns of the loop, which take no time, or some time.
    void pause() {
        if (pick(3) == 0)
            for (auto turns = pick(40); turns > 0; --turns) c_.loop.step();
        else
            c_.run_for(std::chrono::milliseconds{pick(3000)});
    }

    /// An operator looks before he writes, and does not mind when he is too late.
    template <class T>
    void by_hand(task<result<T>> t) {
        (void)limited([&] { return c_.wait_for(std::move(t)); });
    }

    void disturb() {
        auto& m = somebody();
        auto const& j = some_job();
        job_layout const at{job_name::parse(j.name).value()};
        auto const item = static_cast<item_index>(pick(static_cast<std::uint64_t>(j.sharding_total_count)));
        switch (pick(16)) {
        case 0:
            post(c_.loop, [&m] { m.registry.expire(); });
            break;
        case 1:
        case 2:
            post(c_.loop, [&m] { m.registry.disconnect(); });
            break;
        case 3:
        case 4:
        case 5:
            post(c_.loop, [&m] { m.registry.reconnect(); });
            break;
        case 6:
            join(m, j);
            break;
        case 7:
            if (is_member(m, j.name)) leave(m, j.name);
            break;
        case 8: {
            auto const* stored = c_.find(at.config().str());
            if (!stored) break;
            auto edited = from_json(stored->data).value().value();
            edited.sharding_total_count = static_cast<int>(1 + pick(9));
            by_hand(c_.by_hand.set(at.config(), to_json(edited)));
            break;
        }
        case 9:
            by_hand(c_.by_hand.set(at.server(m.ip), pick(2) == 0 ? "DISABLED" : ""));
            break;
        case 10:
            if (pick(2) == 0)
                by_hand(c_.by_hand.create(at.item_disabled(item), {}, create_mode::persistent));
            else
                by_hand(c_.by_hand.remove(at.item_disabled(item)));
            break;
        case 11:
            if (is_member(m, j.name)) (void)limited([&] { return m.trigger(j.name); });
            break;
        case 12:
        case 13:
            m.holds = pick(2) == 0;
            break;
        case 14:
            if (pick(3) == 0 && !m.id(j.name).empty()) by_hand(c_.by_hand.remove(at.instances() / m.id(j.name)));
            break;
        default:
            if (m.held() > 0 && pick(2) == 0)
                m.release(item);
            else
                m.release_all();
            break;
        }
    }

    std::string broken_invariant() const {
        if (!c_.violations.empty()) return c_.violations.front();
        for (auto const& j : jobs_) {
            job_layout const at{job_name::parse(j.name).value()};
            // A published assignment and the nodes of the items say the same.
            auto const* written = c_.find(at.assignment().str());
            if (!written) continue;
            auto const a = assignment::parse(written->data).value();
            auto const* first = c_.find(at.item_instance(0).str());
            if (!a.is_published() || !first || first->stat.modified != written->stat.modified) continue;
            auto const* stored = c_.find(at.config().str());
            auto const count = stored ? from_json(stored->data).value().value().sharding_total_count : 0;
            // With nobody to shard for, cut items may go before the assignment does.
            for (item_index i = 0; i < a.items() && i < static_cast<item_index>(count); ++i)
                if (auto const owner = c_.owner(j.name, i); owner != a.owner_id(i).str())
                    return "item " + std::to_string(i) + " of " + j.name + " shows '" + owner +
                           "', but the assignment says '" + a.owner_id(i).str() + "'";
        }
        return {};
    }

    /// No more faults. Within a bound, each item has one live owner and fires at each instant.
    std::string calm_down() {
        network_.rule = [](auto, auto) { return request_fate::served; };
        for (auto& m : c_.members) {
            m->holds = false;
            m->release_all();
            auto& registry = m->registry;
            post(c_.loop, [&registry] { registry.reconnect(); });
        }
        c_.run_for(1s);
        for (auto const& j : jobs_) {
            job_layout const at{job_name::parse(j.name).value()};
            for (auto& m : c_.members) by_hand(c_.by_hand.set(at.server(m->ip), ""));
            for (item_index i = 0; i < 9; ++i) by_hand(c_.by_hand.remove(at.item_disabled(i)));
        }
        // Each job has a member at least; one whom an operator has taken out starts anew.
        auto& m = *c_.members.front();
        for (auto const& j : jobs_) {
            if (is_member(m, j.name) && !is_alive(m, j.name)) leave(m, j.name);
            join(m, j);
        }
        c_.run_for(40s);
        if (auto wrong = broken_invariant(); !wrong.empty()) return wrong;
        auto const quiet = c_.log.size();
        auto const begin = c_.loop.wall_now();
        c_.run_for(42s); // a multiple of 3 and 7, and enough for 5
        if (auto wrong = broken_invariant(); !wrong.empty()) return wrong;
        std::map<std::pair<std::string, item_index>, std::map<wall_time, int>> runs;
        for (auto n = quiet; n < c_.log.size(); ++n)
            if (auto const& h = c_.log[n]; h.what == heard::kind::started) ++runs[{h.job, h.item}][h.due];
        for (auto const& j : jobs_)
            if (auto wrong = not_well(j.name, runs, begin); !wrong.empty()) return j.name + ": " + wrong;
        return {};
    }

    std::string not_well(std::string const& job,
                         std::map<std::pair<std::string, item_index>, std::map<wall_time, int>>& runs,
                         wall_time begin) {
        auto const root = "/" + job;
        std::set<std::string> alive;
        for (auto const& m : c_.members)
            if (is_alive(*m, job)) alive.insert(m->id(job));
        if (alive.empty()) return "nobody could join";
        for (auto const& m : c_.members)
            if (alive.contains(m->id(job)) && !is_member(*m, job)) return "an instance that has left is still there";
        if (!alive.contains(c_.data(root + "/leader/election/instance"))) return "there is no live leader";
        if (c_.has(root + "/leader/sharding/necessary")) return "a sharding is still asked for";
        if (c_.find(root + "/leader/election/latch")->stat.children != 0) return "a candidate has been left behind";
        auto const count = from_json(c_.data(root + "/config")).value().value().sharding_total_count;
        for (item_index i = 0; i < static_cast<item_index>(count); ++i) {
            auto const name = "item " + std::to_string(i);
            if (!alive.contains(c_.owner(job, i))) return name + " belongs to nobody who lives: " + c_.owner(job, i);
            if (c_.is_marked(job, i)) return name + " is marked though nothing runs";
            auto const& times = runs[{job, i}];
            if (times.size() < 6) return name + " ran at " + std::to_string(times.size()) + " instants of 42 s";
            for (auto const& [due, n] : times)
                if (due > begin + 1s && n != 1) return name + " ran " + std::to_string(n) + " times at one instant";
        }
        if (static_cast<int>(c_.find(root + "/sharding")->stat.children) != count) return "cut items were left behind";
        return {};
    }

    random_source random_;
    cluster c_;
    losing network_;
    unsigned loses_one_in_;
    time_limit limit_;
    std::vector<job_config> jobs_;
    std::set<std::pair<std::size_t, std::string>> joined_;
};

std::uint64_t number_from(char const* variable, std::uint64_t otherwise) {
    auto const* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Everything about a seed that is not random.
plan plan_of(std::uint64_t seed) {
    plan p{seed};
    if (seed % 4 == 3) p.server.limits.operations_max = 18; // enough to join, but most shardings are cut in parts
    if (seed % 3 == 2) p.loses_one_in = 200;
    return p;
}

void check_seed(std::uint64_t seed, bool tells_all) {
    soak s{plan_of(seed)};
    auto const wrong = s.run();
    CHECK_MESSAGE(wrong.empty(), "replay with ELASTICJOB_SEED=" << seed << ": " << wrong);
    if (tells_all) MESSAGE(s.transcript());
}

} // namespace

TEST_CASE("scheduler.job_scheduler: clusters come right again after whatever a seed does to them") {
    if (auto const seed = number_from("ELASTICJOB_SEED", 0)) return check_seed(seed, true);
    auto const seeds = number_from("ELASTICJOB_SEEDS", 300);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) check_seed(seed, false);
}
