// SPDX-License-Identifier: Apache-2.0
/// \file \brief A registry that breaks one law, to check that the test of the law detects it.
#ifndef ELASTICJOB_TEST_SUPPORT_FLAWED_REGISTRY_HPP
#define ELASTICJOB_TEST_SUPPORT_FLAWED_REGISTRY_HPP

#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <algorithm> // max
#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

enum class flaw : std::uint8_t {
    none,
    create_overwrites,
    create_makes_parents,
    create_adds_to_the_data,
    absent_data_is_empty,
    remove_takes_children_along,
    children_are_paths,
    children_change_unnoticed,
    ephemerals_are_persistent,
    ephemerals_may_be_parents,
    set_ignores_versions,
    remove_ignores_versions,
    sequence_has_no_zeros,
    sequence_counts_children,
    large_requests_cut_the_line,
    many_operations_cut_the_line,
    limits_promise_too_much,
    failed_exists_arms_nothing,
    failed_get_arms,
    data_watches_are_deaf,
    children_watches_are_deaf,
    children_watch_hears_data,
    data_watch_hears_children,
    watches_stay_armed,
    one_watch_for_each_node,
    watches_are_late,
    watches_miss_transactions,
    commit_is_not_atomic,
    commit_reports_operation_0,
    commit_reports_no_node,
    commit_reports_a_wrong_revision,
    commit_always_reports_a_revision,
    commit_does_not_see_itself,
    commit_ignores_check_versions,
    commit_ignores_checks,
    commit_takes_a_present_node_for_absent,
    commit_uses_up_sequence_numbers,
    sessions_share_an_id,
    session_keeps_its_generation,
    old_generations_land,
    watches_outlive_the_session,
    reads_wait_for_ever_after_an_expiry,
    reconnect_forgets_watches,
    interruptions_go_unnoticed,
    interruptions_never_end_the_session,
    lost_writes_are_repeated,
    lost_writes_are_called_unsent,
    abandoned_nodes_are_anybodys,
};

/// The in-memory registry with the currently planted flaw.
class flawed_registry {
    using inner_registry = basic_memory_registry<virtual_loop>;

public:
    using loop_type = virtual_loop;
    using watch = node_watch<virtual_loop>;

    /// Takes effect for registries created after the call.
    static void plant(flaw f) noexcept {
        planted = f;
        deaf = false;
    }

    explicit flawed_registry(basic_memory_server<virtual_loop>& server) : inner_{server} {}

    virtual_loop& loop() noexcept { return inner_.loop(); }
    event_count<virtual_loop>& session_changed() noexcept { return inner_.session_changed(); }
    registry_limits limits() const noexcept {
        auto l = inner_.limits();
        if (planted == flaw::limits_promise_too_much) l.request_bytes_max += 1;
        return l;
    }
    void abandon(abandoned_nodes what) {
        if (planted == flaw::abandoned_nodes_are_anybodys)
            for (auto& one : what.nodes) one.data.reset();
        inner_.abandon(std::move(what));
    }
    session_view session() const noexcept {
        auto s = inner_.session();
        if (planted == flaw::sessions_share_an_id) s.id = 1;
        if (planted == flaw::session_keeps_its_generation) s.generation = {1};
        return s;
    }

    task<result<node>> get(node_path path, watch* w = nullptr) {
        auto found = co_await inner_.get(path, stand_in(path, w, watch_kind::data));
        co_await hang();
        if (!found && planted == flaw::absent_data_is_empty && found.error() == errc::no_node) co_return node{};
        if (!found && w && planted == flaw::failed_get_arms) {
            auto const armed = co_await inner_.exists(path, w);
            (void)armed;
        }
        if (found && w && planted == flaw::data_watch_hears_children) {
            auto const armed = co_await inner_.children(path, w);
            (void)armed;
        }
        co_return found;
    }

    task<result<std::optional<node_stat>>> exists(node_path path, watch* w = nullptr) {
        if (planted == flaw::failed_exists_arms_nothing) {
            auto const seen = co_await inner_.exists(path);
            if (!seen || !seen->has_value()) co_return seen;
        }
        auto seen = co_await inner_.exists(path, stand_in(path, w, watch_kind::data));
        if (seen && *seen && planted == flaw::children_change_unnoticed) (*seen)->children_changed = (*seen)->created;
        co_return seen;
    }

    task<result<std::vector<std::string>>> children(node_path path, watch* w = nullptr) {
        auto names = co_await inner_.children(path, stand_in(path, w, watch_kind::children));
        if (names && planted == flaw::children_are_paths)
            for (auto& name : *names) name = (path / name).str();
        if (names && w && planted == flaw::children_watch_hears_data) {
            auto const armed = co_await inner_.get(path, w);
            (void)armed;
        }
        co_return names;
    }

    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current()) {
        if (planted == flaw::create_adds_to_the_data) data += ' ';
        if (planted == flaw::ephemerals_are_persistent && is_ephemeral(mode))
            mode = is_sequential(mode) ? create_mode::persistent_sequential : create_mode::persistent;
        if (planted == flaw::create_makes_parents && !path.parent().is_root()) {
            auto const parent = co_await inner_.create(path.parent(), "", create_mode::persistent);
            (void)parent;
        }
        if (is_sequential(mode) &&
            (planted == flaw::sequence_counts_children || planted == flaw::sequence_has_no_zeros)) {
            auto const there = co_await inner_.get(path.parent());
            auto number = std::to_string(there ? there->stat.children : 0);
            if (planted == flaw::sequence_counts_children) number.insert(0, 10 - number.size(), '0');
            path = *node_path::parse(path.str() + number);
            mode = is_ephemeral(mode) ? create_mode::ephemeral : create_mode::persistent;
        }
        auto made = co_await inner_.create(path, data, mode, land(g));
        if (!made && made.error() == errc::too_large) co_await cut(flaw::large_requests_cut_the_line);
        if (!made && made.error() == errc::node_exists && planted == flaw::create_overwrites) {
            auto const set = co_await inner_.set(path, data);
            (void)set;
        }
        if (!made && made.error() == errc::no_children_for_ephemerals && planted == flaw::ephemerals_may_be_parents)
            co_return path;
        if (!made && made.error() == errc::unknown_outcome && planted == flaw::lost_writes_are_repeated)
            co_return co_await inner_.create(path, data, mode, g);
        if (!made && made.error() == errc::unknown_outcome && planted == flaw::lost_writes_are_called_unsent)
            co_return error{errc::not_sent};
        co_return made;
    }

    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current()) {
        if (planted == flaw::set_ignores_versions) version = any_version;
        co_return co_await inner_.set(std::move(path), std::move(data), version, land(g));
    }

    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current()) {
        if (planted == flaw::remove_ignores_versions) version = any_version;
        auto removed = co_await inner_.remove(path, version, land(g));
        if (!removed && removed.error() == errc::not_empty && planted == flaw::remove_takes_children_along) {
            auto const names = co_await inner_.children(path);
            for (auto const& name : *names) {
                auto const child = co_await inner_.remove(path / name);
                (void)child;
            }
            co_return co_await inner_.remove(path, version, g);
        }
        co_return removed;
    }

    task<result<commit_reply>> commit(transaction t) {
        transaction mine{land(t.generation())};
        std::vector<std::size_t> index_of; // in t, of each operation of mine
        for (std::size_t i = 0; i < t.size(); ++i) {
            auto const& o = t.operations()[i];
            bool const absent = i + 1 < t.size() && o.what == operation::kind::create &&
                                t.operations()[i + 1].what == operation::kind::remove &&
                                t.operations()[i + 1].path == o.path;
            if (planted == flaw::commit_takes_a_present_node_for_absent && absent) {
                ++i;
                continue;
            }
            if (planted == flaw::commit_ignores_checks && o.what == operation::kind::check) continue;
            add(mine, o);
            index_of.push_back(i);
        }
        if (planted == flaw::commit_is_not_atomic) co_return co_await one_by_one(std::move(t));
        if (planted == flaw::commit_does_not_see_itself)
            for (std::size_t i = 0; i < t.size(); ++i)
                for (std::size_t before = 0; before < i; ++before)
                    if (t.operations()[before].path == t.operations()[i].path.parent())
                        co_return refusal(i, errc::no_node);
        if (planted == flaw::watches_miss_transactions) deaf = true;
        auto reply = co_await inner_.commit(std::move(mine));
        deaf = false;
        if (!reply) {
            if (reply.error() == errc::too_large) co_await cut(flaw::many_operations_cut_the_line);
            co_return reply;
        }
        if (reply->refused) {
            reply->refused->operation = index_of[reply->refused->operation];
            if (planted == flaw::commit_reports_operation_0) reply->refused->operation = 0;
            if (planted == flaw::commit_reports_no_node) reply->refused->why = errc::no_node;
            if (planted == flaw::commit_uses_up_sequence_numbers) {
                for (auto const& o : t.operations()) {
                    if (!is_sequential(o.mode)) continue;
                    auto const made = co_await inner_.create(o.path, o.data, o.mode);
                    if (made) (void)co_await inner_.remove(*made);
                }
            }
        }
        if (planted == flaw::commit_reports_a_wrong_revision && reply->at != 0) reply->at = 1;
        if (planted == flaw::commit_always_reports_a_revision && reply->at == 0) reply->at = 1;
        co_return reply;
    }

    void expire() {
        // The others stay armed and never fire.
        deaf = planted == flaw::watches_outlive_the_session;
        inner_.expire();
        if (planted == flaw::reads_wait_for_ever_after_an_expiry) hanging_ = true;
    }
    void disconnect() {
        if (planted == flaw::interruptions_go_unnoticed) return;
        inner_.disconnect();
        if (planted == flaw::interruptions_never_end_the_session) inner_.reconnect();
    }
    void reconnect() {
        if (planted == flaw::reconnect_forgets_watches) deaf = true;
        inner_.reconnect();
    }

private:
    static void add(transaction& t, operation const& o) {
        auto const version = planted == flaw::commit_ignores_check_versions ? any_version : o.version;
        switch (o.what) {
        case operation::kind::check:
            t.check(o.path, version);
            break;
        case operation::kind::create:
            t.create(o.path, o.data, o.mode);
            break;
        case operation::kind::set:
            t.set(o.path, o.data, o.version);
            break;
        case operation::kind::remove:
            t.remove(o.path, o.version);
            break;
        }
    }
    static commit_reply refusal(std::size_t operation, errc why) {
        commit_reply reply;
        reply.refused = commit_reply::refusal{operation, why};
        return reply;
    }

    task<result<commit_reply>> one_by_one(transaction t) {
        revision last = 0;
        for (std::size_t i = 0; i < t.size(); ++i) {
            transaction one{t.generation()};
            add(one, t.operations()[i]);
            auto reply = co_await inner_.commit(std::move(one));
            if (!reply) co_return reply;
            if (reply->refused) co_return refusal(i, reply->refused->why);
            last = std::max(last, reply->at);
        }
        commit_reply reply;
        reply.at = last;
        co_return reply;
    }

    session_generation land(session_generation g) const {
        return planted == flaw::old_generations_land || planted == flaw::session_keeps_its_generation
                   ? session_generation::current()
                   : g;
    }

    task<> cut(flaw f) {
        if (planted == f) inner_.expire();
        co_return;
    }
    task<> hang() {
        if (hanging_) co_await session_changed().newer_than(session_changed().edition());
    }

    /// The watch that the inner registry receives: the caller's, none, or one of ours that forwards notifications
    /// according to the flaw.
    watch* stand_in(node_path const& path, watch* w, watch_kind kind) {
        if (!w) return w;
        switch (planted) {
        case flaw::data_watches_are_deaf:
            return kind == watch_kind::data ? arm_for_nothing(*w) : w;
        case flaw::children_watches_are_deaf:
            return kind == watch_kind::children ? arm_for_nothing(*w) : w;
        case flaw::children_watch_hears_data:
            return kind == watch_kind::children ? nullptr : w;
        case flaw::data_watch_hears_children:
            return kind == watch_kind::data ? nullptr : w;
        case flaw::one_watch_for_each_node:
            return watched_.insert(path.str()).second ? w : arm_for_nothing(*w);
        case flaw::watches_stay_armed:
        case flaw::watches_are_late:
        case flaw::watches_miss_transactions:
        case flaw::watches_outlive_the_session:
        case flaw::reconnect_forgets_watches:
            return &arm_through(path, *w);
        default:
            return w;
        }
    }

    watch* arm_for_nothing(watch& w) {
        w.unlink();
        never_.push_back(w);
        return nullptr;
    }
    /// A watch of ours. While it is armed, it stands for the caller's watch, unless that has been destroyed.
    struct middleman {
        explicit middleman(virtual_loop& l) : ours{l} {}
        event_watch<virtual_loop> ours;
        intrusive_list<watch> theirs;
    };
    watch& arm_through(node_path const& path, watch& w) {
        auto& between = middlemen_.emplace_back(loop());
        scope_.spawn(pass_on(*this, path, between, w));
        return between.ours;
    }
    static task<> pass_on(flawed_registry& self, node_path path, middleman& between, watch& w) {
        // One turn for the request, one for its reply. After these the watch is armed, or never will be.
        co_await yield(self.loop());
        co_await yield(self.loop());
        if (!between.ours.is_linked()) co_return;
        w.unlink();
        between.theirs.push_back(w);
        co_await between.ours.fired();
        if (deaf) co_return;
        if (planted == flaw::watches_are_late) {
            auto const due = self.loop().now() + std::chrono::milliseconds{1};
            co_await sleep_until(self.loop(), due);
        }
        between.theirs.for_each([](watch& told) { told.fire(); });
        while (planted == flaw::watches_stay_armed) { // the law keeps `w` alive for as long as anything changes
            auto const again = co_await self.inner_.exists(path, &between.ours);
            (void)again;
            co_await between.ours.fired();
            w.fire();
        }
    }

    static inline flaw planted = flaw::none;
    static inline bool deaf = false; ///< watches that fire now are not forwarded

    inner_registry inner_;
    bool hanging_ = false;
    std::set<std::string> watched_;
    intrusive_list<watch> never_;
    std::list<middleman> middlemen_;
    task_scope scope_;
};

static_assert(registry<flawed_registry>);

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_FLAWED_REGISTRY_HPP
