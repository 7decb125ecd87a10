// SPDX-License-Identifier: Apache-2.0
// The catalogs behind support/catalog_world.hpp.
#include <support/any_policies.hpp>
#include <support/catalog_world.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/cron/civil.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/scheduler/job_catalog.hpp>

namespace elasticjob::test {

struct catalog_pool {
    catalog_process* self;
    bool try_submit(work& w) {
        if (self->holds)
            self->held_.push_back(&w);
        else
            self->registry.loop().post(w);
        return true;
    }
};

struct catalog_sink {
    catalog_process* self;

    void operator()(events::item_started const& e) const {
        if (self->world_.on_begin) self->world_.on_begin(std::string{e.from.job});
        tell(e.from, "begins");
    }
    void operator()(events::item_finished const& e) const { tell(e.from, "ends"); }
    void operator()(events::item_fenced const& e) const { tell(e.from, "fenced"); }
    void operator()(events::left const& e) const { tell(e.from, "left"); }
    void operator()(events::trouble const& e) const { tell(e.from, to_string(e.what)); }
    template <class E>
    void operator()(E const&) const {}

private:
    void tell(events::origin const& from, std::string what) const {
        self->world_.log.push_back(
            {self->number, std::string{from.job}, std::move(what), self->registry.loop().now()});
    }
};

struct catalog_process::engine {
    using scheduler_type = virtual_scheduler<SimpleExecutor>;

    static scheduler_options options(catalog_process const& p) {
        scheduler_options o;
        o.server_ip = "10.0.0." + std::to_string(p.number + 1);
        o.host_name.clear();
        o.seed = p.number + 1;
        return o;
    }
    explicit engine(catalog_process& p)
        : scheduler{p.registry, options(p), catalog_pool{&p}, catalog_sink{&p}, UtcZone{}} {}

    scheduler_type scheduler;
    job_catalog<scheduler_type> catalog{scheduler};
};

catalog_process::catalog_process(catalog_world& w, std::size_t n, std::vector<std::string> classes)
    : number{n}, registry{w.server}, world_{w}, engine_{std::make_unique<engine>(*this)} {
    for (auto& c : classes) learn(std::move(c)).value();
    engine_->catalog.follow().value();
}

catalog_process::~catalog_process() {
    holds = false;
    release_all();
    engine_.reset();
}

result<void> catalog_process::learn(std::string job_class) {
    auto const make = [this](job_config const& c) {
        if (world_.on_make) world_.on_make(c);
        return [] {};
    };
    return engine_->catalog.add(std::move(job_class), make);
}

std::vector<std::string> catalog_process::running() { return engine_->catalog.running().value(); }

void catalog_process::leave_all() { engine_->scheduler.leave_all(); }

void catalog_process::release_all() {
    for (auto* w : std::exchange(held_, {})) registry.loop().post(*w);
}

} // namespace elasticjob::test
