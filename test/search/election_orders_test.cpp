// SPDX-License-Identifier: Apache-2.0
// Every order in which requests, replies, losses and session ends can occur while a few instances elect a leader.
#include <elasticjob/election/election.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <support/sanitized.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;

namespace {

job_layout const at{job_name::parse("a").value()};

instance_id instance(std::size_t i) {
    return instance_id::parse("10.0.0." + std::to_string(i) + "@-@" + std::to_string(i)).value();
}

/// The registry's state that elections depend on.
struct nodes {
    struct candidate {
        std::string name;
        std::size_t owner;
        friend bool operator==(candidate const&, candidate const&) = default;
    };
    std::vector<candidate> queue; ///< in the order of their numbers
    std::optional<std::size_t> leader;
    bool has_queue = true;
    friend bool operator==(nodes const&, nodes const&) = default;
};

/// Weaknesses that a search can plant: each removes one protection of elections.
enum class weakness {
    none,
    writes_show_nothing, ///< a follower that has answered to a write may still be behind it
    losses_are_ignored,  ///< a candidate whose creation has no reply is taken for absent
};

/// The number of faults of each kind, summed over all instances.
struct budget {
    int losses = 1;   ///< requests or replies
    int sessions = 1; ///< that end
    int reaped = 1;   ///< times that the server removes the empty queue, as it does with Curator's containers
};

class booths {
public:
    booths(std::size_t instances, budget faults, weakness without = weakness::none) : left_{faults}, without_{without} {
        for (std::size_t i = 0; i < instances; ++i) members_.push_back({election{at, instance(i)}});
    }

    std::vector<std::string> moves() const {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < members_.size(); ++i) {
            auto const& m = members_[i];
            auto const add = [&](char const* what) { all.push_back(std::to_string(i) + what); };
            if (!(m.shown == is_)) add(" catches up");
            if (!m.next) {
                if (m.stands.is_standing() || !m.shown.leader) add(" looks");
            } else if (m.next->what == election_step::kind::await_change) {
                if (!finds(m.shown, m.next->path)) add(" is served");
            } else {
                add(" is served");
                if (left_.losses > 0) add(" loses the request");
                if (left_.losses > 0) add(" loses the reply");
            }
            if (left_.sessions > 0) add(" loses its session");
        }
        if (left_.reaped > 0 && is_.has_queue && is_.queue.empty()) all.push_back("the empty queue is removed");
        return all;
    }

    void make(std::string const& move) {
        if (move.starts_with("the ")) {
            --left_.reaped;
            is_.has_queue = false;
            return;
        }
        auto const i = static_cast<std::size_t>(move[0] - '0');
        auto& m = members_[i];
        auto const what = move.substr(2);
        if (what == "catches up") {
            m.shown = is_;
        } else if (what == "looks") {
            auto const uuid = std::to_string(i) + "-" + std::to_string(++m.uuids);
            go_on(m, m.stands.is_standing() ? m.stands.withdraw(m.session) : m.stands.stand(m.session, uuid));
        } else if (what == "is served") {
            serve(i, true);
        } else if (what == "loses the reply") {
            --left_.losses;
            serve(i, false);
        } else if (what == "loses the request") {
            --left_.losses;
            answer(m, error{errc::unknown_outcome, "lost"});
        } else {
            --left_.sessions;
            ++m.session.value;
            std::erase_if(is_.queue, [&](auto const& c) { return c.owner == i; });
            if (is_.leader == i) is_.leader.reset();
            if (m.next) answer(m, error{errc::session_lost, "over"});
        }
    }

    std::string key() const {
        auto const number = [&](std::string_view name) {
            for (std::size_t n = 0; n < is_.queue.size(); ++n)
                if (is_.queue[n].name == name) return std::to_string(n);
            return std::string{"gone"};
        };
        auto const text = [&](nodes const& seen) {
            std::string t = seen.has_queue ? "q" : "-";
            for (auto const& c : seen.queue) t += std::to_string(c.owner) + ":" + number(c.name) + ",";
            return t + (seen.leader ? std::to_string(*seen.leader) : "-");
        };
        std::string k =
            text(is_) + std::to_string(left_.losses) + std::to_string(left_.sessions) + std::to_string(left_.reaped);
        for (auto const& m : members_) {
            auto const& e = m.stands;
            k += "|" + text(m.shown) + to_string(e) + (e.is_standing() ? "s" : "-");
            k += e.candidate() ? number(e.candidate()->name()) : "?";
            k += e.front() ? number(e.front()->name()) : "-";
            k += m.next ? std::to_string(static_cast<int>(m.next->what)) : "-";
            if (m.next && m.next->what == election_step::kind::await_change) k += number(m.next->path.name());
            // A candidate of this member whose path it does not know.
            for (auto const& c : is_.queue)
                if (e.is_standing() && !e.candidate() && c.owner == index_of(m)) k += "u" + number(c.name);
        }
        return k;
    }

    std::string problem() const {
        for (auto const& m : members_) {
            auto const who = "instance " + std::to_string(index_of(m));
            if (!m.stands.holds()) return "the election of " + who + " contradicts itself";
            for (auto const& c : is_.queue)
                if (c.owner == index_of(m) && !m.stands.is_standing())
                    return "a candidate of " + who + " is in the queue, and it does not know";
        }
        return {};
    }

    bool is_goal() const { return is_.leader.has_value(); }

private:
    struct member {
        election stands;
        session_generation session{1};
        std::optional<election_step> next{};
        nodes shown{}; ///< by the follower that it talks to
        int uuids = 0;
    };

    std::size_t index_of(member const& m) const { return static_cast<std::size_t>(&m - members_.data()); }

    static bool finds(nodes const& in, node_path const& path) {
        if (path == at.leader_instance()) return in.leader.has_value();
        return std::any_of(in.queue.begin(), in.queue.end(), [&](auto const& c) { return c.name == path.name(); });
    }

    /// The election ends or makes another request.
    static void go_on(member& m, election_step s) {
        m.next = std::move(s);
        if (m.next->what == election_step::kind::finished) m.next.reset();
    }

    void serve(std::size_t i, bool has_reply) {
        auto& m = members_[i];
        auto const s = std::move(*m.next);
        bool const is_write = s.what == election_step::kind::create_candidate ||
                              s.what == election_step::kind::commit || s.what == election_step::kind::remove_candidate;
        std::optional<errc> refused;
        std::string created;
        if (s.what == election_step::kind::commit) {
            for (auto const& o : s.changes.operations())
                if (auto const why = apply(i, o, created)) {
                    refused = why;
                    refused_at_ = static_cast<std::size_t>(&o - s.changes.operations().data());
                    break;
                }
        } else if (is_write) {
            auto const what =
                s.what == election_step::kind::create_candidate ? operation::kind::create : operation::kind::remove;
            refused = apply(i, {what, s.path, {}, create_mode::ephemeral_sequential}, created);
        }
        if (!has_reply) return answer(m, error{errc::unknown_outcome, "lost"});
        if (is_write && without_ != weakness::writes_show_nothing) m.shown = is_;
        switch (s.what) {
        case election_step::kind::create_candidate:
            if (refused) return answer(m, error{*refused, "refused"});
            return go_on(m, m.stands.candidate_created(node_path::parse(created).value()));
        case election_step::kind::read_queue: {
            if (!m.shown.has_queue) return answer(m, error{errc::no_node, "no queue"});
            std::vector<std::string> names;
            for (auto const& c : m.shown.queue) names.insert(names.begin(), c.name);
            return go_on(m, m.stands.queue_read(std::move(names)));
        }
        case election_step::kind::read_leader:
            return go_on(m, m.stands.leader_read(m.shown.leader.has_value()));
        case election_step::kind::await_change:
            return go_on(m, m.stands.front_changed(success()));
        case election_step::kind::read_parents: {
            std::vector<std::optional<node>> found(3, node{});
            if (!m.shown.has_queue) found[2].reset();
            return go_on(m, m.stands.parents_read(std::move(found)));
        }
        case election_step::kind::commit: {
            commit_reply reply;
            if (refused) reply.refused = commit_reply::refusal{refused_at_, *refused};
            return go_on(m, m.stands.committed(reply));
        }
        case election_step::kind::remove_candidate:
            if (refused) return answer(m, error{*refused, "refused"});
            return go_on(m, m.stands.candidate_removed(success()));
        case election_step::kind::finished:
            break;
        }
    }

    /// Transactions of elections change at most one thing before they can be refused, so nothing is ever taken back.
    std::optional<errc> apply(std::size_t i, operation const& o, std::string& created) {
        bool const is_queue = o.path == at.election_latch();
        bool const is_candidate = !is_queue && o.path.parent() == at.election_latch();
        switch (o.what) {
        case operation::kind::check:
            return is_candidate && !finds(is_, o.path) ? std::optional{errc::no_node} : std::nullopt;
        case operation::kind::create:
            if (is_queue) {
                if (is_.has_queue) return errc::node_exists;
                is_.has_queue = true;
            } else if (is_candidate) {
                if (!is_.has_queue) return errc::no_node;
                char digits[16];
                std::snprintf(digits, sizeof digits, "%010d", ++last_number_);
                created = o.path.str() + digits;
                is_.queue.push_back({std::string{node_path::parse(created).value().name()}, i});
            } else {
                if (is_.leader) return errc::node_exists;
                is_.leader = i;
            }
            return std::nullopt;
        case operation::kind::remove: {
            auto const gone = std::erase_if(is_.queue, [&](auto const& c) { return c.name == o.path.name(); });
            return gone == 0 ? std::optional{errc::no_node} : std::nullopt;
        }
        default:
            return std::nullopt;
        }
    }

    /// The failure of any request.
    void answer(member& m, error e) {
        auto const what = m.next->what;
        m.next.reset();
        switch (what) {
        case election_step::kind::create_candidate: {
            bool const was_lost = e == errc::unknown_outcome;
            go_on(m, m.stands.candidate_created(std::move(e)));
            if (was_lost && without_ == weakness::losses_are_ignored) m.stands.forget();
            return;
        }
        case election_step::kind::read_queue:
            return go_on(m, m.stands.queue_read(std::move(e)));
        case election_step::kind::read_leader:
            return go_on(m, m.stands.leader_read(std::move(e)));
        case election_step::kind::await_change:
            return go_on(m, m.stands.front_changed(std::move(e)));
        case election_step::kind::read_parents:
            return go_on(m, m.stands.parents_read(std::move(e)));
        case election_step::kind::commit:
            return go_on(m, m.stands.committed(std::move(e)));
        case election_step::kind::remove_candidate:
            return go_on(m, m.stands.candidate_removed(std::move(e)));
        case election_step::kind::finished:
            break;
        }
    }

    nodes is_;
    std::vector<member> members_;
    budget left_;
    weakness without_;
    int last_number_ = 0;
    std::size_t refused_at_ = 0;
};

static_assert(testing::searchable_world<booths>);

/// Sanitizers are slow, and fewer states are enough for them.
#ifdef ELASTICJOB_TEST_SANITIZED
constexpr int losses_of_two = 1;
constexpr std::uint64_t states_least = 1'000;
constexpr std::size_t more_instances = 2;
#else
constexpr int losses_of_two = 2;
constexpr std::uint64_t states_least = 10'000;
constexpr std::size_t more_instances = 3;
#endif

} // namespace

TEST_CASE("election: no order of events leaves a candidate forgotten, and a leader can follow from every state") {
    auto const instances_2 = testing::check_all(booths{2, {.losses = losses_of_two, .sessions = 1, .reaped = 1}});
    CHECK_MESSAGE(instances_2.holds(), to_string(instances_2));
    auto const more = testing::check_all(booths{more_instances, {.losses = 1, .sessions = 0, .reaped = 0}});
    CHECK_MESSAGE(more.holds(), to_string(more));
    MESSAGE("2 instances: " << to_string(instances_2) << "; " << more_instances << ": " << to_string(more));
    CHECK(instances_2.states > states_least);
    CHECK(more.states > states_least / 10);
}

TEST_CASE("election: without a write in front of the search for a lost candidate, the search of all orders fails") {
    auto const found = testing::check_all(booths{2, {}, weakness::writes_show_nothing});
    CHECK_FALSE(found.problem.empty());
    CHECK(found.trace.size() < 15);
    MESSAGE(to_string(found));
}

TEST_CASE("election: if an elector takes a lost reply for a refusal, the search of all orders fails") {
    auto const found = testing::check_all(booths{2, {}, weakness::losses_are_ignored});
    CHECK_FALSE(found.problem.empty());
    CHECK(found.trace.size() == 2);
    MESSAGE(to_string(found));
}
