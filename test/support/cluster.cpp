// SPDX-License-Identifier: Apache-2.0
// The schedulers behind support/cluster.hpp.
#include <support/any_policies.hpp>
#include <support/cluster.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <semaphore>
#include <thread>

// A folder whose clusters need another strategy defines this before it includes this file.
#ifndef ELASTICJOB_TEST_CLUSTER_STRATEGY
#define ELASTICJOB_TEST_CLUSTER_STRATEGY AverageAllocation
#endif

namespace elasticjob::test {

struct member_pool {
    member* self;
    bool try_submit(work& w) {
        if (self->refuses) return false;
        if (self->holds || self->queues)
            self->hold(w);
        else
            self->registry.loop().post(w);
        return true;
    }
};

/// Work of the pool that the test holds. A run that has begun waits in front of the member's `body`, on a thread of its
/// own. Only one thread acts at a time: the test's waits for this one.
struct member::held_run : work {
    held_run(member& m, work& w)
        : work{&act_on}, self{m}, job{m.starting_.first}, item{m.starting_.second}, what{w}, begins_at_once{!m.queues} {}
    ~held_run() {
        if (thread.joinable()) thread.join();
    }

    /// Runs it up to its next pause, or to its end. It may be gone afterwards.
    void go_on() {
        if (!is_over) {
            if (thread.joinable())
                resumes.release();
            else
                thread = std::thread{[this] {
                    thread_id = std::this_thread::get_id(); // `thread` may not be assigned yet
                    what.act(what, work_action::run);
                    is_over = true;
                    pauses.release();
                }};
            pauses.acquire();
        }
        if (is_over && !is_posted) self.held_.remove_if([this](held_run const& r) { return &r == this; });
    }
    static void act_on(work& w, work_action action) {
        auto& r = static_cast<held_run&>(w);
        r.is_posted = false;
        if (action == work_action::run) r.go_on();
    }
    void post() {
        if (!std::exchange(is_posted, true)) self.registry.loop().post(*this);
    }

    /// Called by the body: waits if the test has not released the run.
    static void pause(member& m) {
        auto const is_it = [](held_run const& r) { return r.thread_id == std::this_thread::get_id(); };
        auto const at = std::find_if(m.held_.begin(), m.held_.end(), is_it);
        if (at == m.held_.end() || at->is_released) return;
        at->pauses.release();
        at->resumes.acquire();
    }

    member& self;
    std::string job;
    item_index item;
    work& what;
    bool begins_at_once, is_released = false, is_posted = false, is_over = false;
    std::binary_semaphore pauses{0}, resumes{0};
    std::thread::id thread_id{};
    std::thread thread{};
};

struct member_sink {
    member* self;

    void operator()(events::joined const& e) const {
        self->ids[std::string{e.from.job}] = e.from.instance.str();
        auto h = make(heard::kind::joined, e.from);
        h.text = e.note;
        tell(std::move(h));
    }
    void operator()(events::left const& e) const { tell(make(heard::kind::left, e.from)); }
    void operator()(events::leadership_changed const& e) const {
        tell(make(e.leads ? heard::kind::leads : heard::kind::leads_no_more, e.from));
    }
    void operator()(events::session_changed const& e) const {
        auto h = make(heard::kind::session, e.from);
        h.text = name_of(e.state);
        tell(std::move(h));
    }
    void operator()(events::resharded const& e) const {
        auto h = make(heard::kind::resharded, e.from);
        h.moved = e.moved;
        tell(std::move(h));
    }
    void operator()(events::share_changed const& e) const {
        auto h = make(heard::kind::share, e.from);
        h.items = e.items;
        tell(std::move(h));
    }
    void operator()(events::item_started const& e) const {
        self->starting_ = {std::string{e.from.job}, e.item};
        self->cluster_.begin_run(self->number, std::string{e.from.job}, e.item, e.token);
        auto h = make(heard::kind::started, e.from);
        h.item = e.item;
        h.due = e.due;
        h.source = e.source;
        h.attempt = e.attempt;
        h.token = e.token;
        name_run(h, e.run);
        tell(std::move(h));
    }
    void operator()(events::item_finished const& e) const {
        self->cluster_.end_run(self->number, std::string{e.from.job}, e.item);
        auto h = make(heard::kind::finished, e.from);
        h.item = e.item;
        h.due = e.due;
        h.failure = e.failure;
        h.retry_at = e.retry_at;
        h.token = e.token;
        h.source = e.run.source;
        h.attempt = e.run.attempt;
        name_run(h, e.run);
        tell(std::move(h));
    }
    void operator()(events::item_fenced const& e) const { tell_item(heard::kind::fenced, e); }
    void operator()(events::item_misfired const& e) const { tell_item(heard::kind::misfired, e); }
    void operator()(events::item_skipped const& e) const {
        if (e.why == events::skip_reason::overloaded)
            self->cluster_.end_run(self->number, std::string{e.from.job}, e.item);
        auto h = make(heard::kind::skipped, e.from);
        h.item = e.item;
        h.due = e.due;
        h.why = e.why;
        name_run(h, e.run);
        tell(std::move(h));
    }
    void operator()(events::trouble const& e) const {
        auto h = make(heard::kind::trouble, e.from);
        h.failure = e.what;
        tell(std::move(h));
    }

private:
    heard make(heard::kind k, events::origin const& from) const {
        heard h;
        h.what = k;
        h.member = self->number;
        h.job = from.job;
        h.at = self->registry.loop().now();
        h.told_at = from.at;
        return h;
    }
    static void name_run(heard& h, events::run_name const& run) {
        h.run = run.number;
        h.task_id = run.task_id;
        h.begun = run.begun;
    }
    template <class E>
    void tell_item(heard::kind k, E const& e) const {
        auto h = make(k, e.from);
        h.item = e.item;
        h.due = e.due;
        if constexpr (requires { e.run; }) name_run(h, e.run);
        tell(std::move(h));
    }
    void tell(heard h) const { self->cluster_.note(std::move(h)); }
};

struct member::engine {
    using scheduler_type = virtual_scheduler<SimpleExecutor, ELASTICJOB_TEST_CLUSTER_STRATEGY>;

    static scheduler_options options(member const& m) {
        scheduler_options o;
        o.server_ip = m.ip;
        o.host_name = m.cluster_.host_name;
        o.instance_weight = m.weight;
        o.instance_labels = m.labels;
        o.seed = m.cluster_.seed_of(m.number);
        o.drain_timeout = m.cluster_.drain_timeout;
        o.start_ahead = m.cluster_.start_ahead;
        return o;
    }
    explicit engine(member& m) : scheduler{m.registry, options(m), member_pool{&m}, member_sink{&m}, UtcZone{}} {}

    scheduler_type scheduler;
    std::map<std::string, scheduler_type::handle> handles;
};

member::member(cluster& c, std::size_t n, std::string address, std::uint32_t w, std::string l)
    : number{n}, ip{std::move(address)}, weight{w}, labels{std::move(l)}, registry{c.server}, cluster_{c}, engine_{std::make_unique<engine>(*this)} {}

member::~member() { destroy_scheduler(); }

void member::destroy_scheduler() {
    if (!engine_) return;
    // With held work, the scheduler would wait although no time passes.
    holds = false;
    release_all();
    engine_->handles.clear();
    engine_.reset();
}

result<void> member::schedule(job_config const& c) {
    auto call = [this](sharding_context const& ctx) -> result<void> {
        held_run::pause(*this);
        if (body) return body(ctx);
        return success();
    };
    auto h = engine_->scheduler.schedule(c, call);
    if (!h) return std::move(h).error();
    engine_->handles.emplace(c.name, *std::move(h));
    return success();
}
result<void> member::trigger(std::string const& job) { return engine_->handles.at(job).trigger(); }
result<void> member::disable(std::string const& job) { return engine_->handles.at(job).disable(); }
result<void> member::enable(std::string const& job) { return engine_->handles.at(job).enable(); }
result<void> member::wait_idle(std::string const& job) { return engine_->handles.at(job).wait_idle(); }
result<void> member::shutdown(std::string const& job) {
    auto const at = engine_->handles.find(job);
    auto outcome = at->second.shutdown();
    if (outcome || !(outcome.error() == errc::wrong_thread)) engine_->handles.erase(at);
    return outcome;
}

void member::hold(work& w) {
    auto& r = held_.emplace_back(*this, w);
    if (r.begins_at_once) r.post();
}
member::held_run* member::let_go(item_index item) {
    for (auto& r : held_) {
        if (r.item != item || r.is_released) continue;
        r.is_released = true;
        return &r;
    }
    return nullptr;
}
bool member::release(item_index item) {
    auto* const r = let_go(item);
    if (r) r->post();
    return r != nullptr;
}
bool member::call_held(item_index item) {
    auto* const r = let_go(item);
    if (r) r->go_on();
    return r != nullptr;
}
void member::release_all() {
    for (auto& r : held_) {
        r.is_released = true;
        r.post();
    }
}
std::size_t member::held() const {
    return static_cast<std::size_t>(std::count_if(held_.begin(), held_.end(), [](auto const& r) { return !r.is_released; }));
}

void cluster::note(heard h) { log.push_back(std::move(h)); }

void cluster::begin_run(std::size_t number, std::string const& job, item_index item, std::int64_t token) {
    auto& last = last_token_[{job, item}];
    if (token != 0 && token <= last)
        violations.push_back("item " + std::to_string(item) + " of " + job + " got the token " + std::to_string(token) +
                             " after " + std::to_string(last));
    last = token;
    for (auto const& r : running_)
        if (r.job == job && r.item == item && r.generation == members[r.member]->registry.session().generation)
            violations.push_back("item " + std::to_string(item) + " of " + job + " starts on member " +
                                 std::to_string(number) + " while it runs on member " + std::to_string(r.member));
    running_.push_back({number, job, item, members[number]->registry.session().generation, token});
}
void cluster::end_run(std::size_t number, std::string const& job, item_index item) {
    for (auto at = running_.begin(); at != running_.end(); ++at)
        if (at->member == number && at->job == job && at->item == item) {
            running_.erase(at);
            return;
        }
}

std::string cluster::transcript() const {
    static constexpr char const* names[] = {"joined",  "left",     "leads",  "leads no more", "resharded", "share",
                                            "started", "finished", "fenced", "misfired",      "skipped",   "trouble", "session"};
    std::string text;
    for (auto const& h : log) {
        auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(h.at.time_since_epoch()).count();
        text += std::to_string(ms) + " ms, member " + std::to_string(h.member) + ", " + h.job + ": " +
                names[static_cast<int>(h.what)];
        switch (h.what) {
        case heard::kind::started:
        case heard::kind::finished:
        case heard::kind::fenced:
        case heard::kind::misfired:
            text += " " + std::to_string(h.item);
            if (h.what == heard::kind::started)
                text += " for " + std::string{name_of(h.source)} + ", attempt " + std::to_string(h.attempt);
            break;
        case heard::kind::skipped:
            text += " " + std::to_string(h.item) + " " + std::string{name_of(h.why)};
            break;
        case heard::kind::share:
            for (auto const i : h.items) text += " " + std::to_string(i);
            break;
        default:
            break;
        }
        text += " " + h.text;
        if (h.failure) text += to_string(*h.failure);
        text += "\n";
    }
    return text;
}

} // namespace elasticjob::test
