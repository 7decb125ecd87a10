// SPDX-License-Identifier: Apache-2.0
// How do I add and remove jobs without a restart?
//
// Two processes can import data, each with a scheduler and a catalog. An operator, who cannot import anything, writes a
// job into the registry, and both processes run it. When the operator removes it, no process runs it any more, not even
// a process that starts later.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>
#include <elasticjob/scheduler/job_catalog.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <semaphore>

using namespace elasticjob;

std::counting_semaphore<> runs{0}, moved{0};
std::atomic<int> count{0};

/// The body of an import. It is made once, when its process joins the job. Each run brings the parameters that may
/// change.
struct importer {
    void operator()(sharding_context const& shard) const {
        std::printf("%s: part %u from %s\n", shard.job_name.c_str(), shard.item, shard.job_parameter.c_str());
        ++count;
        if (shard.job_parameter == "the shop") moved.release();
        runs.release();
    }
};

class process {
public:
    explicit process(MemoryRegistry& shared) : registry_{shared.server()} {
        (void)catalog_.add("importer", [](job_config const&) { return importer{}; });
    }
    result<void> run() { return catalog_.follow(); }

private:
    using scheduler = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor>;
    MemoryRegistry registry_;
    scheduler scheduler_{registry_};
    job_catalog<scheduler> catalog_{scheduler_};
};

bool told(result<void> const& done, char const* what) {
    std::printf("%s: %s\n", what, done ? "done" : to_string(done.error()).c_str());
    return static_cast<bool>(done);
}

int main() {
    MemoryRegistry registry; // the operator's; with ZooKeeper, each has a ZkRegistry of its own
    process one{registry}, two{registry};
    if (!told(one.run(), "one follows") || !told(two.run(), "two follows")) return 1;

    job_config const orders{.name = "orders",
                            .cron = "0/1 * * * * ?",
                            .sharding_total_count = 4,
                            .job_parameter = "the warehouse",
                            .job_class = "importer"};
    if (!add_job(registry, orders)) return 1;
    for (int n = 0; n < 8; ++n)
        if (!runs.try_acquire_for(std::chrono::seconds{10})) return 1;

    // A change takes effect at the next run, in every process.
    auto elsewhere = orders;
    elsewhere.job_parameter = "the shop";
    elsewhere.overwrite = true;
    if (!add_job(registry, elsewhere) || !moved.try_acquire_for(std::chrono::seconds{10})) return 1;

    // After remove_job has returned, no run of the job is in progress, and the job cannot return by mistake.
    if (!told(remove_job(registry, "orders"), "remove orders")) return 1;
    int const done = count;
    process three{registry};
    if (!told(three.run(), "three follows")) return 1;
    auto const again = add_job(registry, orders);
    if (again || !(again.error() == errc::removed)) return 1;
    if (count != done) return 1;

    // Only an explicit restoration brings the job back.
    if (!told(restore_job(registry, "orders"), "restore orders") || !add_job(registry, orders)) return 1;
    while (runs.try_acquire()) {}
    return runs.try_acquire_for(std::chrono::seconds{10}) ? 0 : 1;
}
