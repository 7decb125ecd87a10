// SPDX-License-Identifier: Apache-2.0
// For each requirement of `registry`, a type that lacks only that one.
#include <elasticjob/registry/registry.hpp>

#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;

namespace {

using watch = node_watch<event_loop>;

struct still_a_registry : MemoryRegistry {};
static_assert(registry<still_a_registry>);

struct without_loop_type : MemoryRegistry {
private:
    using loop_type = void;
};
struct without_loop : MemoryRegistry {
    void loop() = delete;
};
struct with_another_loop : MemoryRegistry {
    virtual_loop& loop();
};
static_assert(!registry<without_loop_type>);
static_assert(!registry<without_loop>);
static_assert(!registry<with_another_loop>);

struct without_get : MemoryRegistry {
    void get(node_path, watch* = nullptr) = delete;
};
struct with_a_get_that_takes_no_watch : MemoryRegistry {
    task<result<node>> get(node_path);
};
struct with_a_get_that_demands_a_watch : MemoryRegistry {
    task<result<node>> get(node_path, watch*);
};
struct with_a_get_that_cannot_fail : MemoryRegistry {
    task<node> get(node_path, watch* = nullptr);
};
struct without_exists : MemoryRegistry {
    void exists(node_path, watch* = nullptr) = delete;
};
struct with_an_exists_that_takes_no_watch : MemoryRegistry {
    task<result<std::optional<node_stat>>> exists(node_path);
};
struct with_an_exists_that_demands_a_watch : MemoryRegistry {
    task<result<std::optional<node_stat>>> exists(node_path, watch*);
};
struct with_an_exists_without_a_stat : MemoryRegistry {
    task<result<bool>> exists(node_path, watch* = nullptr);
};
struct without_children : MemoryRegistry {
    void children(std::string_view) const = delete;
};
struct with_children_that_take_no_watch : MemoryRegistry {
    task<result<std::vector<std::string>>> children(node_path);
};
struct with_children_that_demand_a_watch : MemoryRegistry {
    task<result<std::vector<std::string>>> children(node_path, watch*);
};
static_assert(!registry<without_get>);
static_assert(!registry<with_a_get_that_takes_no_watch>);
static_assert(!registry<with_a_get_that_demands_a_watch>);
static_assert(!registry<with_a_get_that_cannot_fail>);
static_assert(!registry<without_exists>);
static_assert(!registry<with_an_exists_that_takes_no_watch>);
static_assert(!registry<with_an_exists_that_demands_a_watch>);
static_assert(!registry<with_an_exists_without_a_stat>);
static_assert(!registry<without_children>);
static_assert(!registry<with_children_that_take_no_watch>);
static_assert(!registry<with_children_that_demand_a_watch>);

struct without_create : MemoryRegistry {
    void create(node_path, std::string, create_mode, session_generation) = delete;
};
struct with_a_create_for_any_session : MemoryRegistry {
    task<result<node_path>> create(node_path, std::string, create_mode);
};
struct with_a_create_that_hides_the_path : MemoryRegistry {
    task<result<void>> create(node_path, std::string, create_mode, session_generation);
};
struct without_set : MemoryRegistry {
    void set(node_path, std::string, node_version, session_generation) = delete;
};
struct with_a_set_for_any_session : MemoryRegistry {
    task<result<node_stat>> set(node_path, std::string, node_version);
};
struct without_remove : MemoryRegistry {
    void remove(node_path, node_version, session_generation) = delete;
};
struct with_a_remove_for_any_session : MemoryRegistry {
    task<result<void>> remove(node_path, node_version);
};
struct without_commit : MemoryRegistry {
    void commit(transaction) = delete;
};
struct with_a_commit_that_hides_the_refusal : MemoryRegistry {
    task<result<void>> commit(transaction);
};
struct without_limits : MemoryRegistry {
    void limits() const = delete;
};
static_assert(!registry<without_create>);
static_assert(!registry<with_a_create_for_any_session>);
static_assert(!registry<with_a_create_that_hides_the_path>);
static_assert(!registry<without_set>);
static_assert(!registry<with_a_set_for_any_session>);
static_assert(!registry<without_remove>);
static_assert(!registry<with_a_remove_for_any_session>);
static_assert(!registry<without_commit>);
static_assert(!registry<with_a_commit_that_hides_the_refusal>);
static_assert(!registry<without_limits>);

struct without_session : MemoryRegistry {
    void session() const = delete;
};
struct without_session_changed : MemoryRegistry {
    void session_changed() = delete;
};
struct with_news_of_another_loop : MemoryRegistry {
    event_count<virtual_loop>& session_changed();
};
struct without_abandon : MemoryRegistry {
    void abandon(abandoned_nodes) = delete;
};
static_assert(!registry<without_abandon>);
static_assert(!registry<without_session>);
static_assert(!registry<without_session_changed>);
static_assert(!registry<with_news_of_another_loop>);

} // namespace
