// SPDX-License-Identifier: Apache-2.0
/// \file \brief `cluster`: the worker processes of a test, and an outside client of the registry.
#ifndef ELASTICJOB_TEST_CLUSTER_CLUSTER_HPP
#define ELASTICJOB_TEST_CLUSTER_CLUSTER_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <cluster/member.hpp>
#include <integration/zk_lab.hpp>

#include <initializer_list>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace elasticjob::test {

/// A job with a number of items and a period in seconds.
inline job_config every(int seconds, int items, std::string name = "settle") {
    job_config c;
    c.name = std::move(name);
    c.cron = "0/" + std::to_string(seconds) + " * * * * ?";
    c.sharding_total_count = items;
    return c;
}

/// A job that does not fire while a test runs.
inline job_config never(int items, std::string name = "settle") {
    auto c = every(1, items, std::move(name));
    c.cron = "0 0 0 1 1 ? 2099";
    return c;
}

/// The arguments of a worker; see worker.cpp.
struct worker_options {
    std::vector<job_config> jobs{};
    std::chrono::milliseconds session_timeout{10s}; ///< so long that nobody loses a session by being slow
    std::chrono::milliseconds body{50ms};
    std::vector<std::string> more{};
    std::vector<std::string> under{}; ///< a program that runs the worker, with its arguments
};

class cluster {
public:
    using wall_clock = std::chrono::system_clock;

    cluster(zk_server& server, std::string name_space, std::string digest = {})
        : cluster{server.endpoint(), std::move(name_space), std::move(digest)} {
        server_ = &server;
    }
    /// On servers of any kind: `host:port`, comma separated.
    cluster(std::string servers, std::string name_space, std::string digest = {})
        : servers_{std::move(servers)},
          name_space_{std::move(name_space)},
          observer_{observe(servers_, name_space_, std::move(digest))} {}

    /// Precondition: there is exactly one.
    zk_server& server() noexcept { return *server_; }

    /// Starts a worker without waiting for it.
    member& start(std::string name, worker_options const& o) {
        std::vector<std::string> words{"--servers", servers_, "--namespace", name_space_};
        auto add = [&](char const* key, auto number) {
            words.push_back(key);
            words.push_back(std::to_string(number));
        };
        add("--session-ms", o.session_timeout.count());
        add("--body-ms", o.body.count());
        for (auto const& job : o.jobs) {
            words.push_back("--config");
            words.push_back(to_json(job));
        }
        words.insert(words.end(), o.more.begin(), o.more.end());
        return members_.emplace_back(std::move(name), std::move(words), member_options{.under = o.under});
    }

    /// Returns once `condition()` is true; checks it whenever a worker has printed a line, and at intervals.
    template <class F>
    void wait_for(char const* what, F condition, std::chrono::milliseconds limit = 20s) {
        for (auto const deadline = std::chrono::steady_clock::now() + limit; !condition();) {
            if (std::chrono::steady_clock::now() >= deadline)
                throw std::runtime_error{"waited in vain for: " + std::string{what} + "\n" + transcript()};
            for (auto& m : members_)
                if (m.has_crashed())
                    throw std::runtime_error{m.name() + " crashed (" + m.how_it_ended() + ") before: " +
                                             std::string{what} + "\n" + transcript()};
            listen(20ms);
        }
    }

    /// Returns at that time, and reads output meanwhile.
    void wait_until(wall_clock::time_point t) {
        while (wall_clock::now() < t)
            listen(std::chrono::ceil<std::chrono::milliseconds>(
                std::min<wall_clock::duration>(t - wall_clock::now(), 50ms)));
    }

    /// Returns between two firings of a job that fires every `seconds`: at 3/10 of the way. Gives the last firing.
    wall_clock::time_point wait_for_a_break(std::chrono::seconds seconds) {
        auto const due = last_due(seconds);
        auto t = due + std::chrono::milliseconds{seconds} * 3 / 10;
        if (t < wall_clock::now()) t += seconds;
        wait_until(t);
        return last_due(seconds);
    }

    /// The last multiple of that span. 60 s must be one too.
    static wall_clock::time_point last_due(std::chrono::seconds span) {
        auto const now = std::chrono::floor<std::chrono::seconds>(wall_clock::now()).time_since_epoch();
        return wall_clock::time_point{now - now % span};
    }
    /// The next one that leaves time to prepare for it.
    static wall_clock::time_point next_due(std::chrono::seconds span) {
        auto const due = last_due(span) + span;
        return due - wall_clock::now() > 500ms ? due : due + span;
    }
    static std::int64_t ms(wall_clock::time_point t) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count();
    }

    /// The worker of each run, by due instant and item.
    std::map<std::pair<std::int64_t, unsigned>, std::vector<std::string>> runs() const {
        std::map<std::pair<std::int64_t, unsigned>, std::vector<std::string>> found;
        for (auto const& m : members_)
            for (auto const& l : m.all("runs")) found[{l.due_ms(), l.item()}].push_back(m.name());
        return found;
    }

    /// Returns once all items of the job have begun to run for that due instant.
    void wait_for_runs(wall_clock::time_point due, unsigned items, std::chrono::milliseconds limit = 20s) {
        wait_for(
            "all items to run",
            [&] {
                std::set<unsigned> seen;
                for (auto const& [which, who] : runs())
                    if (which.first == ms(due)) seen.insert(which.second);
                return seen.size() == items;
            },
            limit);
    }

    /// Returns once every worker has ended its runs, except the excluded ones.
    void wait_until_idle(std::initializer_list<member*> who) {
        wait_for("the runs to end", [&] {
            return std::ranges::all_of(who, [](member* m) { return m->count("runs") == m->count("ran"); });
        });
    }

    void check_nothing_ran_twice() const {
        for (auto const& [which, who] : runs()) {
            std::string names;
            for (auto const& w : who) names += w + " ";
            CHECK_MESSAGE(who.size() == 1,
                          "item " << which.second << " due " << which.first << " was run by " << names);
        }
    }

    /// Every run began under a mark of its own session, so no two processes run an item at the same time.
    void check_all_marked() const {
        for (auto const& m : members_)
            for (auto const& l : m.all("runs")) CHECK_MESSAGE(l.words.at(2) == "marked", m.name() << ": " << l.text);
    }

    /// From `first` to `last`, each item ran once for each due instant.
    void check_complete(wall_clock::time_point first, wall_clock::time_point last, std::chrono::seconds step,
                        unsigned items) const {
        auto const ran = runs();
        for (auto due = first; due <= last; due += step)
            for (unsigned i = 0; i < items; ++i) {
                auto const at = ran.find({ms(due), i});
                CHECK_MESSAGE((at != ran.end() && at->second.size() == 1), "item " << i << " due " << ms(due));
            }
    }

    /// No worker has reported a problem. If an item moves while a run is about to begin, for example because a member
    /// joins at a due instant, the run is reported as failed and its next owner begins it again: no problem.
    void check_no_trouble() const {
        for (auto const& m : members_)
            for (auto const& l : m.lines()) {
                bool const has_moved = l.text.find("(reassigned) before its body was called") != l.text.npos;
                if (l.verb == "failed" && has_moved) continue;
                CHECK_MESSAGE((l.verb != "trouble" && l.verb != "failed" && l.verb != "skipped"),
                              m.name() << ": " << l.text);
            }
    }

    /// From now on its runs last longer than the test, or for the given time.
    void slow_down(member& m, std::chrono::milliseconds span = 60s) {
        auto const before = m.count("takes");
        m.set_body(span);
        wait_for("the worker to listen", [&] { return m.count("takes") > before; });
    }

    // The registry's state.

    template <class T>
    result<T> ask(task<result<T>> question) {
        auto& l = observer_.loop();
        return block_on(l, within(l, l.now() + 10s, std::move(question)));
    }
    ZkRegistry& observer() noexcept { return observer_; }

    std::optional<node> read(node_path path) {
        auto found = ask(observer_.get(std::move(path)));
        if (!found && !(found.error() == errc::no_node)) throw std::runtime_error{to_string(found.error())};
        if (!found) return std::nullopt;
        return *std::move(found);
    }
    std::vector<std::string> children(node_path path) {
        auto found = ask(observer_.children(std::move(path)));
        if (!found && !(found.error() == errc::no_node)) throw std::runtime_error{to_string(found.error())};
        return found ? *std::move(found) : std::vector<std::string>{};
    }

    /// The whole tree below a node, by path; without the node itself.
    std::map<std::string, node> tree(node_path const& top) {
        std::map<std::string, node> found;
        for (auto const& name : children(top)) {
            auto const path = top / name;
            auto n = read(path);
            if (!n) continue;
            found.emplace(path.str(), *std::move(n));
            found.merge(tree(path));
        }
        return found;
    }

    /// The owners in the items' nodes, by item, without the items that have no owner.
    std::map<unsigned, std::string> owners(job_layout const& at, unsigned items) {
        std::map<unsigned, std::string> found;
        for (unsigned i = 0; i < items; ++i)
            if (auto n = read(at.item_instance(i)); n && !owner_in(n->data).empty()) found.emplace(i, n->data);
        return found;
    }

    /// Returns once each item has exactly one owner among these, as evenly as possible, and the owners know it.
    void wait_until_shared(job_config const& job, std::vector<member*> const& among,
                           std::chrono::milliseconds limit = 20s) {
        job_layout const at{*job_name::parse(job.name)};
        auto const items = static_cast<unsigned>(job.sharding_total_count);
        wait_for(
            "each item to have one owner",
            [&] {
                std::map<std::string, std::vector<unsigned>> by_id;
                for (auto const& [i, id] : owners(at, items)) by_id[id].push_back(i);
                std::size_t shared = 0;
                for (auto* m : among) {
                    if (!m->has("joined")) return false;
                    auto const& mine = by_id[m->id()];
                    if (mine.size() < items / among.size() || m->share(job.name) != mine) return false;
                    shared += mine.size();
                }
                return shared == items && !read(at.sharding_necessary());
            },
            limit);
    }

    std::string transcript() const {
        std::vector<std::tuple<std::int64_t, std::string, std::string>> all;
        for (auto const& m : members_)
            for (auto const& l : m.lines()) all.emplace_back(l.at_us, m.name(), l.text);
        std::ranges::sort(all);
        std::string text;
        for (auto const& [at, who, what] : all) text += who + ": " + what + "\n";
        return text;
    }

    /// Reads the output that arrives in the meantime.
    void listen(std::chrono::milliseconds limit) {
        std::vector<pollfd> ends;
        std::vector<member*> whose;
        for (auto& m : members_)
            if (m.output() >= 0) {
                ends.push_back({m.output(), POLLIN, 0});
                whose.push_back(&m);
            }
        if (::poll(ends.data(), ends.size(), static_cast<int>(limit.count())) <= 0) return;
        for (std::size_t i = 0; i < ends.size(); ++i)
            if (ends[i].revents != 0) whose[i]->read();
    }

private:
    static ZkRegistry observe(std::string servers, std::string name_space, std::string digest) {
        auto o = to(std::move(servers), std::move(name_space));
        o.digest = std::move(digest);
        return connected(std::move(o));
    }

    zk_server* server_ = nullptr;
    std::string servers_;
    std::string name_space_;
    ZkRegistry observer_;
    std::list<member> members_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CLUSTER_CLUSTER_HPP
