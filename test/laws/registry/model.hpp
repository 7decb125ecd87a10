// SPDX-License-Identifier: Apache-2.0
/// \file \brief A law of registries: after any operations and losses, the tree is one that a simple model allows.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_MODEL_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_MODEL_HPP

#include <laws/registry/report.hpp>
#include <laws/registry/world.hpp>

#include <elasticjob/registry/registry.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace laws {

using namespace elasticjob;

namespace detail {

/// The tree as a plain map; a change works on a copy. It is slow and simple, and was written independently of the
/// library.
struct tree_model {
    struct entry {
        std::string data;
        node_version version = 0;
        friend bool operator==(entry const&, entry const&) = default;
    };
    std::map<std::string, entry> nodes{};
    friend bool operator==(tree_model const&, tree_model const&) = default;

    std::optional<errc> step(operation const& o) {
        auto const& path = o.path.str();
        auto const found = nodes.find(path);
        if (o.what == operation::kind::create) {
            if (!o.path.parent().is_root() && !nodes.contains(o.path.parent().str())) return errc::no_node;
            if (found != nodes.end()) return errc::node_exists;
            nodes[path] = entry{o.data};
            return std::nullopt;
        }
        if (found == nodes.end()) return errc::no_node;
        if (o.version != any_version && o.version != found->second.version) return errc::version_conflict;
        if (o.what == operation::kind::set) {
            found->second.data = o.data;
            ++found->second.version;
        } else if (o.what == operation::kind::remove) {
            for (auto const& [other, ignored] : nodes)
                if (other.starts_with(path + "/")) return errc::not_empty;
            nodes.erase(found);
        }
        return std::nullopt;
    }

    std::optional<commit_reply::refusal> apply(std::vector<operation> const& operations) {
        auto const before = nodes;
        for (std::size_t i = 0; i < operations.size(); ++i)
            if (auto const why = step(operations[i])) {
                nodes = before;
                return commit_reply::refusal{i, *why};
            }
        return std::nullopt;
    }

    std::string text() const {
        std::string line;
        for (auto const& [path, e] : nodes) line += path + "=" + e.data + "@" + std::to_string(e.version) + " ";
        return line;
    }
};

inline std::vector<node_path> model_paths() {
    std::vector<node_path> paths;
    for (auto const* const path : {"/a", "/a/x", "/a/y", "/a/x/deep", "/b", "/b/x"}) paths.push_back(at(path));
    return paths;
}

inline operation random_operation(std::mt19937_64& random, bool in_transaction, int serial) {
    auto const paths = model_paths();
    auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    operation o{operation::kind::create, paths[random() % paths.size()]};
    auto const kinds = in_transaction ? 8 : 7;
    switch (pick(kinds)) {
    case 0:
    case 1:
    case 2:
        break;
    case 3:
    case 4:
        o.what = operation::kind::set;
        break;
    case 5:
    case 6:
        o.what = operation::kind::remove;
        break;
    default:
        o.what = operation::kind::check;
    }
    if (o.what == operation::kind::create || o.what == operation::kind::set) o.data = std::to_string(serial);
    if (o.what != operation::kind::create && pick(2) == 0) o.version = pick(3);
    return o;
}

/// The registry's nodes at the model's paths. Reads may be repeated, so a lost read is repeated.
template <class Registry>
task<result<tree_model>> read_back(Registry& r) {
    tree_model found;
    auto const paths = model_paths();
    for (auto const& path : paths) {
        for (int tries_left = 1000;; --tries_left) {
            auto const n = co_await r.get(path);
            if (n) {
                found.nodes[path.str()] = tree_model::entry{n->data, n->stat.version};
                break;
            }
            if (n.error() == errc::no_node) break;
            if (tries_left == 0) co_return n.error();
            ELASTICJOB_CO_CHECK(co_await connected_session(r));
        }
    }
    co_return found;
}

/// One write of one to four operations. The refusal of a single operation counts as that of a transaction with one
/// operation.
template <class Registry>
task<result<commit_reply>> write(Registry& r, std::vector<operation> operations, session_generation g) {
    if (operations.size() > 1) {
        transaction t{g};
        for (auto const& o : operations) {
            switch (o.what) {
            case operation::kind::check:
                t.check(o.path, o.version);
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
        co_return co_await r.commit(std::move(t));
    }
    std::optional<error> failure;
    auto const o = operations.front();
    if (o.what == operation::kind::create) {
        auto const made = co_await r.create(o.path, o.data, o.mode, g);
        if (!made) failure = made.error();
    } else if (o.what == operation::kind::set) {
        auto const after = co_await r.set(o.path, o.data, o.version, g);
        if (!after) failure = after.error();
    } else {
        auto const removed = co_await r.remove(o.path, o.version, g);
        if (!removed) failure = removed.error();
    }
    commit_reply reply;
    if (!failure) co_return reply;
    if (!is_conflict(failure->code)) co_return *failure;
    reply.refused = commit_reply::refusal{0, failure->code};
    co_return reply;
}

inline bool same(std::optional<commit_reply::refusal> const& a, std::optional<commit_reply::refusal> const& b) {
    if (!a || !b) return !a && !b;
    return a->operation == b->operation && a->why == b->why;
}

inline std::string text_of_refusal(std::optional<commit_reply::refusal> const& r) {
    return r ? std::string{name_of(r->why)} + " of operation " + std::to_string(r->operation) : "done";
}

} // namespace detail

/// If a reply came, it is the model's. If it was lost, the effect is complete or absent. A request that was not sent,
/// or that belonged to a session that is over, has no effect.
template <loop Loop>
task<law_report> writes_do_what_they_say(world_ref<Loop>& world, std::uint64_t seed, int rounds) {
    auto& r = world.registry();
    std::mt19937_64 random{seed};
    detail::tree_model model;
    auto seen = r.session().generation;
    for (int round = 0; round < rounds; ++round) {
        auto blame = [&](std::string_view what, std::string_view instead) {
            return broken(__FILE__, __LINE__,
                          "seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": " +
                              std::string{what} + " [" + model.text() + "]",
                          instead);
        };
        std::vector<operation> operations;
        auto const count = random() % 2 == 0 ? 1 : 2 + random() % 3;
        for (std::size_t i = 0; i < count; ++i)
            operations.push_back(detail::random_operation(random, count > 1, round));
        // Sometimes under the present session, otherwise under the session of the previous round.
        auto const g = random() % 2 == 0 ? seen : session_generation::current();
        bool const is_over = g == seen && g != r.session().generation;
        seen = r.session().generation;
        auto after = model;
        auto const expected = after.apply(operations);
        auto const reply = co_await detail::write(r, operations, g);
        auto const found = co_await detail::read_back(r);
        if (!found) co_return blame("the tree can be read back", to_string(found.error()));
        if (is_over && !fails_with(reply, errc::session_lost))
            co_return blame("it belonged to a session that is over", text_of(reply));
        if (reply) {
            if (!detail::same(reply->refused, expected))
                co_return blame("the reply is the model's: " + detail::text_of_refusal(expected),
                                detail::text_of_refusal(reply->refused));
            if (!(*found == after)) co_return blame("the tree is the model's after a reply", found->text());
        } else if (reply.error() == errc::unknown_outcome) {
            if (!(*found == after) && !(*found == model))
                co_return blame("unknown means: all of it or nothing", found->text());
        } else if (reply.error() == errc::not_sent || reply.error() == errc::session_lost) {
            if (!(*found == model)) co_return blame("it certainly had no effect", found->text());
        } else {
            co_return blame("only these errors", to_string(reply.error()));
        }
        model = *found;
    }
    co_return kept();
}

/// Runs that law in a world.
template <registry_world World>
law_report check_writes(World& world, std::uint64_t seed, int rounds) {
    return check_in(world, [&](auto& w) { return writes_do_what_they_say(w, seed, rounds); });
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_REGISTRY_MODEL_HPP
