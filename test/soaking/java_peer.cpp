// SPDX-License-Identifier: Apache-2.0
// One process of a soak: a member that imitates an instance of ElasticJob-Lite 2.1.5, node by node, in the order that
// recordings of such instances show. It reads the registry every few milliseconds where an instance of 2.1.5 has
// watches, and prints the same lines as cluster/worker.cpp. Its runs have the token 0 and the attempt 1. It leaves in
// order when it gets a SIGTERM or when its standard input ends.
//
//     java_peer SERVERS NAMESPACE SESSION_MS IP CONFIG STEP_S BODY_MS
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace elasticjob;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// A request failed or was refused; the next look tries again.
struct failed : std::runtime_error {
    using runtime_error::runtime_error;
};

struct settings {
    zk_options registry{};
    std::string ip{};
    job_config job{};
    milliseconds step{}, body{};
};

class java_like {
public:
    java_like(ZkRegistry& r, settings s, int signals)
        : registry_{&r},
          settings_{std::move(s)},
          at_{*job_name::parse(settings_.job.name)},
          items_{static_cast<item_index>(settings_.job.sharding_total_count)},
          id_{settings_.ip + "@-@" + std::to_string(::getpid())},
          signals_{signals} {}

    void live() {
        auto next = next_due();
        while (!pauses(20ms)) {
            try {
                if (!look()) break;
                if (is_ordered() || std::chrono::system_clock::now() >= next) {
                    auto const due = std::min(next, std::chrono::system_clock::now());
                    next = next_due();
                    fire(due);
                }
            } catch (failed const& f) {
                if (pauses(100ms)) break;
            }
        }
        try {
            leave();
        } catch (failed const&) { // then its session ends with the process
        }
        say("left");
    }

    void say(std::string const& what) const {
        auto const now = std::chrono::steady_clock::now().time_since_epoch();
        auto const text =
            std::to_string(now / std::chrono::microseconds{1}) + " " + settings_.job.name + " " + what + "\n";
        (void)!::write(STDOUT_FILENO, text.data(), text.size());
    }

private:
    /// Whether it is to leave, once some time has passed.
    bool pauses(milliseconds span) {
        pollfd ends[] = {{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        if (!is_leaving_) is_leaving_ = ::poll(ends, 2, static_cast<int>(span.count())) > 0;
        return is_leaving_;
    }
    /// The same, once a condition holds, or after ten seconds.
    template <class F>
    void wait_for(F condition) {
        for (int looks_left = 100; !condition(); --looks_left)
            if (looks_left == 0 || pauses(100ms)) throw failed{"waited in vain"};
    }

    wall_time next_due() const {
        auto const now = std::chrono::system_clock::now().time_since_epoch();
        return wall_time{now - now % settings_.step + settings_.step};
    }

    /// A node in a queue. The server adds a number to its name.
    struct candidate {
        node_path latch;
        std::string name;
        std::uint64_t generation; ///< of its session
    };

    // The registry.

    template <class T>
    result<T> ask(task<result<T>> t) {
        auto& l = registry_->loop();
        return block_on(l, within(l, l.now() + 5s, std::move(t)));
    }
    template <class T>
    T must(task<result<T>> t) {
        auto done = ask(std::move(t));
        if (!done) throw failed{to_string(done.error())};
        return *std::move(done);
    }
    session_view session() {
        auto view = [](ZkRegistry& r) -> task<result<session_view>> { co_return r.session(); };
        return must(view(*registry_));
    }
    std::optional<std::string> read(node_path path) {
        auto found = ask(registry_->get(std::move(path)));
        if (found) return std::move(found->data);
        if (found.error() == errc::no_node) return std::nullopt;
        throw failed{to_string(found.error())};
    }
    bool exists(node_path path) { return must(registry_->exists(std::move(path))).has_value(); }
    std::set<std::string> children(node_path path) {
        auto found = ask(registry_->children(std::move(path)));
        if (!found && !(found.error() == errc::no_node)) throw failed{to_string(found.error())};
        if (!found) return {};
        return {std::move_iterator{found->begin()}, std::move_iterator{found->end()}};
    }
    void put(node_path path, std::string data, create_mode mode) {
        auto const made = ask(registry_->create(std::move(path), std::move(data), mode));
        if (!made && !(made.error() == errc::node_exists)) throw failed{to_string(made.error())};
    }
    void persist(node_path path, std::string data = {}) {
        if (!exists(path)) put(std::move(path), std::move(data), create_mode::persistent);
    }
    /// As in 2.1.5, an existing node is replaced, whoever created it.
    void persist_ephemeral(node_path const& path, std::string data = {}) {
        remove(path);
        put(path, std::move(data), create_mode::ephemeral);
    }
    void remove(node_path path) {
        auto const done = ask(registry_->remove(std::move(path)));
        if (!done && !(done.error() == errc::no_node)) throw failed{to_string(done.error())};
    }

    /// One candidate at a time, in the order of their arrival.
    template <class F>
    void in_turn(node_path const& latch, F f) {
        remove_candidates();
        persist(latch);
        auto const chosen = "_c_" + random_.uuid() + "-latch-";
        candidates_.push_back({latch, chosen, session().generation.value});
        auto const created = must(registry_->create(latch / chosen, "", create_mode::ephemeral_sequential));
        auto const number = [](std::string const& name) { return name.substr(name.size() - 10); };
        auto const own = number(created.str());
        wait_for([&] {
            auto const all = children(latch);
            return std::ranges::all_of(all, [&](auto const& name) { return number(name) >= own; });
        });
        f();
        remove_candidates();
    }
    /// Removes also those that a lost connection or a lost reply has left in a queue, where they would block all
    /// others. As in Curator, a candidate is known by a name that was chosen before it was created. A server that lags
    /// behind may not show it yet, so it is looked for until its session has ended.
    void remove_candidates() {
        auto const is_over = [&](candidate const& own) {
            auto const there = children(own.latch);
            auto const at = std::ranges::find_if(there, [&](auto const& n) { return n.starts_with(own.name); });
            if (at == there.end()) return own.generation != session().generation.value;
            remove(own.latch / *at);
            return true;
        };
        for (auto at = candidates_.begin(); at != candidates_.end();)
            at = is_over(*at) ? candidates_.erase(at) : std::next(at);
    }

    // Membership and leadership.

    /// Whether it is still a member.
    bool look() {
        auto const now = session();
        if (now.state != session_state::connected) throw failed{"not connected"};
        if (now.generation.value != generation_)
            join(now);
        else if (!exists(at_.instances() / id_))
            return false; // an operator has shut it down
        remove_marks();
        remove_candidates();
        auto const is_enabled = read(at_.server(settings_.ip)).value_or("") != server_disabled;
        auto const leader = read(at_.leader_instance());
        if (!is_enabled && leader == id_) remove(at_.leader_instance());
        if (is_enabled && !leader) elect();
        auto const there = children(at_.instances());
        if (there != known_) {
            auto const before = std::exchange(known_, there);
            persist(at_.sharding_flags());
            persist(at_.sharding_necessary());
            for (auto const& id : before)
                if (!there.contains(id) && id != id_ && is_enabled) flag_items_of(id);
        }
        if (is_enabled) fail_over();
        return true;
    }

    void join(session_view const& now) {
        marked_.clear(); // they have ended with the session before
        persist(at_.root());
        persist(at_.config(), to_json(settings_.job));
        for (auto const& path : {at_.leader(), at_.election()}) persist(path);
        if (!exists(at_.leader_instance())) elect();
        for (auto const& path : {at_.servers(), at_.server(settings_.ip), at_.instances()}) persist(path);
        persist_ephemeral(at_.instances() / id_);
        for (auto const& path : {at_.sharding_flags(), at_.sharding_necessary()}) persist(path);
        known_ = children(at_.instances());
        generation_ = now.generation.value;
        char text[20];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(now.id));
        say("joined " + id_ + " " + text);
    }

    void elect() {
        in_turn(at_.election_latch(), [&] {
            if (exists(at_.leader_instance())) return;
            put(at_.leader_instance(), id_, create_mode::ephemeral);
            say("leads");
        });
    }

    void leave() {
        if (read(at_.leader_instance()) == id_) remove(at_.leader_instance());
        remove(at_.instances() / id_);
    }

    bool is_ordered() {
        if (read(at_.instances() / id_) != std::string{trigger_order}) return false;
        must(registry_->set(at_.instances() / id_, {}));
        return true;
    }

    // Sharding.

    std::vector<std::string> find_available() {
        auto const there = children(at_.instances());
        std::vector<std::string> found;
        for (auto id = there.rbegin(); id != there.rend(); ++id)
            if (read(at_.server(id->substr(0, id->find("@-@")))).value_or("") != server_disabled) found.push_back(*id);
        return found;
    }

    void shard_if_necessary() {
        auto const instances = find_available();
        if (instances.empty() || !exists(at_.sharding_necessary())) return;
        if (!read(at_.leader_instance())) elect();
        if (read(at_.leader_instance()) != id_) {
            wait_for([&] { return !exists(at_.sharding_necessary()) && !exists(at_.sharding_processing()); });
            return;
        }
        for (item_index i = 0; i < items_; ++i) wait_for([&] { return !exists(at_.item_running(i)); });
        persist_ephemeral(at_.sharding_processing());
        persist(at_.sharding());
        for (item_index i = 0; i < items_; ++i) {
            remove(at_.item_instance(i));
            persist(at_.item(i));
        }
        transaction t{session_generation{generation_}};
        t.check(at_.root());
        auto const each = items_ / instances.size();
        for (item_index i = 0; i < items_; ++i) {
            auto const slot = i < each * instances.size() ? i / each : i - each * instances.size();
            t.create(at_.item_instance(i), instances[slot]);
        }
        t.remove(at_.sharding_necessary()).remove(at_.sharding_processing());
        if (must(registry_->commit(std::move(t))).refused) throw failed{"the sharding was refused"};
    }

    // Failover.

    void flag_items_of(std::string const& dead) {
        std::vector<item_index> taken_over, own;
        for (item_index i = 0; i < items_; ++i) {
            if (read(at_.item_failover(i)) == dead) taken_over.push_back(i);
            if (read(at_.item_instance(i)) == dead) own.push_back(i);
        }
        for (auto const i : taken_over.empty() ? own : taken_over) {
            if (exists(at_.item_failover(i))) continue;
            persist(at_.leader() / "failover");
            persist(at_.failover_items());
            persist(at_.failover_item(i));
        }
    }

    void fail_over() {
        if (children(at_.failover_items()).empty()) return;
        std::optional<item_index> mine;
        in_turn(at_.leader() / "failover" / "latch", [&] {
            auto const flagged = children(at_.failover_items());
            if (flagged.empty()) return;
            auto const i = static_cast<item_index>(std::stoul(*flagged.begin()));
            if (i < items_ && !exists(at_.item_running(i))) {
                persist_ephemeral(at_.item_failover(i), id_);
                mine = i;
            }
            remove(at_.failover_item(i));
        });
        if (mine) fire(std::chrono::system_clock::now());
    }

    // Runs.

    void fire(wall_time due) {
        shard_if_necessary();
        if (read(at_.server(settings_.ip)).value_or("") == server_disabled) return;
        std::vector<item_index> taken_over, own;
        for (item_index i = 0; i < items_; ++i) {
            auto const by = read(at_.item_failover(i));
            if (by == id_) taken_over.push_back(i);
            if (!by && read(at_.item_instance(i)) == id_ && !exists(at_.item_disabled(i))) own.push_back(i);
        }
        bool const is_failover = !taken_over.empty();
        auto const& items = is_failover ? taken_over : own;
        for (auto const i : items)
            if (exists(at_.item_running(i))) {
                for (auto const missed : items) persist(at_.item(missed) / "misfire");
                return;
            }
        run(items, due);
        if (is_failover)
            for (auto const i : items) remove(at_.item_failover(i));
        for (bool is_missed = true; is_missed && !is_leaving_;) {
            is_missed = false;
            for (auto const i : items) is_missed |= exists(at_.item(i) / "misfire");
            for (auto const i : items) remove(at_.item(i) / "misfire");
            if (is_missed) run(items, due);
        }
    }

    void run(std::vector<item_index> const& items, wall_time due) {
        auto const ms = std::to_string(due.time_since_epoch() / 1ms);
        for (auto const i : items) {
            marked_.insert(i);
            persist_ephemeral(at_.item_running(i));
        }
        for (auto const i : items) say("runs " + item_name(i) + " " + ms + " - 0 1");
        pauses(settings_.body);
        for (auto const i : items) say("ran " + item_name(i) + " " + ms + " done 0");
        remove_marks();
    }

    /// Curator repeats requests that a lost connection has prevented; so does the next look.
    void remove_marks() {
        while (!marked_.empty()) {
            remove(at_.item_running(*marked_.begin()));
            marked_.erase(marked_.begin());
        }
    }

    ZkRegistry* registry_;
    settings settings_;
    job_layout at_;
    item_index items_;
    std::string id_;
    int signals_;
    bool is_leaving_ = false;
    std::uint64_t generation_ = 0;
    std::set<std::string> known_; ///< instances
    std::set<item_index> marked_; ///< as running
    std::vector<candidate> candidates_;
    random_source random_{random_source::machine_seed()};
};

} // namespace

int main(int count, char** words) {
    auto job = count == 8 ? from_json(words[5]) : result<std::optional<job_config>>{error{errc::invalid_argument}};
    if (!job || !*job) {
        std::fprintf(stderr, "java_peer: cannot read the arguments\n");
        return 2;
    }
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr); // before any thread is started
    settings s;
    s.registry.servers = words[1];
    s.registry.name_space = words[2];
    s.registry.session_timeout = milliseconds{std::stoi(words[3])};
    s.ip = words[4];
    s.job = **job;
    s.step = std::chrono::seconds{std::stoi(words[6])};
    s.body = milliseconds{std::stoi(words[7])};
    auto registry = ZkRegistry::connect(s.registry);
    if (!registry) return 1;
    java_like{*registry, std::move(s), ::signalfd(-1, &term, SFD_CLOEXEC)}.live();
    return 0;
}
