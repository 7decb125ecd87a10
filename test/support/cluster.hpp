// SPDX-License-Identifier: Apache-2.0
/// \file \brief Real schedulers over one in-memory server in virtual time. The test controls operators, network and
/// faults.
#ifndef ELASTICJOB_TEST_SUPPORT_CLUSTER_HPP
#define ELASTICJOB_TEST_SUPPORT_CLUSTER_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/sharding_context.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <support/job_world.hpp> // losing
#include <support/never.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::test {

using namespace std::chrono_literals;

inline job_config make_job(std::string name, std::string cron, int count) {
    job_config c;
    c.name = std::move(name);
    c.cron = std::move(cron);
    c.sharding_total_count = count;
    return c;
}

/// A copy of an event.
struct heard {
    enum class kind {
        joined,
        left,
        leads,
        leads_no_more,
        resharded,
        share,
        started,
        finished,
        fenced,
        misfired,
        skipped,
        trouble,
        session
    };
    kind what{};
    std::size_t member = 0;
    std::string job{};
    mono_time at{};
    item_index item = 0;             ///< started, finished, skipped
    wall_time due{};                 ///< likewise
    std::optional<error> failure{};  ///< finished, trouble
    std::optional<wall_time> retry_at{}; ///< finished
    events::skip_reason why{};       ///< skipped
    std::string text{};              ///< joined: the note; session: the state
    std::vector<item_index> items{}; ///< share
    std::uint32_t moved = 0;         ///< resharded
    run_source source{};             ///< started
    std::uint32_t attempt = 0;       ///< started
    std::int64_t token = 0;          ///< started, finished, fenced
    wall_time told_at{};
    std::uint64_t run = 0; ///< started, finished, fenced, skipped: the run's number
    std::string task_id{}; ///< likewise
    wall_time begun{};     ///< likewise
};

class cluster;

/// One process: a session, a scheduler, and its runs. Only support/cluster.cpp knows the scheduler's type, because it
/// takes long to compile.
class member {
public:
    member(cluster& c, std::size_t number, std::string ip, std::uint32_t weight = 1, std::string labels = {});
    member(member const&) = delete;
    member& operator=(member const&) = delete;
    ~member();

    std::size_t const number;
    std::string const ip;
    std::uint32_t const weight;
    std::string const labels;
    basic_memory_registry<virtual_loop> registry;

    /// The function that the bodies call; none by default.
    std::function<result<void>(sharding_context const&)> body;

    /// While true, runs begin and go on until they are released: `body` is called then.
    bool holds = false;

    /// While true, no thread of the pool is free: runs wait to begin, until they are released.
    bool queues = false;

    /// While true, the pool refuses work.
    bool refuses = false;

    result<void> schedule(job_config const& c);
    result<void> trigger(std::string const& job);
    result<void> disable(std::string const& job);
    result<void> enable(std::string const& job);
    result<void> wait_idle(std::string const& job);
    result<void> shutdown(std::string const& job);
    void destroy_scheduler(); ///< with its jobs

    /// Lets the item's oldest held run end, or begin and end. Returns false if there is none.
    bool release(item_index item);
    void release_all();
    /// Calls the item's oldest held run here and now, off the loop, as a thread of a pool would.
    bool call_held(item_index item);
    std::size_t held() const;

    /// The id of this member in the job, from its last join.
    std::string id(std::string const& job) const {
        auto const at = ids.find(job);
        return at == ids.end() ? std::string{} : at->second;
    }
    std::map<std::string, std::string> ids;

private:
    friend class cluster;
    friend struct member_pool;
    friend struct member_sink;
    struct engine;
    struct held_run;
    void hold(work& w);
    /// The item's oldest held run, which is not held any more; null if there is none.
    held_run* let_go(item_index item);
    cluster& cluster_;
    std::list<held_run> held_; ///< and those that have been released, but have not ended yet
    std::pair<std::string, item_index> starting_;
    std::unique_ptr<engine> engine_;
};

class cluster {
public:
    explicit cluster(memory_server_options o = {}, std::uint64_t seed = 1)
        : seed_{seed}, loop{wall_time{std::chrono::seconds{1'767'225'600}}}, // 2026-01-01 00:00:00 UTC
          server{loop, o}, by_hand{server} {}
    cluster(cluster const&) = delete;
    cluster& operator=(cluster const&) = delete;
    ~cluster() {
        server.set_filter({});
        for (auto& m : members) {
            m->body = nullptr; // the objects that it uses may be gone
            m->release_all();
        }
        members.clear();
    }

private:
    std::uint64_t seed_;

public:
    virtual_loop loop;
    basic_memory_server<virtual_loop> server;
    basic_memory_registry<virtual_loop> by_hand; ///< an operator's session, or a Java member's
    std::vector<heard> log;
    std::vector<std::string> violations; ///< two live instances ran one item at the same time
    std::vector<std::unique_ptr<member>> members;
    std::chrono::milliseconds drain_timeout{30'000};
    std::chrono::milliseconds start_ahead{0}; ///< of members that are added later
    std::string host_name{}; ///< of members that are added later; empty: they write none

    std::uint64_t seed_of(std::size_t number) const { return seed_ * 1000 + number + 1; }

    member& add() { return add("10.0.0." + std::to_string(members.size() + 1)); }
    /// Adds a member with labels, for strategies that use them.
    member& add_labelled(std::string labels, std::uint32_t weight = 1) {
        auto ip = "10.0.0." + std::to_string(members.size() + 1);
        members.push_back(
            std::make_unique<member>(*this, members.size(), std::move(ip), weight, std::move(labels)));
        return *members.back();
    }
    member& add(std::string ip) {
        members.push_back(std::make_unique<member>(*this, members.size(), std::move(ip)));
        return *members.back();
    }

    void run_for(std::chrono::nanoseconds span) { loop.run_for(span); }

    /// Runs a function on the loop, like a request of the operator's session.
    template <class T>
    result<T> wait_for(task<result<T>> t) {
        return block_on(loop, std::move(t));
    }

    // Actions of an operator. They must not fail.

    void create(std::string const& path, std::string data = {}, create_mode mode = create_mode::persistent) {
        wait_for(by_hand.create(parsed(path), std::move(data), mode)).value();
    }
    void set(std::string const& path, std::string data) {
        wait_for(by_hand.set(parsed(path), std::move(data))).value();
    }
    void remove(std::string const& path) { wait_for(by_hand.remove(parsed(path))).value(); }
    void remove_tree(std::string const& path) {
        std::vector<std::string> doomed;
        server.tree().for_each([&](std::string const& p, node const&) {
            if (p == path || p.starts_with(path + "/")) doomed.push_back(p);
        });
        transaction t{by_hand.session().generation};
        for (; !doomed.empty(); doomed.pop_back()) t.remove(parsed(doomed.back()));
        wait_for(by_hand.commit(std::move(t))).value();
    }

    /// From now on the server refuses all writes below the path, as with an access list or a quota, or no longer.
    void set_read_only(std::string const& above, bool is_read_only = true) {
        server.set_read_only(parsed(above), is_read_only);
    }
    /// The same for reads of that node and all below it.
    void set_unreadable(std::string const& top, bool is_unreadable = true) {
        server.set_unreadable(parsed(top), is_unreadable);
    }

    // The contents of the tree, read without a request.

    node const* find(std::string const& path) const { return server.tree().find(parsed(path)); }
    bool has(std::string const& path) const { return find(path) != nullptr; }
    std::string data(std::string const& path) const {
        auto const* n = find(path);
        return n ? n->data : "(absent)";
    }
    std::string owner(std::string const& job, item_index i) const {
        return owner_in(data("/" + job + "/sharding/" + std::to_string(i) + "/instance"));
    }
    bool is_marked(std::string const& job, item_index i) const {
        return has("/" + job + "/sharding/" + std::to_string(i) + "/running");
    }
    std::vector<std::string> owners(std::string const& job, item_index count) const {
        std::vector<std::string> all;
        for (item_index i = 0; i < count; ++i) all.push_back(owner(job, i));
        return all;
    }

    /// One line for each node at or below the path, without `ext`: path, P or E, data.
    std::vector<std::string> dump(std::string const& root) const {
        std::vector<std::string> lines;
        auto const ext = root + "/ext";
        server.tree().for_each([&](std::string const& p, node const& n) {
            if (p != root && !p.starts_with(root + "/")) return;
            if (p == ext || p.starts_with(ext + "/")) return;
            lines.push_back(p + (n.stat.owner ? " E " : " P ") + n.data);
        });
        return lines;
    }

    // The events received.

    std::size_t count(heard::kind k) const {
        std::size_t n = 0;
        for (auto const& h : log) n += h.what == k;
        return n;
    }
    std::size_t count(heard::kind k, item_index i) const {
        std::size_t n = 0;
        for (auto const& h : log) n += h.what == k && h.item == i;
        return n;
    }
    std::size_t skips(events::skip_reason why) const {
        std::size_t n = 0;
        for (auto const& h : log) n += h.what == heard::kind::skipped && h.why == why;
        return n;
    }
    std::vector<heard> troubles() const {
        std::vector<heard> found;
        for (auto const& h : log)
            if (h.what == heard::kind::trouble) found.push_back(h);
        return found;
    }
    std::optional<error> last_trouble() const {
        for (auto at = log.rbegin(); at != log.rend(); ++at)
            if (at->what == heard::kind::trouble) return at->failure;
        return std::nullopt;
    }
    /// All events of one kind for one item.
    std::vector<heard> all(heard::kind k, item_index i) const {
        std::vector<heard> found;
        for (auto const& h : log)
            if (h.what == k && h.item == i) found.push_back(h);
        return found;
    }
    /// The items that were started, sorted and with repetitions; those of one member, if one is given.
    std::vector<item_index> started(std::optional<std::size_t> of = {}) const {
        std::vector<item_index> begun;
        for (auto const& h : log)
            if (h.what == heard::kind::started && (!of || h.member == *of)) begun.push_back(h.item);
        std::sort(begun.begin(), begun.end());
        return begun;
    }
    std::string transcript() const;

    static node_path parsed(std::string const& path) { return node_path::parse(path).value(); }

private:
    friend class member;
    friend struct member_sink;
    struct run {
        std::size_t member;
        std::string job;
        item_index item;
        session_generation generation;
        std::int64_t token;
    };
    void note(heard h);
    void begin_run(std::size_t number, std::string const& job, item_index item, std::int64_t token);
    void end_run(std::size_t number, std::string const& job, item_index item);
    std::vector<run> running_;
    std::map<std::pair<std::string, item_index>, std::int64_t> last_token_;
};

inline void on_loop(cluster& c, std::function<void()> f) {
    post(c.loop, std::move(f));
    c.loop.run_ready();
}

// Faults of a member's session.

inline void disconnect(cluster& c, member& m) {
    on_loop(c, [&m] { m.registry.disconnect(); });
}
inline void reconnect(cluster& c, member& m) {
    on_loop(c, [&m] { m.registry.reconnect(); });
}
inline void expire(cluster& c, member& m) {
    on_loop(c, [&m] { m.registry.expire(); });
}

// For the job `settle`, the usual name in tests.

inline run_record record_of(cluster const& c, item_index i) {
    return run_record::parse(c.data("/settle/ext/run/" + std::to_string(i))).value();
}
/// The items of an instance.
inline std::vector<item_index> share_of(cluster const& c, std::string const& id, item_index count) {
    std::vector<item_index> share;
    for (item_index i = 0; i < count; ++i)
        if (c.owner("settle", i) == id) share.push_back(i);
    return share;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_CLUSTER_HPP
