// SPDX-License-Identifier: Apache-2.0
/// \file \brief The nodes of a job: those of ElasticJob-Lite 2.1.5, and this library's own.
#ifndef ELASTICJOB_REGISTRY_JOB_LAYOUT_HPP
#define ELASTICJOB_REGISTRY_JOB_LAYOUT_HPP

#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/path.hpp>

#include <string>
#include <string_view>

namespace elasticjob {

/// The content of a disabled server's node; that of an enabled server is empty.
inline constexpr std::string_view server_disabled = "DISABLED";

/// The text that an operator writes into an instance's node to make the instance run its items now. The instance
/// removes it.
inline constexpr std::string_view trigger_order = "TRIGGER";

/// The name of an item's node: decimal, without padding.
inline std::string item_name(item_index item) { return std::to_string(item); }

/// All paths of one job. P: persistent, E: ephemeral, ES: ephemeral and sequential.
///
/// | node                         | is | holds                                                                        |
/// |------------------------------|----|------------------------------------------------------------------------------|
/// | config                       | P  | the job's configuration, JSON                                                |
/// | servers/{ip}                 | P  | nothing, or DISABLED                                                         |
/// | instances/{id}               | E  | nothing, or TRIGGER                                                          |
/// | leader/election/instance     | E  | the leader's id                                                              |
/// | leader/election/latch/…      | ES | one for each candidate, while it stands for election                         |
/// | leader/sharding/necessary    | P  | its presence requests a sharding                                             |
/// | leader/sharding/processing   | E  | a 2.1.5 leader is sharding                                                   |
/// | sharding/{i}/instance        | P  | the owner's id                                                               |
/// | sharding/{i}/running         | E  | the id of the instance on which the item runs; a Java member's is empty      |
/// | sharding/{i}/disabled        | P  | its presence: an operator has disabled the item                              |
/// | sharding/{i}/failover        | E  | the id of the instance that runs the item again after a death                |
/// | sharding/{i}/misfire         | P  | a Java member has missed an instant of the item                              |
/// | guarantee/started/{i}        | P  | the item has started, for Java's once listeners; execution/once_latch.hpp    |
/// | guarantee/completed/{i}      | P  | the item has ended, for the same listeners                                   |
/// | leader/failover/items/{i}    | P  | its presence asks Java members to run the item again                         |
/// | systemTime/current           | P  | nothing; written to learn the registry's time                                |
/// | ext/schedule                 | P  | schedules that Java members do not know; see config/schedule_text.hpp        |
/// | ext/after                    | P  | the rounds of another job for which it is due; config/followed_rounds.hpp    |
/// | ext/assignment               | P  | the whole assignment, versioned; see sharding/assignment.hpp                 |
/// | ext/run/{i}                  | P  | the item's run record; see execution/run_record.hpp                          |
/// | ext/counts/{i}               | P  | the number of elements processed lately; dataflow jobs only                  |
/// | ext/labels                   | P  | the labels that the items need; see config/item_labels.hpp                   |
/// | ext/instances/{id}           | E  | the instance's weight and labels, if set; membership/traits.hpp              |
/// | ext/hosts/{ip}               | P  | the host name of the process that joined last from that address              |
/// | ext/rounds                   | P  | the latest round that is over: its due instant, in milliseconds since 1970   |
/// | ext/rounds/{due}             | P  | the state of the round; only with round hooks, see execution/round_life.hpp  |
/// | ext/rounds/{due}/{id},{n}    | P  | the items that the instance has dealt with, its note number n                |
/// | ext/removed                  | P  | its presence, the tombstone: the job was removed for good                    |
/// | ext/orders                   | P  | nothing; each write makes all items run once (TR-3)                          |
/// | ext/orders/stop-{i}          | P  | the due instant of a run that is to stop, in milliseconds since 1970         |
/// | ext/orders/look-{i}          | P  | its presence: an operator has written the item's run record                  |
/// | ext/orders/pause             | P  | the pauses of the job and of its servers; see execution/job_pauses.hpp       |
/// | ext/audit                    | P  | the last commands of operators, with their keys; operations/audit_trail.hpp  |
///
/// Java members know all nodes except `ext`, which they ignore. There must be no other nodes below `instances`,
/// `sharding` or a latch, because Java members could not read them.
class job_layout {
public:
    explicit job_layout(job_name const& name) : root_{node_path{} / name.str()} {}

    node_path const& root() const noexcept { return root_; }
    node_path config() const { return root_ / "config"; }

    node_path servers() const { return root_ / "servers"; }
    node_path server(std::string_view ip) const { return servers() / ip; }

    node_path instances() const { return root_ / instances_name; }
    node_path instance(instance_id const& id) const { return root_.below({instances_name, id.str()}); }

    node_path leader() const { return root_ / "leader"; }
    node_path election() const { return leader() / "election"; }
    node_path leader_instance() const { return election() / "instance"; }
    node_path election_latch() const { return election() / "latch"; }

    node_path sharding_flags() const { return leader() / "sharding"; }
    node_path sharding_necessary() const { return sharding_flags() / "necessary"; }
    node_path sharding_processing() const { return sharding_flags() / "processing"; }

    node_path failover_items() const { return leader() / "failover" / "items"; }
    node_path failover_item(item_index i) const { return failover_items() / item_name(i); }

    node_path sharding() const { return root_ / sharding_name; }
    node_path item(item_index i) const { return root_.below({sharding_name, item_name(i)}); }
    node_path item_instance(item_index i) const { return of_item(i, "instance"); }
    node_path item_running(item_index i) const { return of_item(i, "running"); }
    node_path item_disabled(item_index i) const { return of_item(i, "disabled"); }
    node_path item_failover(item_index i) const { return of_item(i, "failover"); }
    node_path item_misfire(item_index i) const { return of_item(i, "misfire"); }

    node_path guarantee() const { return root_ / "guarantee"; }
    node_path once_started() const { return guarantee() / "started"; }
    node_path once_completed() const { return guarantee() / "completed"; }

    node_path system_time() const { return root_ / "systemTime"; }
    node_path clock_probe() const { return system_time() / "current"; }

    node_path ext() const { return root_ / ext_name; }
    node_path schedule() const { return ext() / "schedule"; }
    node_path after() const { return ext() / "after"; }
    node_path assignment() const { return ext() / "assignment"; }
    node_path run_records() const { return ext() / runs_name; }
    node_path run_record(item_index i) const { return root_.below({ext_name, runs_name, item_name(i)}); }
    node_path counts() const { return ext() / "counts"; }
    node_path item_counts(item_index i) const { return counts() / item_name(i); }
    node_path item_labels() const { return ext() / "labels"; }
    node_path traits() const { return ext() / "instances"; }
    node_path traits_of(instance_id const& id) const { return traits() / id.str(); }
    node_path hosts() const { return ext() / "hosts"; }
    node_path host(std::string_view ip) const { return hosts() / ip; }
    node_path rounds() const { return ext() / "rounds"; }
    node_path round(std::string_view due) const { return rounds() / due; }
    node_path removed() const { return ext() / "removed"; }
    node_path orders() const { return ext() / "orders"; }
    node_path look_order(item_index i) const { return orders() / ("look-" + item_name(i)); }
    node_path stop_order(item_index i) const { return orders() / ("stop-" + item_name(i)); }
    node_path pauses() const { return orders() / "pause"; }
    node_path audit() const { return ext() / "audit"; }

private:
    node_path of_item(item_index i, std::string_view name) const {
        return root_.below({sharding_name, item_name(i), name});
    }

    // Elements of the paths that every run needs.
    static constexpr std::string_view instances_name = "instances", sharding_name = "sharding", ext_name = "ext",
                                      runs_name = "run";

    node_path root_;
};

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_JOB_LAYOUT_HPP
