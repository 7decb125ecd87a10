// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds faults in the nodes of a job, and repairs them on request; from any process.
#ifndef ELASTICJOB_OPERATIONS_TREE_HEALTH_HPP
#define ELASTICJOB_OPERATIONS_TREE_HEALTH_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/execution/look_order.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/registry/read_paced.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The fault of a node.
enum class tree_fault : std::uint8_t {
    ghost,     ///< it is persistent but must be ephemeral, so no process owns it
    orphan,    ///< it belongs to a process that has no instance in the job
    abandoned, ///< a server without an instance, while others have some
    surplus,   ///< it belongs to an item that the job does not have, or is an unknown kind of order
    damaged,   ///< its text cannot be read
    leftover,  ///< it belongs to a job that has been removed or has no configuration
};

/// The name of the enumerator.
std::string_view name_of(tree_fault f) noexcept;

/// One node, and its fault.
struct tree_finding {
    std::string job;
    std::string path;
    tree_fault what{};
    std::string text{};         ///< the fault, for people
    bool is_repairable = false; ///< whether `repair` can repair it
    std::string repair{};       ///< the effect of `repair`, or the operator's alternative
    std::string tag{};          ///< identifies the node's state when it was found
};

/// The jobs to check, and the limits.
struct tree_query {
    std::string name_contains{};                   ///< a part of the jobs' names; empty: any
    std::string after{};                           ///< the cursor of the previous page; empty: from the beginning
    std::size_t jobs_max = 100;                    ///< the number of jobs of a page; at least 1
    std::size_t nodes_max = 100'000;               ///< a job with more nodes is not checked
    std::size_t requests_max = paced_requests_max; ///< the maximum number of simultaneous requests; at least 1
};

/// The findings in some jobs, ascending by job and path.
struct tree_report {
    std::vector<tree_finding> findings{};
    std::size_t jobs = 0;        ///< the number of jobs that were checked
    std::vector<error> faults{}; ///< jobs that could not be checked
    std::string next{};          ///< the cursor of the next page; empty: this is the last page
};

namespace detail {

/// The nodes of a job, by their paths below its root without the leading `/`.
using job_tree = std::map<std::string, node, std::less<>>;

/// The faults in these nodes, ascending by path.
std::vector<tree_finding> find_faults(job_layout const& at, job_tree const& tree);

/// Adds the repair of a finding. Precondition: the finding is repairable, and is no abandoned server.
void put_repair(transaction& t, job_layout const& at, job_tree const& tree, tree_finding const& finding);

/// The path below the job's root, as in the audit trail.
std::string subject_of(job_layout const& at, std::string_view path);

/// Errors: no_node if there is no such node; too_large; those of the registry.
template <registry Registry>
task<result<job_tree>> read_job_tree(Registry& r, node_path root, std::size_t nodes_max, std::size_t requests_max) {
    job_tree tree;
    std::vector<node_path> level{root};
    auto const root_size = root.str().size();
    for (std::size_t known = 1; !level.empty();) {
        ELASTICJOB_CO_TRY(auto nodes, co_await read_paced(r, level, requests_max));
        if (tree.empty() && !nodes[0]) co_return detail::no_such_job(root);
        std::vector<node_path> parents;
        for (std::size_t n = 0; n < level.size(); ++n) {
            if (!nodes[n]) continue; // removed meanwhile
            if (nodes[n]->stat.children > 0) parents.push_back(level[n]);
            auto const& path = level[n].str();
            tree.emplace(path.size() > root_size ? path.substr(root_size + 1) : std::string{}, *std::move(nodes[n]));
        }
        ELASTICJOB_CO_TRY(auto const lists, co_await list_paced(r, parents, requests_max));
        level.clear();
        for (std::size_t n = 0; n < parents.size(); ++n)
            for (auto const& name : lists[n])
                if (!node_path::element_fault(name)) level.push_back(parents[n] / name);
        known += level.size();
        if (known > nodes_max)
            co_return error{errc::too_large, "the job has more nodes than may be checked: raise nodes_max", root.str()};
    }
    co_return tree;
}

} // namespace detail

/// The faults in the nodes of a job. One request for each node, and another one for each node that has children. The
/// nodes are read one by one, so a change in progress may look like a fault: check again before you repair. Errors:
/// no_node if there is no such job; too_large if it has more nodes than `nodes_max`; those of the registry.
template <registry Registry>
task<result<std::vector<tree_finding>>> find_tree_faults(Registry& r, job_name job, tree_query query = {}) {
    job_layout const at{job};
    ELASTICJOB_CO_TRY(auto const tree,
                      co_await detail::read_job_tree(r, at.root(), query.nodes_max, query.requests_max));
    co_return detail::find_faults(at, tree);
}

/// As above, for a page of the jobs, one after the other. If a job cannot be checked, the others are checked
/// nevertheless. One request for the names of the jobs, and those of `find_tree_faults` for each. Errors: those of the
/// registry.
template <registry Registry>
task<result<tree_report>> find_all_tree_faults(Registry& r, tree_query query = {}) {
    ELASTICJOB_CO_TRY(auto names, co_await find_job_names(r));
    std::erase_if(names, [&](auto const& name) {
        return name <= query.after || name.find(query.name_contains) == std::string::npos;
    });
    tree_report report;
    auto const jobs_max = std::max(query.jobs_max, std::size_t{1});
    for (auto const& name : names) {
        if (report.jobs == jobs_max) co_return report;
        auto found = co_await find_tree_faults(r, *job_name::parse(name), query);
        ++report.jobs;
        report.next = &name == &names.back() ? std::string{} : name;
        if (!found && is_transient(found.error())) co_return found.error();
        if (!found && !(found.error() == errc::no_node)) report.faults.push_back(found.error());
        if (!found) continue;
        for (auto& finding : *found) report.findings.push_back(std::move(finding));
    }
    co_return report;
}

/// Repairs one finding, if the node is unchanged since it was found and still faulty. One transaction checks that, so
/// it changes nothing that a live member owns. Takes the requests of `find_tree_faults`. Errors: version_conflict if
/// the node has changed, has no fault any more, or cannot be repaired, which the error explains; those of
/// `find_tree_faults` and of `carry_out`.
template <registry Registry>
task<result<command_result>> order_repair(Registry& r, tree_finding finding, command_by by) {
    ELASTICJOB_CO_TRY(auto name, job_name::parse(finding.job));
    job_layout const at{name};
    auto const plan = [&r, at, &finding](transaction& t) -> task<result<detail::command_plan>> {
        tree_query const whole;
        ELASTICJOB_CO_TRY(auto const tree,
                          co_await detail::read_job_tree(r, at.root(), whole.nodes_max, whole.requests_max));
        auto const found = detail::find_faults(at, tree);
        auto const now = std::find_if(found.begin(), found.end(), [&](tree_finding const& f) {
            return f.path == finding.path && f.what == finding.what && f.tag == finding.tag;
        });
        if (now == found.end())
            co_return error{errc::version_conflict, "the node has changed since it was found: check again",
                            finding.path};
        if (!now->is_repairable)
            co_return error{errc::version_conflict, "this cannot be repaired: " + now->repair, finding.path};
        if (now->what == tree_fault::abandoned) {
            std::string const server{finding.path.substr(at.servers().str().size() + 1)};
            ELASTICJOB_CO_CHECK(co_await detail::plan_server_removal(r, at, server, t));
        } else {
            detail::put_repair(t, at, tree, *now);
        }
        co_return detail::command_plan{now->text + ": " + now->repair};
    };
    detail::command_title title{"repair", detail::subject_of(at, finding.path)};
    co_return co_await detail::carry_out(r, std::move(name), std::move(by), std::move(title), plan);
}

// The functions above as blocking calls. Each waits up to `timeout`. Threads: any but the loop's.

/// The faults in the nodes of a job. Errors: as `find_tree_faults`, and timed_out; invalid_argument for an invalid job
/// name.
template <registry Registry>
result<std::vector<tree_finding>> check_job(Registry& r, std::string_view job,
                                            std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    return detail::wait_within(r.loop(), timeout, find_tree_faults(r, std::move(name)));
}

/// The faults in the nodes of a page of the jobs. Errors: as `find_all_tree_faults`, and timed_out.
template <registry Registry>
result<tree_report> check_tree(Registry& r, tree_query query = {},
                               std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout, find_all_tree_faults(r, std::move(query)));
}

/// Repairs one finding. Errors: as `order_repair`, and timed_out: repeat the call with the same key.
template <registry Registry>
result<command_result> repair(Registry& r, tree_finding finding, command_by by,
                              std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout, order_repair(r, std::move(finding), std::move(by)));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/tree_health.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_TREE_HEALTH_HPP
