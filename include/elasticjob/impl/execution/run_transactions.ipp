// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_RUN_TRANSACTIONS_IPP
#define ELASTICJOB_IMPL_EXECUTION_RUN_TRANSACTIONS_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/run_transactions.hpp>

#include <string_view>

namespace elasticjob::detail {

ELASTICJOB_DECL transaction start_checks(job_layout const& at, instance_id const& self, session_generation g,
                                         std::vector<item_claim::proof> const& common) {
    transaction t{g};
    t.check(at.instance(self));
    for (auto const& p : common) t.check(p.path, p.version);
    return t;
}

ELASTICJOB_DECL transaction creation_checks(job_layout const& at, instance_id const& self, session_generation g) {
    auto t = start_checks(at, self, g, {});
    t.set(at.run_records(), {});
    return t;
}

ELASTICJOB_DECL void add_start(transaction& t, job_layout const& at, instance_id const& self, run_start const& s) {
    auto const i = s.share.item;
    for (auto const& p : s.share.own) t.check(p.path, p.version);
    t.check_absent(at.item_disabled(i));
    if (s.dead) t.check_absent(at.instance(*s.dead));
    t.create(at.item_running(i), self.str(), create_mode::ephemeral);
    if (s.is_failover) t.create(at.item_failover(i), self.str(), create_mode::ephemeral);
    if (s.answers_flag) t.remove(at.failover_item(i));
    if (!s.version) t.create(at.run_record(i), {});
    t.set(at.run_record(i), s.record, s.version.value_or(0));
}

ELASTICJOB_DECL node_version version_after(run_start const& s) { return s.version.value_or(0) + 1; }

ELASTICJOB_DECL void add_end(transaction& t, job_layout const& at, run_end const& e) {
    t.set(at.run_record(e.item), e.record, e.version);
    if (e.is_marked) t.remove(at.item_running(e.item));
    if (e.is_failover) t.remove(at.item_failover(e.item));
}

ELASTICJOB_DECL transaction note_transaction(job_layout const& at, instance_id const& self, session_generation g,
                                             run_end const& e, std::optional<instance_id> const& dead,
                                             bool may_java_run_it) {
    transaction t{g};
    t.check(at.instance(self));
    if (!may_java_run_it) t.check_absent(at.item_running(e.item));
    if (dead) t.check_absent(at.instance(*dead));
    t.set(at.run_record(e.item), e.record, e.version);
    return t;
}

ELASTICJOB_DECL bool is_cut_off(run_start const& s, item_findings const& found) {
    return !found.owner && found.owner.error() == errc::no_node && s.share.own.empty() && s.share.item != 0 &&
           !s.share.is_adopted;
}

ELASTICJOB_DECL std::optional<start_answer> find_obstacle(run_start const& s, instance_id const& self,
                                                          item_findings const& found) {
    auto const has = [&](std::string_view name) {
        return std::find(found.names->begin(), found.names->end(), name) != found.names->end();
    };
    auto const is_proof_of = [&](item_claim::proof const& p) { return p.version == found.owner->stat.version; };
    bool const is_named = found.owner && found.owner->data == self.str() &&
                          std::all_of(s.share.own.begin(), s.share.own.end(), is_proof_of);
    bool const is_ours = s.share.is_adopted || is_named;
    bool const is_as_known = found.record ? s.version == found.record->version : !s.version;
    if (!found.names || !is_ours) return start_answer::unclaimed;
    if (has("disabled")) return start_answer::disabled;
    if (s.is_failover && is_as_known && has("failover")) return start_answer::taken; // though it may run already
    if (has("running")) return start_answer::running_elsewhere;
    if (!is_as_known || s.dead || s.answers_flag) return start_answer::outdated;
    return std::nullopt;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_RUN_TRANSACTIONS_IPP
