// SPDX-License-Identifier: Apache-2.0
/// \file \brief An instance's view of its job: the few nodes that the instance watches, and the facts that they imply.
#ifndef ELASTICJOB_SHARDING_JOB_VIEW_HPP
#define ELASTICJOB_SHARDING_JOB_VIEW_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/mirrored.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/founding.hpp>
#include <elasticjob/sharding/in_force.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace elasticjob {

/// Mirrors all nodes that the protocol needs for its decisions; it reads no others at a firing. The view's size depends
/// neither on the number of items nor on the number of addresses at which instances have ever run: it reads only our
/// own server and those of registered instances. The assignment counts only if no member has written the node of item 0
/// since. A Java leader does not know `ext/assignment`; it deletes and creates the nodes of all items, and the view
/// detects this by item 0. The founder of a job knows its first sharding and does not watch it before it has to
/// (`follow_shardings`). Threads: the loop's.
template <registry Registry>
class job_view {
    using Loop = typename Registry::loop_type;

public:
    /// Starts to read. Notifies `news`, which must outlive the view, after every change. `founded`: if this instance
    /// has created the job.
    job_view(Registry& r, job_layout const& layout, instance_id const& self, event_count<Loop>& news,
             std::optional<founding> const& founded = std::nullopt);

    job_view(job_view const&) = delete;
    job_view& operator=(job_view const&) = delete;
    ~job_view() { release_room(); }

    /// ST-11: from now on watches the assignment and the first item. A founder calls it before it shards, and after a
    /// request that rests on them has failed. The view does so itself when there is another instance, or another leader,
    /// which may be the founder in another term.
    void follow_shardings();

    /// Whether the assignment and the first item have been read. A founder knows them before that.
    bool has_read_sharding() const noexcept { return assignment_.is_read() && first_item_.is_read(); }

    event_count<Loop>& news() noexcept { return news_; }

    bool is_loaded() const noexcept;

    /// Why a node cannot be read, if the connection is not the reason; otherwise null.
    error const* failure() const;

    node const* config() const { return config_.get(); }
    node const* schedule() const { return schedule_.get(); }
    node const* leader() const { return leader_.get(); }
    node const* self() const { return self_.get(); }
    /// Once the assignment has been parsed, the node shows only its stat.
    node const* assignment_node() const { return assignment_.get(); }
    node_stat const* first_item() const { return first_item_.get(); }

    /// Frees the text of the configuration: until the node changes, `config` shows only its stat.
    void forget_config_text() noexcept { config_.forget_data(); }

    bool sharding_is_necessary() const { return has_name(flags_, "necessary"); }
    bool sharding_is_in_progress() const { return has_name(flags_, "processing"); }
    bool sharding_is_requested() const { return sharding_is_necessary() || sharding_is_in_progress(); }

    /// The nodes that request a sharding: `necessary`, and `processing` if a Java leader has left it behind.
    std::vector<node_path> sharding_requests() const;

    /// The assignment that was written last. Null if there is none, or if it is unreadable.
    assignment const* last_assignment() const noexcept { return last_assignment_ ? &*last_assignment_ : nullptr; }

    /// The same, unless a Java leader has sharded since.
    assignment const* assignment_in_force() const noexcept;

    /// The node of a server that has instances. Null if it has no node, which counts as enabled (SV-2), or if its node
    /// has not been read.
    node const* server(std::string_view ip) const;

    /// A server whose node has not been read counts as neither: it may have been disabled before we joined.
    bool is_enabled(std::string_view ip) const { return !is_disabled(ip) && !is_unread(ip); }
    bool is_disabled(std::string_view ip) const;

    /// Whether the node of each instance's server has been read. If not, do not decide by `available_instances`.
    bool knows_servers() const;

    /// The orders of operators, by name.
    bool has_orders() const noexcept { return !orders_.empty(); }
    std::map<std::string, node> orders() const;
    node_stat const* orders_parent() const { return orders_parent_.get(); }
    /// The pauses of the job, or null.
    node const* pauses() const;
    /// The parent of the orders, if it has been written since its creation; otherwise null. The last write orders all
    /// items to run.
    node_stat const* run_order() const;

    /// All instances, in ElasticJob's order, which is descending.
    std::vector<instance_id> instances() const;

    /// Whether an instance of that name is registered. O(log instances).
    bool has_instance(std::string_view id) const { return has_name(instances_, id); }

    /// Whether one of the instances is a Java member. O(1), because each step of each item calls it.
    bool has_java_members() const noexcept { return java_members_ > 0; }

    /// The instances whose server is enabled (SV-5). Only these may own items.
    std::vector<instance_id> available_instances() const;

private:
    /// The path of one of the job's nodes, which is made when it is needed: a process has ten of them for each job.
    struct path_of {
        job_view const& view;
        node_path (*make)(job_view const&);
        explicit operator node_path() const { return make(view); }
    };
    path_of path(node_path (*make)(job_view const&)) const noexcept { return {*this, make}; }

    template <class Value>
    using mirrored_part = mirrored<Registry, Value, path_of>;

    using names = mirrored_part<node_names>;
    using nodes = std::map<std::string, mirrored_node<Registry>, std::less<>>;

    /// Calls `Take` when a value has changed.
    template <void (job_view::*Take)()>
    struct follower : value_listener {
        explicit follower(job_view& v) noexcept : value_listener{&hear}, view{v} {}
        static void hear(value_listener& self) { (static_cast<follower&>(self).view.*Take)(); }
        job_view& view;
    };

    /// All but `servers_` and `orders_`.
    auto all() const noexcept {
        return std::tie(config_, schedule_, leader_, flags_, instances_, self_, assignment_, first_item_,
                        orders_parent_, order_names_);
    }

    static bool has_name(names const& n, std::string_view name) {
        return n.get() && std::binary_search(n.get()->begin(), n.get()->end(), name, std::less<>{});
    }

    bool is_unread(std::string_view ip) const;
    bool has_instance_at(std::string_view ip) const;
    void follow_server(std::string_view ip);

    /// Follows the servers of the instances, and counts the Java members.
    void take_instances();

    void take_leader();

    /// A session that has a budget for watches keeps room for those that a founder may have to set. Returns false if
    /// there is none.
    bool keep_room();
    void release_room();
    void take_order_names();
    void take_assignment();

    Registry& registry_;
    job_layout const at_;
    instance_id const own_;
    event_count<Loop>& news_;
    std::optional<assignment> last_assignment_;
    follower<&job_view::take_instances> on_instances_;
    follower<&job_view::take_order_names> on_order_names_;
    follower<&job_view::take_assignment> on_assignment_;
    follower<&job_view::take_leader> on_leader_;
    revision founded_at_; ///< 0: somebody else has created the job
    bool keeps_room_ = false;
    std::size_t java_members_ = 0;
    nodes servers_; ///< the instances' and our own, by address
    nodes orders_;
    mirrored_part<node> config_, schedule_, self_, assignment_;
    mirrored_part<node_stat> first_item_, orders_parent_;
    names flags_;
    // Last, because their listeners use the above.
    names order_names_, instances_;
    mirrored_part<node> leader_;
};

template <registry Registry>
job_view<Registry>::job_view(Registry& r, job_layout const& layout, instance_id const& self, event_count<Loop>& news,
                             std::optional<founding> const& founded)
    : registry_{r},
      at_{layout},
      own_{self},
      news_{news},
      on_instances_{*this},
      on_order_names_{*this},
      on_assignment_{*this},
      on_leader_{*this},
      founded_at_{founded ? founded->at : 0},
      config_{r, path([](job_view const& v) { return v.at_.config(); }), news},
      schedule_{r, path([](job_view const& v) { return v.at_.schedule(); }), news, {.presence = node_presence::rare}},
      self_{r, path([](job_view const& v) { return v.at_.instance(v.own_); }), news},
      assignment_{
          r,
          path([](job_view const& v) { return v.at_.assignment(); }),
          news,
          {.listener = &on_assignment_, .known = founded ? std::optional{founded->assignment_node()} : std::nullopt}},
      first_item_{r,
                  path([](job_view const& v) { return v.at_.item_instance(0); }),
                  news,
                  {.known = founded ? std::optional{founded->first_item()} : std::nullopt}},
      orders_parent_{r, path([](job_view const& v) { return v.at_.orders(); }), news},
      flags_{r, path([](job_view const& v) { return v.at_.sharding_flags(); }), news},
      order_names_{r, path([](job_view const& v) { return v.at_.orders(); }), news, {.listener = &on_order_names_}},
      instances_{r, path([](job_view const& v) { return v.at_.instances(); }), news, {.listener = &on_instances_}},
      leader_{r, path([](job_view const& v) { return v.at_.leader_instance(); }), news, {.listener = &on_leader_}} {
    follow_server(self.server());
    if (!founded) return;
    take_assignment();
    if (!keep_room()) follow_shardings(); // later there may be none either, so the start finds out now
}

template <registry Registry>
bool job_view<Registry>::keep_room() {
    if constexpr (requires { registry_.keep_room(at_.assignment()); }) {
        if (!registry_.keep_room(at_.assignment())) return false;
        keeps_room_ = registry_.keep_room(at_.item_instance(0));
        if (!keeps_room_) registry_.release_room(at_.assignment());
        return keeps_room_;
    }
    return true;
}

template <registry Registry>
void job_view<Registry>::release_room() {
    if constexpr (requires { registry_.release_room(at_.assignment()); }) {
        if (!std::exchange(keeps_room_, false)) return;
        registry_.release_room(at_.assignment());
        registry_.release_room(at_.item_instance(0));
    }
}

template <registry Registry>
void job_view<Registry>::follow_shardings() {
    release_room();
    assignment_.follow();
    first_item_.follow();
}

template <registry Registry>
bool job_view<Registry>::is_loaded() const noexcept {
    auto const is_read = [](auto const& one) { return one.second.is_loaded(); };
    return std::apply([](auto const&... one) { return (one.is_loaded() && ...); }, all()) &&
           std::all_of(servers_.begin(), servers_.end(), is_read) &&
           std::all_of(orders_.begin(), orders_.end(), is_read);
}

template <registry Registry>
error const* job_view<Registry>::failure() const {
    error const* first = nullptr;
    auto const look_at = [&](auto const& one) {
        if (!first) first = one.failure();
    };
    std::apply([&](auto const&... one) { (look_at(one), ...); }, all());
    for (auto const& s : servers_) look_at(s.second);
    for (auto const& o : orders_) look_at(o.second);
    return first;
}

template <registry Registry>
node const* job_view<Registry>::server(std::string_view ip) const {
    auto const at = servers_.find(ip);
    return at == servers_.end() ? nullptr : at->second.get();
}

template <registry Registry>
bool job_view<Registry>::is_unread(std::string_view ip) const {
    auto const at = servers_.find(ip);
    return at != servers_.end() && at->second.is_unread();
}

template <registry Registry>
void job_view<Registry>::take_instances() {
    java_members_ = 0;
    for (auto const& id : instances()) {
        if (id.is_java()) ++java_members_;
        follow_server(id.server());
    }
    auto const is_other = [&](std::string const& name) { return name != own_.str(); };
    auto const* names_now = instances_.get();
    if (names_now && std::any_of(names_now->begin(), names_now->end(), is_other)) follow_shardings();
    std::erase_if(servers_, [&](auto const& s) { return s.first != own_.server() && !has_instance_at(s.first); });
}

template <registry Registry>
void job_view<Registry>::take_leader() {
    if (auto const* leader = leader_.get(); leader && leader->stat.created != founded_at_) follow_shardings();
}

template <registry Registry>
bool job_view<Registry>::has_instance_at(std::string_view ip) const {
    auto const prefix = std::string{ip} + "@-@";
    auto const* all = instances_.get();
    if (!all) return false;
    auto const at = std::lower_bound(all->begin(), all->end(), prefix);
    return at != all->end() && at->starts_with(prefix);
}

template <registry Registry>
void job_view<Registry>::follow_server(std::string_view ip) {
    if (node_path::element_fault(ip)) return;
    servers_.try_emplace(std::string{ip}, registry_, at_.server(ip), news_);
}

template <registry Registry>
void job_view<Registry>::take_assignment() {
    last_assignment_.reset();
    auto const* written = assignment_.get();
    if (!written) return;
    auto read = assignment::parse(written->data);
    if (!read) return;
    last_assignment_ = *std::move(read);
    assignment_.forget_data();
}

template <registry Registry>
assignment const* job_view<Registry>::assignment_in_force() const noexcept {
    auto const* written = assignment_node();
    return is_in_force(written ? &written->stat : nullptr, first_item()) ? last_assignment() : nullptr;
}

template <registry Registry>
std::vector<node_path> job_view<Registry>::sharding_requests() const {
    std::vector<node_path> requests;
    if (sharding_is_necessary()) requests.push_back(at_.sharding_necessary());
    if (sharding_is_in_progress()) requests.push_back(at_.sharding_processing());
    return requests;
}

template <registry Registry>
bool job_view<Registry>::is_disabled(std::string_view ip) const {
    auto const* s = server(ip);
    return s && s->data == server_disabled;
}

template <registry Registry>
bool job_view<Registry>::knows_servers() const {
    auto const all = instances();
    return std::none_of(all.begin(), all.end(), [&](instance_id const& i) { return is_unread(i.server()); });
}

template <registry Registry>
void job_view<Registry>::take_order_names() {
    std::erase_if(orders_, [&](auto const& o) { return !has_name(order_names_, o.first); });
    if (!order_names_.get()) return;
    for (auto const& name : *order_names_.get())
        if (!node_path::element_fault(name)) orders_.try_emplace(name, registry_, at_.orders() / name, news_);
}

template <registry Registry>
std::map<std::string, node> job_view<Registry>::orders() const {
    std::map<std::string, node> all;
    for (auto const& [name, order] : orders_)
        if (order.get()) all.emplace(name, *order.get());
    return all;
}

template <registry Registry>
node const* job_view<Registry>::pauses() const {
    auto const at = orders_.find("pause");
    return at == orders_.end() ? nullptr : at->second.get();
}

template <registry Registry>
node_stat const* job_view<Registry>::run_order() const {
    auto const* parent = orders_parent();
    return parent && parent->version > 0 ? parent : nullptr;
}

template <registry Registry>
std::vector<instance_id> job_view<Registry>::instances() const {
    std::vector<instance_id> all;
    if (!instances_.get()) return all;
    for (auto const& name : *instances_.get())
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

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_JOB_VIEW_HPP
