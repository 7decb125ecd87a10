// SPDX-License-Identifier: Apache-2.0
/// \file \brief `record_history`: the run records of a job on a real server, write by write.
#ifndef ELASTICJOB_TEST_CLUSTER_RECORD_HISTORY_HPP
#define ELASTICJOB_TEST_CLUSTER_RECORD_HISTORY_HPP

#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/mirror.hpp>

#include <integration/zk_lab.hpp>
#include <support/kept_ledger.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// Watches from its construction until `stop`. Of writes in quick succession it sees only the last; the version shows
/// the gap.
class record_history {
public:
    struct writing {
        run_record record{};
        revision at = 0;
        node_version version = 0;
    };
    using writings = std::map<unsigned, std::vector<writing>>; ///< by item

    record_history(ZkRegistry& r, job_layout const& at) : registry_{r} {
        on_loop(r.loop(), [this, path = at.run_records()]() -> task<> {
            watching_ = std::make_unique<watching>(registry_, path);
            co_return;
        });
    }
    ~record_history() { (void)stop(); }

    writings stop() {
        writings all;
        on_loop(registry_.loop(), [this, &all]() -> task<> {
            if (watching_) all = std::move(watching_->all);
            watching_.reset();
            co_return;
        });
        return all;
    }

    /// All entries that an item's ledger has ever had.
    static std::vector<run_entry> entries(std::vector<writing> const& of_item) {
        kept_ledger known;
        for (auto const& w : of_item) known.take(w.record);
        std::vector<run_entry> found;
        for (auto const& [key, e] : known.entries()) found.push_back(e);
        return found;
    }

private:
    struct watching : change_listener {
        watching(ZkRegistry& r, node_path path)
            : change_listener{&hear},
              news{r.loop()},
              records{r, std::move(path), mirror_scope::children(), news, this} {}
        static void hear(change_listener& l, node_change const& c) {
            if (c.what == node_change::kind::removed || c.path.empty()) return;
            auto read = run_record::parse(c.value.data);
            if (!read) return; // newly created, before the first write
            auto const item = static_cast<unsigned>(std::stoul(std::string{c.path}));
            static_cast<watching&>(l).all[item].push_back(
                {*std::move(read), c.value.stat.modified, c.value.stat.version});
        }
        writings all;
        event_count<event_loop> news;
        mirror<ZkRegistry> records;
    };

    ZkRegistry& registry_;
    std::unique_ptr<watching> watching_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CLUSTER_RECORD_HISTORY_HPP
