// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_SIMULATED_CLUSTER_IPP
#define ELASTICJOB_IMPL_TESTING_SIMULATED_CLUSTER_IPP

#include <elasticjob/testing/simulated_cluster.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL void simulated_cluster::add_nodes(std::uint32_t count) {
    for (; count > 0; --count) add_node("10.0.0." + std::to_string(nodes_.size() + 1));
}

ELASTICJOB_DECL void simulated_cluster::add_node(std::string ip) {
    auto const n = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::make_unique<machine>(*this, n, seed_of(100 + n)));
    observatory_.view.nodes.push_back({std::move(ip)});
    for (std::uint32_t j = 0; j < jobs_.size(); ++j) nodes_.back()->wants.insert(j);
}

ELASTICJOB_DECL void simulated_cluster::set_member(std::uint32_t node, std::uint32_t job, bool is_member) {
    auto& wants = nodes_[node]->wants;
    if (is_member)
        wants.insert(job);
    else
        wants.erase(job);
}

ELASTICJOB_DECL std::uint32_t simulated_cluster::add_version(library_version const& v) {
    versions_.push_back(v);
    return static_cast<std::uint32_t>(versions_.size() - 1);
}

ELASTICJOB_DECL void simulated_cluster::set_version(std::uint32_t node, std::uint32_t version) {
    nodes_[node]->version = version;
}

ELASTICJOB_DECL fault_targets simulated_cluster::targets() const {
    return {static_cast<std::uint32_t>(nodes_.size()), static_cast<std::uint32_t>(jobs_.size()), 9};
}

ELASTICJOB_DECL void simulated_cluster::play(fault_plan const& plan, std::chrono::milliseconds length) {
    start_all();
    schedule_faults(plan);
    auto const last = plan.empty() ? std::chrono::milliseconds{} : plan.back().at;
    run_for(std::max(last + std::chrono::milliseconds{1}, length));
    end_faults();
    run_for(options_.settle);
    if (is_over()) return;
    observatory_.reach(stage::settling);
    enable_everything();
    run_for(options_.settle);
    if (is_over()) return;
    observatory_.reach(stage::settled);
    auto const a_third = options_.watch / 3;
    run_for(a_third + std::chrono::milliseconds{137}); // not a whole second, because items are due then
    for (std::uint32_t j = 0; j < jobs_.size(); ++j) trigger_anywhere(j);
    run_for(options_.watch - a_third);
    if (is_over()) return;
    observatory_.reach(stage::watched);
    stop_all();
    if (is_over()) return;
    observatory_.reach(stage::left);
}

ELASTICJOB_DECL void simulated_cluster::start_all() {
    for (auto& n : nodes_)
        if (!n->process) start(*n);
}

ELASTICJOB_DECL void simulated_cluster::schedule_faults(fault_plan const& plan) {
    for (auto const& f : plan) at(world_.now() + f.at, {planned::kind::begin, f});
}

ELASTICJOB_DECL void simulated_cluster::run_for(std::chrono::nanoseconds span) {
    auto const until = world_.now() + span;
    while (step_until(until)) {
    }
}

ELASTICJOB_DECL void simulated_cluster::stop_all() {
    for (auto& n : nodes_) stop(*n);
}

ELASTICJOB_DECL void simulated_cluster::end_faults() {
    auto const is_fault = [](auto const& p) {
        return p.second.what == planned::kind::begin || p.second.what == planned::kind::deploy;
    };
    std::erase_if(plan_, is_fault);
    for (auto& [j, until] : read_only_until_) until = world_.now();
    refresh_records();
    for (auto& n : nodes_) {
        n->cut_until = n->deaf_until = n->paused_until = n->suspended_until = n->slow_until = n->behind_until = world_.now();
        n->line.forget_stops();
        refresh(*n);
        if (n->process) {
            auto& w = n->process->workers;
            w.full_until = w.slow_until = w.throw_until = w.hang_until = world_.now();
        }
    }
}

ELASTICJOB_DECL void simulated_cluster::enable_everything() {
    for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
        auto const at_job = layout(j);
        for (auto const& n : observatory_.view.nodes)
            if (server_.tree().find(at_job.server(n.ip))) order(j, "enable", at_job.server(n.ip), {});
        for (auto const& item : server_.tree().children(at_job.sharding()))
            if (auto const disabled = at_job.sharding() / item / "disabled"; server_.tree().find(disabled))
                remove(j, disabled);
        bool const has_member =
            std::any_of(nodes_.begin(), nodes_.end(), [&](auto const& n) { return n->wants.contains(j); });
        if (!has_member && !nodes_.empty()) nodes_.front()->wants.insert(j);
    }
    for (auto& n : nodes_)
        for (std::uint32_t j = 0; j < jobs_.size(); ++j)
            if (n->wants.contains(j)) at(world_.now(), {planned::kind::rejoin, fault{.node = n->number, .job = j}});
}

ELASTICJOB_DECL std::string simulated_cluster::transcript() const {
    std::string text;
    for (auto const& o : observatory_.view.log) text.append(to_string(o)).append("\n");
    for (auto const& v : observatory_.violations) text.append("VIOLATION ").append(to_string(v)).append("\n");
    return text;
}

ELASTICJOB_DECL simulated_cluster::simulated_cluster(std::uint64_t seed, simulation_options o, due_function* find_due,
                                                     make_function* make_scheduler)
    : seed_{seed},
      options_{std::move(o)},
      make_scheduler_{make_scheduler},
      world_{options_.start},
      server_{world_, options_.server, seed_of(1)},
      observatory_{server_},
      operator_wire_{server_, seed_of(2)},
      operator_loop_{world_},
      operator_{operator_loop_, operator_wire_, seed_of(3)} {
    observatory_.view.due = find_due;
    observatory_.add(no_two_runs_of_one_item{});
    observatory_.add(tokens_are_unique{});
    observatory_.add(what_is_skipped_stays_skipped{});
    observatory_.add(stopped_runs_are_not_called{});
    observatory_.add(only_the_owner_starts{});
    observatory_.add(items_agree_with_assignment{});
    observatory_.add(one_owner_for_each_item{});
    observatory_.add(records_tell_one_story{});
    observatory_.add(every_instant_is_dealt_with{});
    observatory_.add(orders_are_obeyed{options_.triggers_may_be_skipped});
    observatory_.add(nothing_is_left_behind{});
    observatory_.add(every_mark_has_a_run{});
    observatory_.add(every_instance_has_a_scheduler{});
}

ELASTICJOB_DECL simulated_cluster::~simulated_cluster() {
    is_ending_ = true;
    operator_tasks_.cancel();
    for (auto& n : nodes_) kill(*n);
    dead_.clear();
}

ELASTICJOB_DECL simulated_cluster::job_entry::job_entry(job_config c, simulated_call body, void (*destroy_body)(void*))
    : config{std::move(c)},
      call{body},
      destroy{destroy_body} {}

ELASTICJOB_DECL simulated_cluster::job_entry::job_entry(job_entry&& other) noexcept
    : config{std::move(other.config)},
      call{other.call},
      destroy{other.destroy} {
    other.call.body = nullptr;
}

ELASTICJOB_DECL simulated_cluster::job_entry::~job_entry() {
    if (call.body) destroy(call.body);
}

ELASTICJOB_DECL simulated_cluster::process::process(simulated_cluster& s, machine& m, std::uint64_t n)
    : number{n},
      loop{s.world_, {&step_on, &s}},
      registry{loop, m.line, s.seed_of(1000 + 3 * n), s.versions_[m.version]},
      workers{loop, s.observatory_, m.number, n, s.seed_of(1001 + 3 * n), s.options_.bodies,
              s.options_.threads} {
    begin_scheduler(s, m);
    workers.session = [](void* self) { return static_cast<simulated_registry*>(self)->session().id; };
    workers.context = &registry;
}

ELASTICJOB_DECL void simulated_cluster::process::begin_scheduler(simulated_cluster& s, machine& m) {
    scheduler.reset(
        new simulated_scheduler{s.make_scheduler_(s, registry, options(s, m), workers, sink{&s, m.number, number})});
    ++schedulers;
    is_ending = false;
}

ELASTICJOB_DECL scheduler_options simulated_cluster::process::options(simulated_cluster& s, machine& m) const {
    auto o = s.options_.scheduler;
    o.host_name.clear(); // it would be that of the machine that simulates
    o.server_ip = s.observatory_.view.nodes[m.number].ip;
    o.seed = s.seed_of(1002 + 3 * number + 1'000'003 * schedulers);
    return o;
}

ELASTICJOB_DECL simulated_cluster::machine::machine(simulated_cluster& s, std::uint32_t n, std::uint64_t seed)
    : self{s},
      number{n},
      line{s.server_, seed} {
    line.set_latency(s.options_.latency);
}

ELASTICJOB_DECL std::uint64_t simulated_cluster::seed_of(std::uint64_t purpose) const {
    return random_source{seed_ * 0x9e3779b97f4a7c15U + purpose}.next();
}

ELASTICJOB_DECL bool simulated_cluster::step_until(mono_time until) {
    if (is_over() || is_ending_) return false;
    if (!plan_.empty() && plan_.begin()->first.first <= std::min(world_.now(), until)) {
        auto const next = plan_.begin()->second;
        plan_.erase(plan_.begin());
        carry_out(next);
        return after_step();
    }
    if (world_.now() >= until) {
        // All work that is ready at this instant belongs to the same step.
        if (!is_idle_now()) return after_step();
        return false;
    }
    auto const stop = plan_.empty() ? until : std::min(until, plan_.begin()->first.first);
    boundary b;
    world_.arm(b, stop);
    world_.step();
    world_.disarm(b);
    return after_step();
}

ELASTICJOB_DECL bool simulated_cluster::is_idle_now() {
    boundary b;
    world_.arm(b, world_.now());
    world_.step();
    bool const idle = !b.is_armed();
    world_.disarm(b);
    return idle;
}

ELASTICJOB_DECL bool simulated_cluster::after_step() {
    ++steps_;
    for (auto& n : nodes_) {
        auto& v = observatory_.view.nodes[n->number];
        v.session = n->process ? n->process->registry.session().id : 0;
    }
    observatory_.look_at_changes();
    if (calls_ == 0) dead_.clear();
    auto const second = world_.now().time_since_epoch() / std::chrono::seconds{1};
    if (second != second_) {
        second_ = second;
        steps_in_second_ = 0;
    }
    if (++steps_in_second_ > options_.steps_in_second_max)
        observatory_.note_violation("I6 nothing goes round in circles",
                                    "more than " + std::to_string(options_.steps_in_second_max) + " steps in one second");
    return !is_over();
}

ELASTICJOB_DECL bool simulated_cluster::step_on(void* context) {
    auto& self = *static_cast<simulated_cluster*>(context);
    if (self.deadlines_.empty()) return false; // the end: do not wait
    if (self.world_.now() >= self.deadlines_.back()) {
        self.observatory_.note_violation("I6 every call ends", "a call has not ended within its time");
        return false;
    }
    return self.step_until(mono_time::max());
}

ELASTICJOB_DECL void simulated_cluster::carry_out(planned const& p) {
    if (nodes_.empty()) return;
    auto& n = *nodes_[p.f.node % nodes_.size()];
    switch (p.what) {
    case planned::kind::begin:
        begin(n, p.f);
        break;
    case planned::kind::end:
        refresh(n);
        refresh_records();
        break;
    case planned::kind::begin_scheduler:
        begin_scheduler(n);
        break;
    case planned::kind::start:
        n.is_starting = false;
        start(n);
        break;
    case planned::kind::deploy:
        deploy(n, p.f);
        break;
    case planned::kind::rejoin:
        if (n.wants.contains(p.f.job)) join(n, p.f.job);
        break;
    }
}

ELASTICJOB_DECL void simulated_cluster::begin(machine& n, fault const& f) {
    observation o;
    o.what = observation::kind::fault;
    o.text = to_string(f);
    observatory_.note(std::move(o));
    auto const until = world_.now() + std::max(f.span, std::chrono::milliseconds{0});
    auto const last = [&](mono_time& t) {
        t = std::max(t, until);
        refresh(n);
        fault end = f;
        end.node = n.number;
        at(until, {planned::kind::end, end});
    };
    auto* const w = n.process ? &n.process->workers : nullptr;
    auto const lasts = [&](mono_time simulated_workers::*t) {
        if (w) w->*t = std::max(w->*t, until);
    };
    switch (f.what) {
    case fault_kind::slow_network: {
        auto const most = std::max(options_.latency.most, std::chrono::microseconds{f.span} / 20);
        n.line.set_latency({options_.latency.least, most});
        return last(n.slow_until);
    }
    case fault_kind::stale_reads:
        n.line.set_lag(std::chrono::microseconds{f.span} / 20);
        return last(n.behind_until);
    case fault_kind::partition:
        return last(n.cut_until);
    case fault_kind::deafness:
        return last(n.deaf_until);
    case fault_kind::reset:
        return n.line.reset();
    case fault_kind::lose_request:
        return n.line.lose(f.count, request_fate::request_lost);
    case fault_kind::lose_reply:
        return n.line.lose(f.count, request_fate::reply_lost);
    case fault_kind::expire:
        return server_.expire(n.line.session());
    case fault_kind::pause:
        return last(n.paused_until);
    case fault_kind::suspend:
        return last(n.suspended_until);
    case fault_kind::crash:
        n.restart_after = f.span;
        return crash(n);
    case fault_kind::crash_before:
    case fault_kind::crash_after:
        n.restart_after = f.span;
        return n.line.stop_at(f.count, f.what == fault_kind::crash_after, &crash_now, &n);
    case fault_kind::clock_jump:
        n.wall_offset += f.span;
        return refresh(n);
    case fault_kind::slow_bodies:
        if (w) w->slow_factor = std::max(f.count, 1U);
        return lasts(&simulated_workers::slow_until);
    case fault_kind::throwing_bodies:
        return lasts(&simulated_workers::throw_until);
    case fault_kind::hanging_bodies:
        return lasts(&simulated_workers::hang_until);
    case fault_kind::full_pool:
        return lasts(&simulated_workers::full_until);
    case fault_kind::end_scheduler:
        return end_scheduler(n, f.span);
    case fault_kind::deploy:
        n.version = f.count % static_cast<std::uint32_t>(versions_.size());
        return deploy(n, f);
    case fault_kind::read_only_records:
        if (jobs_.empty()) return;
        last(read_only_until_[job_of(f)]);
        return refresh_records();
    default:
        if (!jobs_.empty()) begin_in_job(n, job_of(f), f);
    }
}

ELASTICJOB_DECL void simulated_cluster::begin_in_job(machine& n, std::uint32_t j, fault const& f) {
    auto const at_job = layout(j);
    switch (f.what) {
    case fault_kind::join:
        n.wants.insert(j);
        return join(n, j);
    case fault_kind::leave:
        n.wants.erase(j);
        return leave(n, j);
    case fault_kind::trigger:
        return trigger(n, j);
    case fault_kind::disable:
        return order(j, "disable", at_job.server(observatory_.view.nodes[n.number].ip), std::string{server_disabled});
    case fault_kind::enable:
        return order(j, "enable", at_job.server(observatory_.view.nodes[n.number].ip), {});
    case fault_kind::disable_item:
        return create(j, at_job.item_disabled(f.count));
    case fault_kind::enable_item:
        return remove(j, at_job.item_disabled(f.count));
    case fault_kind::stop_run: {
        auto const deadline = world_.now() + std::chrono::seconds{10};
        auto name = job_name::parse(jobs_[j].config.name).value();
        auto stopped = request_stop(operator_, std::move(name), f.count, deadline);
        return operator_tasks_.spawn(command(j, "stop " + item_name(f.count), std::move(stopped)));
    }
    case fault_kind::set_items:
    case fault_kind::set_cron:
    case fault_kind::set_failover:
    case fault_kind::set_misfire:
        return edit(j, f);
    case fault_kind::remove_instance: {
        auto const& ids = observatory_.view.nodes[n.number].instances;
        if (auto const id = ids.find(jobs_[j].config.name); id != ids.end())
            return remove(j, at_job.instances() / id->second);
        return;
    }
    default:
        return;
    }
}

ELASTICJOB_DECL void simulated_cluster::edit(std::uint32_t j, fault const& f) {
    auto const path = layout(j).config();
    auto const stored = from_json(observatory_.view.data(path));
    if (!stored || !*stored) return;
    auto edited = **stored;
    bool const is_even = f.count % 2 == 0;
    if (f.what == fault_kind::set_items) edited.sharding_total_count = static_cast<int>(std::max(f.count, 1U));
    if (f.what == fault_kind::set_cron) edited.cron = is_even ? jobs_[j].config.cron : other_schedule;
    if (f.what == fault_kind::set_failover) edited.failover = is_even;
    if (f.what == fault_kind::set_misfire) edited.misfire = is_even;
    order(j, std::string{name_of(f.what)}, path, to_json(edited));
}

ELASTICJOB_DECL void simulated_cluster::refresh(machine& n) {
    auto const now = world_.now();
    if (now >= n.slow_until) n.line.set_latency(options_.latency);
    if (now >= n.behind_until) n.line.set_lag({});
    n.line.cut(now < n.cut_until, now < n.cut_until || now < n.deaf_until);
    observatory_.view.nodes[n.number].wall_offset = n.wall_offset;
    bool const is_paused = now < n.paused_until;
    bool const is_suspended = now < n.suspended_until;
    n.line.set_paused(is_paused || is_suspended);
    if (!n.process) return;
    n.process->loop.set_wall_offset(n.wall_offset);
    if (is_suspended)
        n.process->loop.suspend();
    else if (is_paused)
        n.process->loop.pause();
    else
        n.process->loop.resume();
}

ELASTICJOB_DECL void simulated_cluster::refresh_records() {
    for (auto const& [j, until] : read_only_until_)
        server_.set_read_only(layout(j).run_records(), world_.now() < until);
}

ELASTICJOB_DECL void simulated_cluster::start(machine& n) {
    if (n.process) return;
    auto const number = ++processes_so_far_;
    n.process = std::make_unique<process>(*this, n, number);
    auto& v = observatory_.view.nodes[n.number];
    v.process = number;
    v.instances.clear();
    note_process(n, observation::kind::process_began);
    refresh(n);
    for (auto const j : n.wants) at(world_.now(), {planned::kind::rejoin, fault{.node = n.number, .job = j}});
}

ELASTICJOB_DECL void simulated_cluster::crash_now(void* context) {
    auto& n = *static_cast<machine*>(context);
    n.self.crash(n);
}

ELASTICJOB_DECL void simulated_cluster::crash(machine& n) {
    if (!n.process) return;
    kill(n);
    if (n.is_starting) return;
    n.is_starting = true;
    at(world_.now() + std::max(n.restart_after, std::chrono::milliseconds{1}),
       {planned::kind::start, fault{.node = n.number}});
}

ELASTICJOB_DECL void simulated_cluster::kill(machine& n) {
    if (!n.process) return;
    note_process(n, observation::kind::process_killed);
    auto& p = *n.process;
    p.loop.kill();
    p.workers.kill();
    p.registry.die();
    n.line.forget_stops();
    auto& v = observatory_.view.nodes[n.number];
    v.process = 0;
    v.instances.clear();
    dead_.push_back(std::move(n.process)); // another frame may still be in one of its calls
}

ELASTICJOB_DECL void simulated_cluster::stop(machine& n) {
    if (!n.process || n.process->calls != 0) return;
    auto& p = *n.process;
    auto const number = p.number;
    while (!p.handles.empty() && !p.loop.is_killed() && !is_over()) leave(n, p.handles.begin()->first);
    if (!n.process || n.process->number != number || is_over()) return;
    end_process(n);
}

ELASTICJOB_DECL void simulated_cluster::end_process(machine& n) {
    note_process(n, observation::kind::process_ended);
    auto& v = observatory_.view.nodes[n.number];
    v.process = 0;
    v.instances.clear();
    deadlines_.push_back(world_.now() + options_.call);
    n.process.reset();
    deadlines_.pop_back();
}

ELASTICJOB_DECL bool simulated_cluster::leave_all(machine& n) {
    auto& p = *n.process;
    p.is_ending = true;
    for (auto left = p.handles.size(); left > 0 && !p.handles.empty() && !p.loop.is_killed() && !is_over(); --left)
        leave(n, p.handles.begin()->first);
    if (p.loop.is_killed() || is_over()) return false;
    auto const end = [&] {
        p.scheduler.reset();
        return true;
    };
    blocking(p, end);
    return !p.loop.is_killed() && !is_over();
}

ELASTICJOB_DECL void simulated_cluster::end_scheduler(machine& n, std::chrono::milliseconds pause) {
    if (!n.process || n.process->calls != 0 || n.process->is_ending || is_deep()) return;
    if (leave_all(n)) at(world_.now() + pause, {planned::kind::begin_scheduler, fault{.node = n.number}});
}

ELASTICJOB_DECL void simulated_cluster::deploy(machine& n, fault const& f) {
    if (!n.process) return; // it starts soon
    if (n.process->calls != 0 || is_deep()) {
        fault again = f;
        again.node = n.number;
        return at(world_.now() + std::chrono::milliseconds{100}, {planned::kind::deploy, again});
    }
    if (!leave_all(n)) return;
    end_process(n);
    n.is_starting = true;
    at(world_.now() + std::max(f.span, std::chrono::milliseconds{1}),
       {planned::kind::start, fault{.node = n.number}});
}

ELASTICJOB_DECL void simulated_cluster::begin_scheduler(machine& n) {
    if (!n.process || n.process->scheduler) return;
    n.process->begin_scheduler(*this, n);
    for (auto const j : n.wants) at(world_.now(), {planned::kind::rejoin, fault{.node = n.number, .job = j}});
}

ELASTICJOB_DECL void simulated_cluster::note_process(machine& n, observation::kind k) {
    observation o;
    o.what = k;
    o.node = n.number;
    o.process = n.process->number;
    auto const& version = n.process->registry.version();
    if (!version.knows_all) o.text = version.name;
    observatory_.note(std::move(o));
}

ELASTICJOB_DECL void simulated_cluster::note_instance(observation const& o) {
    auto& v = observatory_.view.nodes[o.node];
    if (v.process != o.process) return;
    if (o.what == observation::kind::joined) {
        v.instances[o.job] = o.instance;
        take_over_runs(o);
    }
    if (o.what == observation::kind::left) v.instances.erase(o.job);
}

ELASTICJOB_DECL void simulated_cluster::take_over_runs(observation const& o) {
    auto const session = nodes_[o.node]->process->registry.session().id;
    for (auto& r : observatory_.view.runs) {
        if (r.process != o.process || r.job != o.job) continue;
        auto const* mark = server_.tree().find(cluster_view::layout(r.job).item_running(r.item));
        auto const job =
            std::find_if(jobs_.begin(), jobs_.end(), [&](auto const& j) { return j.config.name == r.job; });
        if (mark ? mark->stat.owner == session : !job->config.monitor_execution) r.session = session;
    }
}

ELASTICJOB_DECL void simulated_cluster::join(machine& n, std::uint32_t j) {
    auto const& name = jobs_[j].config.name;
    if (!n.process || n.process->is_ending || n.process->busy_with.contains(j)) return;
    if (is_deep())
        return at(world_.now() + std::chrono::milliseconds{100},
                  {planned::kind::rejoin, fault{.node = n.number, .job = j}});
    auto& p = *n.process;
    if (p.handles.contains(j)) {
        if (observatory_.view.nodes[n.number].instances.contains(name)) return;
        leave(n, j);
        if (p.loop.is_killed() || p.handles.contains(j)) return;
    }
    p.busy_with.insert(j);
    auto joined = blocking(p, [&] { return p.scheduler->schedule(jobs_[j].config, jobs_[j].call); });
    p.busy_with.erase(j);
    if (joined) {
        p.handles.emplace(j, *std::move(joined));
    } else if (!p.loop.is_killed()) {
        note_command(j, "join", joined.error());
    }
}

ELASTICJOB_DECL void simulated_cluster::leave(machine& n, std::uint32_t j) {
    if (!n.process) return;
    auto& p = *n.process;
    auto const at_handle = p.handles.find(j);
    if (at_handle == p.handles.end() || p.busy_with.contains(j) || is_deep()) return;
    p.busy_with.insert(j);
    auto h = std::move(at_handle->second);
    p.handles.erase(at_handle);
    auto const left = blocking(p, [&] { return h.shutdown(); });
    p.busy_with.erase(j);
    if (!left && !p.loop.is_killed()) note_command(j, "leave", left.error());
}

ELASTICJOB_DECL void simulated_cluster::trigger(machine& n, std::uint32_t j) {
    if (!n.process || is_deep()) return;
    auto& p = *n.process;
    auto const h = p.handles.find(j);
    if (h == p.handles.end() || p.busy_with.contains(j)) return;
    p.busy_with.insert(j);
    auto const done = blocking(p, [&] { return h->second.trigger(); });
    p.busy_with.erase(j);
    std::optional<error> failure;
    if (!done) failure = done.error();
    if (!p.loop.is_killed()) note_command(j, "trigger", failure);
}

ELASTICJOB_DECL void simulated_cluster::trigger_anywhere(std::uint32_t j) {
    for (auto& n : nodes_)
        if (n->process && observatory_.view.nodes[n->number].instances.contains(jobs_[j].config.name))
            return trigger(*n, j);
}

ELASTICJOB_DECL void simulated_cluster::note_command(std::uint32_t j, std::string text, std::optional<error> failure) {
    observation o;
    o.what = observation::kind::command;
    o.job = jobs_[j].config.name;
    o.text = std::move(text);
    o.failure = std::move(failure);
    observatory_.note(std::move(o));
}

ELASTICJOB_DECL void simulated_cluster::order(std::uint32_t j, std::string text, node_path path, std::string data) {
    operator_tasks_.spawn(command(j, std::move(text), operator_.set(std::move(path), std::move(data))));
}

ELASTICJOB_DECL void simulated_cluster::create(std::uint32_t j, node_path path) {
    auto text = "create " + path.str();
    operator_tasks_.spawn(command(j, std::move(text), operator_.create(std::move(path), {}, create_mode::persistent)));
}

ELASTICJOB_DECL void simulated_cluster::remove(std::uint32_t j, node_path path) {
    auto text = "remove " + path.str();
    operator_tasks_.spawn(command(j, std::move(text), operator_.remove(std::move(path))));
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_SIMULATED_CLUSTER_IPP
