// SPDX-License-Identifier: Apache-2.0
// Jobs on a real ensemble of three servers, in real processes, under faults of every kind: test/soak starts it.
//
//     soak [--hours N | --seconds N] [--seed S] [--act-seconds N] [--directory D] [--other-worker PROGRAM]
//          [--without FAULT]...
//     soak --check LOG        judges the log of an earlier soak again
//
// It plays acts. In each, faults happen as the seed says; then they end, and the jobs come to rest, and soak_checker
// judges what has been written since. With another worker, such as test/cluster/worker.cpp built at an earlier version,
// every second process is that program. Exit code: 0, nothing was found; 1, something was; 2, the arguments; 3, no soak
// was possible, or the servers did not come back or lost a write; 77, Java or the server's jar is missing.
#include <cluster/member.hpp>
#include <integration/ensemble_lab.hpp>
#include <soaking/soak_log.hpp>
#include <soaking/soak_plan.hpp>
#include <soaking/soak_report.hpp>
#include <soaking/soak_tools.hpp>
#include <support/places.hpp>

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>
#include <elasticjob/operations/stop_run.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>
#include <elasticjob/registry/list_below.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <set>

namespace {

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;
using mono = std::chrono::steady_clock;

constexpr milliseconds session_timeout{2000}, body{700};
constexpr milliseconds slack{4000}; ///< for a machine that does other work
constexpr std::size_t worker_slots = 5, java_slots = 2;

std::int64_t wall_ms() { return std::chrono::system_clock::now().time_since_epoch() / 1ms; }

struct soak_settings {
    std::chrono::duration<double> length = 1h;
    std::uint64_t seed = 1;
    milliseconds act = 60s;
    std::filesystem::path directory = "soak";
    std::string other_worker{}; ///< a program; empty: none
    std::set<std::string, std::less<>> without{};
    std::optional<std::filesystem::path> log{}; ///< to be judged
};

std::optional<soak_settings> parse(int count, char** words) {
    soak_settings s;
    for (int i = 1; i + 1 < count; i += 2) {
        std::string_view const key = words[i];
        std::string const value = words[i + 1];
        char* end = nullptr;
        double const number = std::strtod(value.c_str(), &end);
        bool const is_number = *end == '\0' && number > 0;
        if (key == "--directory")
            s.directory = value;
        else if (key == "--other-worker")
            s.other_worker = value;
        else if (key == "--without" && std::ranges::find(soak_fault_names, value) != soak_fault_names.end())
            s.without.insert(value);
        else if (key == "--check")
            s.log = value;
        else if (key == "--hours" && is_number)
            s.length = std::chrono::duration<double>{number * 3600};
        else if (key == "--seconds" && is_number)
            s.length = std::chrono::duration<double>{number};
        else if (key == "--act-seconds" && is_number)
            s.act = milliseconds{static_cast<std::int64_t>(number * 1000)};
        else if (key == "--seed" && is_number)
            s.seed = std::strtoull(value.c_str(), nullptr, 10);
        else
            return std::nullopt;
    }
    if (count % 2 == 0) return std::nullopt;
    return s;
}

// The jobs.

struct soaked_job {
    job_config config;
    int step_s;
    bool is_full;
    bool has_java;
};

job_config make_job(std::string name, int step_s, int items) {
    job_config c;
    c.name = std::move(name);
    c.cron = "0/" + std::to_string(step_s) + " * * * * ?";
    c.sharding_total_count = items;
    return c;
}

/// Early versions drop instants without a record when a schedule changes. So with another worker, the job whose
/// schedule changes is not accounted for.
std::vector<soaked_job> make_jobs(bool has_other_worker) {
    auto strict = make_job("strict", 2, 6);
    strict.failover = true;
    auto dropping = make_job("dropping", 3, 4); // misfires are skipped, and interrupted runs stay interrupted
    dropping.misfire = false;
    auto mixed = make_job("mixed", 3, 4);
    mixed.failover = true;
    mixed.job_class = "com.example.NodeJob";
    auto spare = make_job("spare", 2, 2);
    spare.failover = true;
    return {{strict, 2, true, false},
            {dropping, 3, !has_other_worker, false},
            {mixed, 3, false, true},
            {spare, 2, false, false}};
}

// Processes.

/// A place for one process after the other, with a wire to each server.
struct slot {
    std::string name, ip;
    bool is_java;
    std::vector<std::unique_ptr<tcp_proxy>> wires{};
    std::unique_ptr<member> process{};
    int generation = 0;
    bool is_busy = false;  ///< something is being done to it
    bool is_going = false; ///< it has been asked to leave
    mono::time_point start_at = mono::time_point::min();
};

class soak {
public:
    soak(soak_settings const& s, small_disk& disk)
        : settings_{s},
          disk_{disk},
          log_{s.directory / "soak.log"},
          offset_{s.directory / "clock-offset"},
          jobs_{make_jobs(!s.other_worker.empty())},
          servers_{ensemble_options{true, 4, s.directory / "servers", disk.data()}},
          registry_{connect()} {
        log_.say("limits " + std::to_string(session_timeout.count()) + " " + std::to_string(zk_ensemble::tick.count()) +
                 " " + std::to_string(slack.count()));
        for (auto const& j : jobs_)
            log_.say(j.config.name, "job " + std::to_string(j.config.sharding_total_count) + " " +
                                        std::to_string(j.step_s) + (j.config.failover ? " 1 " : " 0 ") +
                                        (j.is_full ? "full" : "loose"));
        for (std::size_t n = 0; n < worker_slots + java_slots; ++n) {
            bool const is_java = n >= worker_slots;
            auto const number = std::to_string(n + 1);
            auto& s2 = slots_.emplace_back(slot{(is_java ? "java" : "w") + number, "10.0.0." + number, is_java});
            for (int server = 1; server <= 3; ++server)
                s2.wires.push_back(std::make_unique<tcp_proxy>(servers_.port(server)));
        }
        watch();
    }
    ~soak() {
        on_loop([this] { watches_.clear(); });
    }

    void play() {
        auto const until = mono::now() + std::chrono::duration_cast<mono::duration>(settings_.length);
        for (auto& s : slots_) start(s);
        reach_rest();
        for (auto const& j : jobs_) log_.say(j.config.name, "accounted " + std::to_string(wall_ms()));
        auto const is_sound = [&] {
            return log_.checker().violations().empty() && log_.checker().lost_write().empty();
        };
        for (std::uint64_t n = 0; (n == 0 || mono::now() < until) && is_sound(); ++n) {
            auto const left = std::chrono::duration_cast<milliseconds>(until - mono::now());
            act(n, std::min(settings_.act, std::max<milliseconds>(left, 10s)));
            come_to_rest();
            log_.say("rested"); // the checker takes it, and judges, when all earlier lines have arrived
            for (auto const judged = mono::now() + 1100ms; mono::now() < judged;) pump(20ms);
            progress(n);
        }
        leave();
    }

    soak_log const& log() const noexcept { return log_; }

private:
    // Observing.

    ZkRegistry connect() const { return connect(servers_.endpoints()); }
    static ZkRegistry connect(std::string servers) {
        zk_options o;
        o.servers = std::move(servers);
        o.name_space = "soak";
        o.session_timeout = 60s;
        auto r = ZkRegistry::connect(o);
        if (!r) throw no_soak{to_string(r.error())};
        return *std::move(r);
    }
    template <class F>
    void on_loop(F f) {
        auto call = [](F g) -> task<result<void>> {
            g();
            co_return success();
        };
        (void)block_on(registry_.loop(), call(std::move(f)));
    }
    void watch() {
        on_loop([this] {
            for (auto const& j : jobs_) {
                auto const& name = j.config.name;
                watches_.push_back(
                    std::make_unique<job_watch>(registry_, job_layout{*job_name::parse(name)}, name, log_.queue()));
            }
        });
    }
    job_layout layout(std::string const& job) const { return job_layout{*job_name::parse(job)}; }

    template <class T>
    result<T> ask(task<result<T>> t, milliseconds limit = 5s) {
        auto& l = registry_.loop();
        return block_on(l, within(l, l.now() + limit, std::move(t)));
    }

    /// The nodes of all jobs, if they can be read.
    std::optional<std::map<std::string, soak_tree>> read_trees() {
        std::map<std::string, soak_tree> all;
        for (auto const& j : jobs_) {
            auto const root = layout(j.config.name).root();
            auto const paths = ask(list_below(registry_, root));
            if (!paths) return std::nullopt;
            for (auto const& path : *paths) {
                auto const asked_us = soak_now_us();
                auto n = ask(registry_.get(path));
                if (!n && n.error() == errc::no_node) continue;
                if (!n) return std::nullopt;
                char session[20] = "";
                if (n->stat.owner != 0)
                    std::snprintf(session, sizeof session, "0x%llx", static_cast<unsigned long long>(n->stat.owner));
                if (path.str().size() > root.str().size())
                    all[j.config.name][path.str().substr(root.str().size() + 1)] = {session, std::move(n->data),
                                                                                    n->stat.version, asked_us};
            }
        }
        return all;
    }
    void log_trees(std::map<std::string, soak_tree> const& trees) {
        log_.say("rest " + std::to_string(wall_ms()));
        for (auto const& [job, tree] : trees)
            for (auto const& [path, n] : tree)
                log_.queue().put(std::to_string(soak_now_us()) + " tree " + job + " node " + path + " " +
                                 (n.session.empty() ? "-" : n.session) + " " + escaped(n.data) + " " +
                                 std::to_string(n.version) + " " + std::to_string(n.asked_us));
    }

    // Time.

    /// Reads the processes' lines, and does due work.
    void pump(milliseconds span) {
        std::vector<pollfd> ends;
        std::vector<member*> whose;
        auto const watch_output = [&](member* m) {
            if (!m || m->output() < 0) return;
            ends.push_back({m->output(), POLLIN, 0});
            whose.push_back(m);
        };
        for (auto& s : slots_) watch_output(s.process.get());
        for (auto& m : former_) watch_output(m.get());
        ::poll(ends.data(), ends.size(), static_cast<int>(span.count()));
        for (std::size_t n = 0; n < ends.size(); ++n)
            if (ends[n].revents != 0) whose[n]->read();
        for (auto& s : slots_)
            if (s.process) log_.take(*s.process);
        for (auto& m : former_) log_.take(*m);
        std::erase_if(former_, [](auto const& m) { return m->output() < 0; });
        tend();
        while (!endings_.empty() && endings_.begin()->first <= mono::now()) end_first();
        take_up_commands(false);
        log_.flush(1s);
    }
    /// Passes due commands, or all, to the operators.
    void take_up_commands(bool all) {
        std::lock_guard const lock{second_commands_mutex_};
        auto const is_given = [&](auto const& c) {
            return (all || c.first <= mono::now()) && commands_.try_post(c.second);
        };
        std::erase_if(second_commands_, is_given);
    }
    /// The same as `later`, for a command, from the operators' thread.
    void command_later(milliseconds span, std::function<void()> f) {
        std::lock_guard const lock{second_commands_mutex_};
        second_commands_.emplace_back(mono::now() + span, std::move(f));
    }
    bool have_commands_ended() {
        take_up_commands(true);
        std::lock_guard const lock{second_commands_mutex_};
        return second_commands_.empty() && commands_.is_idle();
    }
    void end_first() {
        auto const f = std::move(endings_.begin()->second);
        endings_.erase(endings_.begin());
        f();
    }
    void end_all() {
        while (!endings_.empty()) end_first();
    }
    void later(milliseconds span, std::function<void()> f) { endings_.emplace(mono::now() + span, std::move(f)); }

    /// Starts missing processes, logs ended ones, and checks whether the servers are whole.
    void tend() {
        for (auto& s : slots_) {
            if (s.process && s.process->has_ended() && !s.is_busy) {
                bool const has_crashed = s.process->has_crashed() || (s.process->exit_code() < 0);
                log_.say((has_crashed ? "crashed " : "ended ") + s.process->name() + " " +
                         escaped(s.process->how_it_ended()));
                put_away(s);
                s.is_going = false;
                s.start_at = std::max(s.start_at, mono::now() + 500ms);
            }
            if (!s.process && !is_over_ && s.start_at <= mono::now()) start(s);
        }
        if (!is_over_) replace_some();
        // A server that runs on when there is space again loses writes (ZOOKEEPER-4882).
        if (is_disk_full_ && servers_.is_running(3) && servers_.has_failed(3)) servers_.kill(3);
        if (!is_disturbed_ || is_server_busy_ || mono::now() < look_at_servers_) return;
        for (int n = 1; n <= 3; ++n)
            if (!servers_.is_running(n)) servers_.start_soon(n);
        look_at_servers_ = mono::now() + 500ms;
        if (!servers_.is_whole()) {
            whole_since_.reset();
            return;
        }
        auto const leader = servers_.leader();
        auto const commit = servers_.last_commit(leader);
        if (!whole_since_) {
            whole_since_ = {mono::now(), commit};
        } else if (commit != whole_since_->second) {
            log_.say("whole");
            is_disturbed_ = false;
            whole_since_.reset();
        } else if (leader != 0 && mono::now() > whole_since_->first + 10s) {
            // In ZooKeeper 3.8.0 the acknowledgement of a follower that is just joining may be lost. The leader then
            // commits nothing more, although both followers are in sync (ZOOKEEPER-4685).
            log_.say("stood_still " + std::to_string(leader));
            servers_.kill(leader);
            whole_since_.reset();
        }
    }

    void put_away(slot& s) { former_.push_back(std::move(s.process)); }

    void start(slot& s) {
        ++s.generation;
        std::string servers;
        for (auto const& w : s.wires) servers += (servers.empty() ? "" : ",") + w->endpoint();
        std::vector<std::string> words;
        member_options o;
        o.errors = (settings_.directory / "errors.log").string();
        auto const number = [](auto n) { return std::to_string(n.count()); };
        if (s.is_java) {
            auto const j = std::ranges::find_if(jobs_, &soaked_job::has_java);
            o.program = built_path("soak_java_peer");
            words = {servers,     "soak", number(session_timeout), s.ip, to_json(j->config), std::to_string(j->step_s),
                     number(body)};
        } else {
            words = {"--servers",   servers, "--namespace", "soak", "--session-ms", number(session_timeout),
                     "--server-ip", s.ip,    "--drain-ms",  "1500", "--body-ms",    number(body)};
            for (auto const& j : jobs_) {
                words.push_back("--config");
                words.push_back(to_json(j.config));
            }
            if (has_own_clock(s)) o.variables = offset_.variables();
            if (is_of_other_version(s))
                o.program = settings_.other_worker;
            else if (s.generation % 2 != 0)
                words.insert(words.end(), {"--ahead-ms", "100"});
        }
        auto const name = s.name + "." + std::to_string(s.generation);
        std::string joins;
        for (auto const& j : jobs_)
            if (!s.is_java || j.has_java) joins += " " + j.config.name;
        log_.say("started " + name + " " + s.ip + joins);
        s.process = std::make_unique<member>(name, std::move(words), o);
    }
    /// Neighbours differ, and so do successive processes of one slot.
    bool is_of_other_version(slot const& s) const {
        return !settings_.other_worker.empty() && (s.name.back() + s.generation) % 2 != 0;
    }
    bool has_own_clock(slot const& s) const { return &s == &slots_[worker_slots - 1]; }

    // Acts.

    void act(std::uint64_t number, milliseconds length) {
        auto const begin = mono::now();
        for (auto const& d : make_soak_plan(settings_.seed, number, length)) {
            if (settings_.without.contains(name_of(d.what))) continue;
            while (mono::now() < begin + d.after) pump(20ms);
            if (d.what >= soak_fault::trigger_job && d.what <= soak_fault::remove_and_restore)
                give(d);
            else
                note(d, carry_out(d));
        }
        while (mono::now() < begin + length) pump(20ms);
    }

    void note(soak_deed const& d, bool was_possible) {
        log_.say((was_possible ? "fault " : "refused ") + std::string{name_of(d.what)});
    }
    /// For the operators, whose commands may take long.
    void give(soak_deed const& d) {
        if (!commands_.try_post([this, d] { note(d, command(d)); })) note(d, false);
    }

    /// All faults end, and everything that operators have disabled is enabled.
    void come_to_rest() {
        end_all();
        auto const deadline = mono::now() + 90s;
        while (is_disturbed_) {
            if (mono::now() > deadline) throw no_soak{"the servers did not come back\n" + servers_.logs()};
            pump(50ms);
        }
        repeat_until_done([this] { return have_commands_ended(); });
        repeat_until_done([this] { return calm(); });
        reach_rest();
    }

    void reach_rest() {
        std::optional<std::map<std::string, soak_tree>> trees;
        std::string why = "the registry cannot be read";
        for (auto const deadline = mono::now() + 60s; mono::now() < deadline && !why.empty();) {
            for (auto const until = mono::now() + 500ms; mono::now() < until;) pump(20ms);
            trees = read_trees();
            pump(20ms);
            log_.flush(-1s);
            if (trees) why = log_.checker().find_unsettled(*trees, wall_ms());
        }
        if (!trees) throw no_soak{why};
        log_trees(*trees);
    }

    template <class F>
    void repeat_until_done(F f) {
        for (auto const deadline = mono::now() + 60s; !f();) {
            if (mono::now() > deadline)
                throw no_soak{"an operator's command could not be carried out in a minute" + find_difference()};
            pump(200ms);
        }
    }

    /// Whether the servers differ in nodes that only operators change. Otherwise an empty text. ZooKeeper 3.8.0 can end
    /// up so after leaders have died or were cut off: then a server serves a write for good that the others do not
    /// have, and refuses all changes of that node.
    std::string find_difference() {
        std::map<std::string, std::array<std::string, 3>> versions;
        for (int server = 1; server <= 3; ++server) {
            auto one = connect(servers_.endpoint(server));
            for (auto const& j : jobs_) {
                auto const at = layout(j.config.name);
                for (auto const& path : {at.config(), at.audit()}) {
                    auto const n = block_on(one.loop(), within(one.loop(), one.loop().now() + 5s, one.exists(path)));
                    auto& text = versions[path.str()][static_cast<std::size_t>(server - 1)];
                    text = !n ? "unknown" : !*n ? "absent" : std::to_string((*n)->version);
                }
            }
        }
        for (auto const& [path, of] : versions)
            if (of[0] != of[1] || of[1] != of[2])
                return ": NO VERDICT, the servers differ for good: the versions of " + path + " are " + of[0] + ", " +
                       of[1] + " and " + of[2];
        return {};
    }

    bool calm() {
        bool is_done = look_at_orders() && look_at_schedule() && look_at_removed();
        for (auto const& j : jobs_) {
            auto const& job = j.config.name;
            auto const listed = list_pauses(registry_, job);
            is_done &= listed.has_value();
            if (!listed) continue;
            for (auto const& p : *listed) {
                auto const resumed =
                    p.server.empty() ? resume_job(registry_, job, by_) : resume_server(registry_, job, p.server, by_);
                is_done &= resumed.has_value();
            }
            is_done &= switch_job(registry_, job, switched::on, by_).has_value();
            for (auto const& s : slots_) log_.say(job, "on " + s.ip);
            for (int i = 0; i < j.config.sharding_total_count; ++i)
                is_done &= switch_item(registry_, job, static_cast<item_index>(i), switched::on, by_).has_value();
        }
        return is_done && set_items(false);
    }

    void leave() {
        is_over_ = true;
        for (auto& s : slots_)
            if (s.process && !s.is_going) dismiss(s);
        auto const is_there = [](slot const& s) { return s.process != nullptr; };
        for (auto const deadline = mono::now() + 60s; mono::now() < deadline && std::ranges::any_of(slots_, is_there);)
            pump(50ms);
        for (auto& s : slots_)
            if (s.process) log_.say("crashed " + s.process->name() + " it\\sdoes\\snot\\sleave");
        std::optional<std::map<std::string, soak_tree>> trees;
        for (auto const deadline = mono::now() + 10s; !trees && mono::now() < deadline; trees = read_trees())
            pump(100ms);
        if (!trees) throw no_soak{"the registry cannot be read"};
        pump(100ms);
        log_trees(*trees);
        log_.say("over");
        log_.flush(-1s);
    }

    void progress(std::uint64_t number) const {
        auto counts = log_.checker().totals().counts;
        std::cout << "act " << number + 1 << ": " << counts["runs"] << " runs, " << counts["failovers"]
                  << " failovers, " << log_.checker().violations().size() << " violations" << std::endl;
    }

    // Faults. Each says whether it was possible.

    bool carry_out(soak_deed const& d) {
        if (d.what <= soak_fault::step_clock) return harm(find_worker(d), d);
        if (d.what <= soak_fault::lose_quorum) return harm_servers(d);
        if (d.what >= soak_fault::kill_java) {
            auto& s = slots_[worker_slots + d.target % java_slots];
            return harm(s.process && !s.is_busy && !s.is_going ? &s : nullptr, d);
        }
        return command(d);
    }

    bool is_well(slot const& s) const { return s.process && !s.is_busy && !s.is_going; }

    /// A healthy one, if another one is healthy too.
    slot* find_worker(soak_deed const& d) {
        std::vector<slot*> well;
        for (std::size_t n = 0; n < worker_slots; ++n)
            if (is_well(slots_[n])) well.push_back(&slots_[n]);
        if (well.size() < 2) return nullptr;
        if (d.what == soak_fault::kill_leading_worker) {
            auto const leader = ask(registry_.get(layout("strict").leader_instance()), 300ms);
            for (auto* s : well)
                if (leader && leader->data.starts_with(s->ip + "@-@")) return s;
            return nullptr;
        }
        if (d.what == soak_fault::step_clock) {
            auto& s = slots_[worker_slots - 1];
            return is_well(s) ? &s : nullptr;
        }
        return well[d.target % well.size()];
    }

    void dismiss(slot& s) {
        if (s.process->has_ended()) return; // `tend` logs it
        log_.say("terminated " + s.process->name());
        s.process->terminate();
        s.is_going = true;
    }

    bool harm(slot* s, soak_deed const& d) {
        if (!s || s->process->has_ended()) return false;
        auto const& name = s->process->name();
        auto const said = [&](char const* what) { log_.say(std::string{what} + " " + name); };
        switch (d.what) {
        case soak_fault::kill_worker:
        case soak_fault::kill_leading_worker:
        case soak_fault::kill_java:
            s->process->kill();
            said("killed");
            put_away(*s);
            s->start_at = mono::now() + d.span;
            return true;
        case soak_fault::dismiss_worker:
        case soak_fault::dismiss_java:
            dismiss(*s);
            s->start_at = mono::now() + d.span;
            return true;
        case soak_fault::freeze_worker:
        case soak_fault::suspend_worker:
        case soak_fault::freeze_java:
            said("frozen");
            s->process->freeze();
            return hold(*s, d.span, [this, s] {
                s->process->thaw();
                log_.say("thawed " + s->process->name());
            });
        case soak_fault::cut_worker:
            said("cut");
            for (auto& w : s->wires) w->cut();
            said("mended");
            return true;
        case soak_fault::isolate_worker:
        case soak_fault::deafen_worker:
            said("cut");
            for (auto& w : s->wires) {
                w->set_replies(d.what == soak_fault::deafen_worker ? wire::lossy : wire::held);
                if (d.what == soak_fault::isolate_worker) w->set_requests(wire::held);
            }
            return hold_wires(*s, d.span);
        case soak_fault::slow_worker:
            said("slowed");
            for (auto& w : s->wires) w->set_delay(milliseconds{20 + d.target % 180});
            return hold_wires(*s, d.span);
        default: // step_clock
            offset_.set(
                milliseconds{(d.target % 2 == 0 ? 1 : -1) * static_cast<std::int64_t>(1000 + d.target % 14'000)});
            return hold(*s, d.span, [this] { offset_.set(0ms); });
        }
    }
    template <class F>
    bool hold(slot& s, milliseconds span, F end) {
        s.is_busy = true;
        later(span, [&s, end] {
            if (!s.process->has_ended()) end();
            s.is_busy = false;
        });
        return true;
    }
    bool hold_wires(slot& s, milliseconds span) {
        return hold(s, span, [this, &s] {
            for (auto& w : s.wires) w->cut_and_repair();
            log_.say("mended " + s.process->name());
        });
    }

    // One fault of the servers at a time, so that it is known when they are whole again.
    bool harm_servers(soak_deed const& d) {
        if (is_disturbed_ || (d.what == soak_fault::fill_disk && !disk_)) return false;
        int n = static_cast<int>(d.target % 3) + 1;
        if (d.what == soak_fault::kill_leading_server) n = servers_.leader();
        if (n == 0) return false;
        is_disturbed_ = is_server_busy_ = true;
        log_.say("disturbed " + std::string{name_of(d.what)});
        auto const until_over = [&](auto end) {
            later(d.span, [this, end] {
                end();
                is_server_busy_ = false;
            });
            return true;
        };
        switch (d.what) {
        case soak_fault::kill_server:
        case soak_fault::kill_leading_server:
            servers_.kill(n);
            return until_over([] {}); // `tend` starts it
        case soak_fault::lose_quorum:
            servers_.kill(n);
            servers_.kill(n % 3 + 1);
            return until_over([] {});
        case soak_fault::freeze_server:
            servers_.pause(n);
            return until_over([this, n] { servers_.resume(n); });
        case soak_fault::isolate_server:
            servers_.cut_off(n);
            return until_over([this, n] { servers_.join(n); });
        case soak_fault::slow_server:
            servers_.slow_down(n, milliseconds{10 + d.target % 90});
            return until_over([this, n] { servers_.slow_down(n, 0ms); });
        default: // fill_disk
            disk_.fill();
            is_disk_full_ = true;
            return until_over([this] {
                servers_.kill(3); // even if it has not failed yet
                is_disk_full_ = false;
                disk_.free();
            });
        }
    }

    // Operators' commands. A command that the other faults make impossible is refused.

    bool command(soak_deed const& d) {
        auto const job = std::string{d.target % 2 == 0 ? "strict" : "dropping"};
        auto const item = static_cast<item_index>(d.target / 2 % 4);
        auto const& server = slots_[d.target / 2 % worker_slots].ip;
        switch (d.what) {
        case soak_fault::trigger_job:
            (void)trigger_job(registry_, "strict", by_);
            (void)look_at_orders();
            return true;
        case soak_fault::trigger_server:
            return trigger_server(registry_, d.target % 2 == 0 ? "mixed" : "dropping", server, by_).has_value();
        case soak_fault::trigger_item:
            return trigger_item(registry_, "dropping", item, by_).has_value();
        case soak_fault::pause_job:
            return switch_for_a_while(d, pause_job(registry_, job, by_),
                                      [this, job] { (void)resume_job(registry_, job, by_); });
        case soak_fault::pause_server:
            return switch_for_a_while(d, pause_server(registry_, job, server, by_),
                                      [this, job, server] { (void)resume_server(registry_, job, server, by_); });
        case soak_fault::disable_server:
            log_.say(job, "off " + server);
            return switch_for_a_while(d, switch_server(registry_, job, server, switched::off, by_),
                                      [this, job, server] {
                                          if (switch_server(registry_, job, server, switched::on, by_))
                                              log_.say(job, "on " + server);
                                      });
        case soak_fault::disable_item:
            return switch_for_a_while(d, switch_item(registry_, job, item, switched::off, by_), [this, job, item] {
                (void)switch_item(registry_, job, item, switched::on, by_);
            });
        case soak_fault::edit_schedule:
            return edit("dropping", [this](job_config& c) {
                c.cron = "0/" + std::to_string(schedule_step_s_ == 3 ? 4 : 3) + " * * * * ?";
            });
        case soak_fault::edit_items:
            command_later(d.span, [this] { (void)set_items(false); });
            return set_items(true);
        case soak_fault::edit_parameter:
            return edit(job, [&](job_config& c) { c.job_parameter = std::to_string(d.target); });
        case soak_fault::stop_run:
            return stop_run(registry_, "strict", item, 1500ms).has_value();
        default:
            return remove_and_restore(d);
        }
    }

    template <class F>
    bool switch_for_a_while(soak_deed const& d, result<command_result> const& switched_off, F on) {
        command_later(d.span, on); // also after an unknown outcome
        return switched_off.has_value();
    }

    template <class F>
    bool edit(std::string const& job, F change) {
        auto now = read_settings(registry_, job);
        if (!now) return false;
        settings_change wanted{now->config};
        change(wanted.config);
        auto const done = change_settings(registry_, std::move(wanted), by_);
        (void)look_at_schedule();
        return done.has_value();
    }

    bool set_items(bool more) {
        return edit("strict", [&](job_config& c) { c.sharding_total_count = more ? 8 : 6; });
    }

    /// Notes the last order to run, even if it is not known whether it was given.
    bool look_at_orders() {
        auto const there = ask(registry_.exists(layout("strict").orders()));
        if (!there) return false;
        if (*there && (*there)->version > 0 && (*there)->modified != last_order_) {
            last_order_ = (*there)->modified;
            log_.say("strict",
                     "ordered " + std::to_string(last_order_) + " " + std::to_string((*there)->modified_at_ms));
        }
        return true;
    }

    /// The same for the configuration, in which the schedule is.
    bool look_at_schedule() {
        auto const there = ask(registry_.get(layout("dropping").config()));
        auto const config = there ? from_json(there->data) : result<std::optional<job_config>>{there.error()};
        if (!config || !*config) return false;
        schedule_step_s_ = (*config)->cron.starts_with("0/3") ? 3 : 4;
        auto const& stat = there->stat;
        if (std::exchange(last_edit_, stat.modified) != stat.modified)
            log_.say("dropping",
                     "edited " + std::to_string(stat.modified_at_ms) + " " + std::to_string(schedule_step_s_));
        return true;
    }

    /// The instances of the job leave it, and some of them come back once it is restored.
    bool remove_and_restore(soak_deed const& d) {
        if (std::exchange(is_removed_, true)) return false;
        log_.say("spare", "removed");
        (void)remove_job(registry_, "spare", by_, 5s);
        command_later(d.span, [this] { (void)look_at_removed(); });
        return true;
    }

    bool look_at_removed() {
        if (!is_removed_) return true;
        if (!remove_job(registry_, "spare", by_, 5s)) return false; // the first call may not have seen its end
        if (!restore_job(registry_, "spare", by_, 5s)) return false;
        log_.say("spare", "restored");
        is_removed_ = false;
        replaced_ = 2;
        return true;
    }

    /// So that members join the job that was removed.
    void replace_some() {
        for (std::size_t n = 0; n < worker_slots && replaced_ > 0; ++n)
            if (is_well(slots_[n])) {
                dismiss(slots_[n]);
                --replaced_;
            }
    }

    soak_settings settings_;
    small_disk& disk_;
    soak_log log_;
    clock_offset offset_;
    std::vector<soaked_job> jobs_;
    zk_ensemble servers_;
    ZkRegistry registry_;
    command_by by_{"soak"};
    std::deque<slot> slots_;
    std::list<std::unique_ptr<member>> former_; ///< whose last lines are still to be read
    std::vector<std::unique_ptr<job_watch>> watches_;
    std::multimap<mono::time_point, std::function<void()>> endings_;
    bool is_disturbed_ = false, is_server_busy_ = false, is_disk_full_ = false, is_over_ = false;
    std::optional<std::pair<mono::time_point, std::string>> whole_since_; ///< and what was committed then
    mono::time_point look_at_servers_{};
    std::mutex second_commands_mutex_;
    std::list<std::pair<mono::time_point, std::function<void()>>> second_commands_; ///< which undo the first ones
    // Of the operators; the main thread looks at them while the operators are idle.
    revision last_order_ = 0, last_edit_ = 0;
    int schedule_step_s_ = 3;
    bool is_removed_ = false;
    std::atomic<int> replaced_ = 0;
    command_thread commands_; ///< last: it uses all of the above
};

int conclude(soak_checker const& c, soak_settings const& s, std::filesystem::path const& log) {
    print_summary(c);
    if (!c.lost_write().empty()) {
        std::cout << "NO VERDICT: the servers have lost a write that they had confirmed: " << c.lost_write()
                  << ", seed " << s.seed << ", log " << log.string() << '\n';
        return 3;
    }
    if (c.violations().empty()) return 0;
    std::cout << "FAILED: seed " << s.seed << ", log " << log.string() << '\n';
    print_surroundings(c.violations().front(), log);
    return 1;
}

int check_log(soak_settings const& s) {
    std::ifstream file{*s.log};
    if (!file) throw no_soak{"cannot read " + s.log->string(), 2};
    soak_checker c;
    for (std::string text; std::getline(file, text);)
        if (auto const l = soak_line::parse(text)) c.take(*l);
    return conclude(c, s, *s.log);
}

void check_prerequisites() {
    auto const* classes = std::getenv("ZOOKEEPER_CLASSPATH");
    if (!classes && !std::filesystem::exists("/usr/share/java/zookeeper.jar"))
        throw no_soak{"skipped: ZooKeeper's server is not installed (Debian: libzookeeper-java)", 77};
    if (!std::getenv("JAVA_HOME") && std::system("command -v java >/dev/null") != 0)
        throw no_soak{"skipped: java is not installed (Debian: default-jre-headless)", 77};
}

int carry_out(soak_settings s) {
    if (s.log) return check_log(s);
    check_prerequisites();
    s.directory = std::filesystem::absolute(s.directory);
    std::filesystem::remove_all(s.directory / "servers");
    std::filesystem::create_directories(s.directory / "servers");
    std::cout << "seed " << s.seed << ", " << s.length.count() << " s, log " << (s.directory / "soak.log").string()
              << std::endl;
    small_disk disk{s.directory / "small-disk"};
    soak all{s, disk};
    try {
        all.play();
    } catch (std::runtime_error const& e) {
        print_summary(all.log().checker());
        std::cout << "seed " << s.seed << ", log " << s.directory.string() << ": " << e.what() << '\n';
        return 3;
    }
    return conclude(all.log().checker(), s, s.directory / "soak.log");
}

} // namespace

int main(int count, char** words) {
    auto const s = parse(count, words);
    if (!s) {
        std::cerr
            << "soak [--hours N | --seconds N] [--seed S] [--act-seconds N] [--directory D] [--other-worker PROGRAM] "
               "[--without FAULT]... | --check LOG\n";
        return 2;
    }
    try {
        return carry_out(*s);
    } catch (no_soak const& e) {
        std::cout << e.what() << std::endl;
        return e.exit_code;
    } catch (std::exception const& e) {
        std::cout << "no soak: " << e.what() << std::endl;
        return 3;
    }
}
