// SPDX-License-Identifier: Apache-2.0
// Jobs are added, removed and restored at random, while requests and replies are lost, sessions end and processes
// restart. When all is calm, exactly the existing jobs run, and the other jobs have left only their tombstones.
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>

#include <elasticjob/core/random.hpp>

#include <support/catalog_world.hpp>
#include <support/full_run.hpp>
#include <support/job_world.hpp> // losing

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using strings = std::vector<std::string>;

struct storm : catalog_world {
    explicit storm(std::uint64_t seed) : random{seed} {
        on_begin = [this](std::string const& job) {
            if (removed.contains(job)) too_late.push_back(job);
        };
        for (std::size_t n = 0; n < classes.size(); ++n) catalog_world::start(classes[n]);
    }

    std::uint64_t below(std::uint64_t n) { return random.next() % n; }

    /// The processes that know the class of each job.
    strings expected(std::size_t process, strings const& there) const {
        strings known;
        for (auto const& name : there)
            if (std::count(classes[process].begin(), classes[process].end(), class_of(name)) != 0) known.push_back(name);
        return known;
    }
    static std::string class_of(std::string const& name) { return name < "d" ? "import" : "export"; }

    result<void> add(std::string const& name) {
        auto const added = add_job(by_hand, job(name, class_of(name)));
        if (!added) return added.error();
        return success();
    }
    result<void> remove(std::string const& name, std::chrono::milliseconds patience) {
        auto const done = remove_job(by_hand, name, patience);
        if (done) removed.insert(name);
        return done;
    }
    result<void> restore(std::string const& name, std::chrono::milliseconds patience) {
        removed.erase(name); // from here on the job may exist
        return restore_job(by_hand, name, patience);
    }

    void act() {
        auto const name = names[below(names.size())];
        auto const n = below(processes.size());
        auto& p = processes[n];
        switch (below(9)) {
        case 0:
        case 1:
            (void)add(name);
            break;
        case 2:
            (void)remove(name, std::chrono::milliseconds{below(20'000)});
            break;
        case 3:
            (void)restore(name, std::chrono::milliseconds{below(20'000)});
            break;
        case 4:
            post(loop, [&p] { p->registry.disconnect(); });
            break;
        case 5:
            post(loop, [&p] { p->registry.expire(); });
            break;
        case 6:
            p.reset();
            p = std::make_unique<catalog_process>(*this, n, classes[n]);
            break;
        default:
            post(loop, [this] {
                for (auto& one : processes) one->registry.reconnect();
            });
        }
        run_for(std::chrono::milliseconds{below(4'000)});
    }

    std::vector<strings> const classes{{"import"}, {"import", "export"}, {"import", "export"}};
    strings const names{"a", "b", "c", "d", "e"};
    std::set<std::string> removed; ///< for certain
    strings too_late;              ///< runs of those
    random_source random;
};

} // namespace

TEST_CASE("scheduler.job_catalog: whatever happens, in the end exactly the existing jobs run, and the others leave no "
          "trace") {
    auto const seeds = test::amount_for_this_run({.full = 40, .usual = 10, .sanitized = 3});
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        INFO("seed " << seed);
        storm w{seed};
        {
            random_source fate{seed + 1000};
            losing some{w.server, [&fate](std::int64_t, operation::kind const*) {
                            auto const n = fate.next() % 50;
                            return n == 0   ? request_fate::request_lost
                                   : n == 1 ? request_fate::reply_lost
                                            : request_fate::served;
                        }};
            for (int step = 0; step < 40; ++step) w.act();
        }
        post(w.loop, [&] {
            for (auto& p : w.processes) p->registry.reconnect();
        });
        w.run_for(30s);
        strings there;
        for (auto const& name : w.names) {
            if (w.below(2) == 0) {
                auto const restored = w.restore(name, 1min);
                CHECK((restored || restored.error() == errc::no_node));
                CHECK(w.add(name));
                there.push_back(name);
            } else {
                auto const gone = w.remove(name, 1min);
                CHECK((gone || gone.error() == errc::no_node));
            }
        }
        w.run_for(3min); // a start that has failed is tried again after a minute at the latest
        w.log.clear();
        w.run_for(5s);
        for (std::size_t n = 0; n < w.processes.size(); ++n) CHECK(w.processes[n]->running() == w.expected(n, there));
        for (auto const& name : w.names) {
            bool const exists = std::count(there.begin(), there.end(), name) != 0;
            CHECK((w.count(name, "begins") > 0) == exists);
            if (exists)
                CHECK(w.children("/" + name + "/instances").size() == (w.class_of(name) == "import" ? 3 : 2));
            else
                CHECK((w.paths("/" + name).empty() || w.paths("/" + name) == w.tombstone_of(name)));
        }
        CHECK(w.too_late.empty());
        for (auto const& t : w.log) CHECK(t.what != "fenced");
    }
}
