// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an instance knows of its job: the handful of nodes that it watches, and the facts that follow.
#ifndef ELASTICJOB_SHARDING_JOB_VIEW_HPP
#define ELASTICJOB_SHARDING_JOB_VIEW_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/mirror.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace elasticjob {

/// Mirrors of all that the protocol decides on. A tick reads nothing else, and nothing here grows with the items.
/// The assignment counts only while the node of item 0 has not been touched since it was written: a Java leader, who
/// does not know `ext/assignment`, deletes and creates the nodes of all items, and so gives itself away there.
/// Threads: the loop's.
template <registry Registry>
class job_view {
    using Loop = typename Registry::loop_type;

public:
    /// Starts to read. `news` is notified after every change of anything below; it must outlive the view.
    job_view(Registry& r, job_layout const& layout, instance_id const& self, event_count<Loop>& news);

    event_count<Loop>& news() noexcept { return news_; }

    bool is_loaded() const noexcept;

    /// Why a node cannot be read, if that is so for another reason than the connection; or null.
    error const* failure() const;

    node const* config() const { return config_.root(); }
    node const* schedule() const { return schedule_.root(); }
    node const* leader() const { return leader_.root(); }
    node const* self() const { return self_.root(); }
    node const* assignment_node() const { return assignment_.root(); }
    node const* first_item() const { return first_item_.root(); }

    bool sharding_is_necessary() const { return flags_.find("necessary") != nullptr; }
    bool sharding_is_processed() const { return flags_.find("processing") != nullptr; }

    /// The assignment that is in force, or null: there is none, nobody can read it, or a Java leader has sharded since.
    assignment const* assignment_in_force() const;

    /// Null if the server has no node, which counts as enabled (SV-2), or if nobody knows what the node says.
    node const* server(std::string_view ip) const { return servers_.find(ip); }

    /// A server whose node has not been read is neither: it may have been disabled before we came.
    bool is_enabled(std::string_view ip) const { return !is_disabled(ip) && !servers_.is_unread(ip); }
    bool is_disabled(std::string_view ip) const;

    /// Whether the node of each instance's server has been read. If not, `available_instances` is nothing to decide on.
    bool knows_servers() const;

    /// What operators want, by name.
    auto const& orders() const { return orders_.nodes(); }
    node const* orders_parent() const { return orders_.root(); }
    /// That parent, if it has been written since it was made: the last writing has all items run. Or null.
    node const* run_order() const;

    /// All instances, in ElasticJob's order, which is descending.
    std::vector<instance_id> instances() const;

    /// Whether there is an instance of that name. O(log instances).
    bool has_instance(std::string_view id) const { return instances_.find(id) != nullptr; }

    /// Those of them whose server is enabled (SV-5): whom items may go to.
    std::vector<instance_id> available_instances() const;

private:
    std::array<mirror<Registry> const*, 10> all() const noexcept;

    struct reading {
        revision at;
        std::optional<assignment> value;
    };

    event_count<Loop>& news_;
    mutable std::optional<reading> read_; ///< what `assignment_in_force` last parsed
    mirror<Registry> config_, schedule_, leader_, flags_, instances_, self_, servers_, assignment_, first_item_, orders_;
};

template <registry Registry>
job_view<Registry>::job_view(Registry& r, job_layout const& layout, instance_id const& self, event_count<Loop>& news)
    : news_{news},
      config_{r, layout.config(), mirror_scope::root_only(), news},
      schedule_{r, layout.schedule(), mirror_scope::root_only(), news},
      leader_{r, layout.leader_instance(), mirror_scope::root_only(), news},
      flags_{r, layout.sharding_flags(), mirror_scope::child_names(), news},
      instances_{r, layout.instances(), mirror_scope::child_names(), news},
      self_{r, layout.instance(self), mirror_scope::root_only(), news},
      servers_{r, layout.servers(), mirror_scope::children(), news},
      assignment_{r, layout.assignment(), mirror_scope::root_only(), news},
      first_item_{r, layout.item_instance(0), mirror_scope::root_only(), news},
      orders_{r, layout.orders(), mirror_scope::children(), news} {}

template <registry Registry>
bool job_view<Registry>::is_loaded() const noexcept {
    auto const mirrors = all();
    return std::all_of(mirrors.begin(), mirrors.end(), [](auto const* m) { return m->is_loaded(); });
}

template <registry Registry>
error const* job_view<Registry>::failure() const {
    for (auto const* m : all())
        if (m->failure()) return m->failure();
    return nullptr;
}

template <registry Registry>
assignment const* job_view<Registry>::assignment_in_force() const {
    auto const* written = assignment_node();
    if (!written || !first_item() || first_item()->stat.modified != written->stat.modified) return nullptr;
    if (!read_ || read_->at != written->stat.modified) {
        auto a = assignment::parse(written->data);
        read_ = reading{written->stat.modified, a ? std::optional{*std::move(a)} : std::nullopt};
    }
    return read_->value ? &*read_->value : nullptr;
}

template <registry Registry>
bool job_view<Registry>::is_disabled(std::string_view ip) const {
    auto const* s = server(ip);
    return s && s->data == server_disabled;
}

template <registry Registry>
bool job_view<Registry>::knows_servers() const {
    auto const all = instances();
    return std::none_of(all.begin(), all.end(), [&](instance_id const& i) { return servers_.is_unread(i.server()); });
}

template <registry Registry>
node const* job_view<Registry>::run_order() const {
    auto const* parent = orders_parent();
    return parent && parent->stat.version > 0 ? parent : nullptr;
}

template <registry Registry>
std::vector<instance_id> job_view<Registry>::instances() const {
    std::vector<instance_id> all;
    for (auto const& [name, unused] : instances_.nodes())
        if (auto id = instance_id::parse(name)) all.push_back(*std::move(id));
    std::reverse(all.begin(), all.end());
    return all;
}

template <registry Registry>
std::vector<instance_id> job_view<Registry>::available_instances() const {
    auto available = instances();
    std::erase_if(available, [&](instance_id const& id) { return !is_enabled(id.server()); });
    return available;
}

template <registry Registry>
std::array<mirror<Registry> const*, 10> job_view<Registry>::all() const noexcept {
    return {&config_, &schedule_, &leader_,     &flags_,      &instances_,
            &self_,   &servers_,  &assignment_, &first_item_, &orders_};
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_JOB_VIEW_HPP
