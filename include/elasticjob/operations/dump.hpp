// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes all nodes of a job as lines of text, for a diagnosis, from any process.
#ifndef ELASTICJOB_OPERATIONS_DUMP_HPP
#define ELASTICJOB_OPERATIONS_DUMP_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/address_mask.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The options of a dump: what it shows, and its limits.
struct dump_options {
    address_masking addresses = address_masking::whole;

    /// A job with more nodes is not dumped.
    std::size_t nodes_max = 100'000;
    std::size_t bytes_max = 33'554'432; ///< the limit for all paths and values together

    /// The maximum number of simultaneous requests; at least 1.
    std::size_t requests_max = 64;
};

namespace detail {

/// The nodes of a job that have been read so far.
class dumped_tree {
public:
    explicit dumped_tree(node_path root) { add(std::move(root)); }

    std::size_t size() const noexcept { return nodes_.size(); }
    std::size_t bytes() const noexcept { return bytes_; }
    node_path const& path(std::size_t n) const { return nodes_[n].path; }

    void set_value(std::size_t n, std::string value);
    /// Errors: invalid_path for names that no registry allows.
    result<void> add_children(std::size_t n, std::vector<std::string> names);

    /// MO-4: each node before its children, siblings in descending order, without the root and without nodes that were
    /// removed meanwhile.
    std::vector<std::string> lines(address_masking addresses) const;

private:
    struct known_node {
        node_path path;
        std::optional<std::string> value{};  ///< nothing: the node does not exist
        std::vector<std::size_t> children{}; ///< in ascending order
    };

    void add(node_path path);

    static std::string in_one_line(std::string_view value);

    std::vector<known_node> nodes_;
    std::size_t bytes_ = 0;
};

/// Errors: those of `dump_job`.
template <registry Registry>
task<result<dumped_tree>> read_tree(Registry& r, node_path root, dump_options options) {
    dumped_tree tree{root};
    auto const list = [&](node_path const& path) { return r.children(path); };
    for (std::size_t done = 0; done < tree.size();) {
        auto const end = std::min(tree.size(), done + std::max(options.requests_max, std::size_t{1}));
        std::vector<node_path> paths;
        for (auto n = done; n != end; ++n) paths.push_back(tree.path(n));
        ELASTICJOB_CO_TRY(auto nodes, co_await read_all(r, std::move(paths)));
        if (done == 0 && !nodes[0]) co_return detail::no_such_job(root);

        std::vector<node_path> parents;
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i != nodes.size(); ++i) {
            if (!nodes[i]) continue;
            tree.set_value(done + i, std::move(nodes[i]->data));
            if (nodes[i]->stat.children == 0) continue;
            parents.push_back(tree.path(done + i));
            numbers.push_back(done + i);
        }
        auto names = co_await gather_each(r.loop(), parents, list);
        for (std::size_t i = 0; i != names.size(); ++i) {
            if (!names[i] && names[i].error() == errc::no_node) continue; // removed meanwhile
            if (!names[i]) co_return std::move(names[i]).error();
            ELASTICJOB_CO_CHECK(tree.add_children(numbers[i], *std::move(names[i])));
        }
        if (tree.size() > options.nodes_max || tree.bytes() > options.bytes_max)
            co_return error{errc::too_large,
                            "the job has more nodes than a dump may hold: raise nodes_max or bytes_max", root.str()};
        done = end;
    }
    co_return tree;
}

} // namespace detail

/// A line for each node of the job, `/settle/servers/ip1 | DISABLED`, in the order of the dump of 2.1.5. The nodes are
/// read one by one, at most `requests_max` at once, so the dump is not a snapshot of one moment. Writes nothing.
///
/// Differences from 2.1.5: there is no cache besides the registry, so no line shows a difference between the two. Line
/// breaks in values, which only nodes below `ext` have, become `\n`, and other control characters become escapes such
/// as `\x1f`.
/// Errors: no_node if there is no such job; too_large if it exceeds `nodes_max` or `bytes_max`; those of the registry.
template <registry Registry>
task<result<std::vector<std::string>>> dump_job(Registry& r, job_name job, dump_options options = {}) {
    ELASTICJOB_CO_TRY(auto const tree, co_await detail::read_tree(r, job_layout{job}.root(), options));
    co_return tree.lines(options.addresses);
}

/// As a blocking call: `dump(registry, "settle")`. The loop only reads; the calling thread makes the lines. Waits up to
/// `timeout`. Errors: as above, and timed_out; invalid_argument for an invalid job name. Threads: any but
/// the loop's.
template <registry Registry>
result<std::vector<std::string>> dump(Registry& r, std::string_view job, dump_options options = {},
                                      std::chrono::milliseconds timeout = std::chrono::seconds{10}) {
    ELASTICJOB_TRY(auto const name, job_name::parse(job));
    ELASTICJOB_TRY(auto const tree,
                   detail::wait_within(r.loop(), timeout, detail::read_tree(r, job_layout{name}.root(), options)));
    return tree.lines(options.addresses);
}

/// MO-3: the lines as one text, each with a line break.
std::string dump_text(std::vector<std::string> const& lines);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/dump.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_DUMP_HPP
