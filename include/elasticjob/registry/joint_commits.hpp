// SPDX-License-Identifier: Apache-2.0
/// \file \brief Sends independent transactions of one moment as one request.
#ifndef ELASTICJOB_REGISTRY_JOINT_COMMITS_HPP
#define ELASTICJOB_REGISTRY_JOINT_COMMITS_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace elasticjob {

/// Commits transactions of several jobs together: those of one turn of the loop share a request, as far as they fit.
/// Jobs are often due at the same second, and a request costs a server about as much as the changes in it.
///
/// Each transaction is still decided alone. If the registry refuses one of them, that one gets the refusal, and the
/// others are sent again, each in its own request: the registry has applied none of them. After an error that may
/// concern only one of them, such as no_auth, all are sent again, each alone. A connection error goes to all callers.
/// At most `in_flight_max` requests are in flight, apart from those that are sent again; meanwhile other transactions
/// wait. The lower the limit, the more of them share a request.
///
/// The transactions of one request get the same revision. So do not commit two transactions of a job here at the same
/// time if their revisions are compared with each other.
///
/// It must outlive its callers, and the registry must outlive it. Threads: the loop's.
template <registry Registry>
class joint_commits {
    using Loop = typename Registry::loop_type;

public:
    explicit joint_commits(Registry& r, std::size_t in_flight_max = std::numeric_limits<std::size_t>::max()) noexcept
        : registry_{r},
          in_flight_max_{in_flight_max} {}

    Registry& registry() const noexcept { return registry_; }

    /// As `Registry::commit`, after all work of the loop that is ready now. If the task is destroyed before that,
    /// nothing is sent.
    task<result<commit_reply>> commit(transaction t);

private:
    struct request {
        request(transaction t, Loop& l) : what{std::move(t)}, answered{l} {}
        transaction what;
        std::optional<result<commit_reply>> reply{};
        event_count<Loop> answered;

        void answer(result<commit_reply> const& r) {
            reply.emplace(r);
            answered.notify();
        }
    };
    using requests = std::vector<std::shared_ptr<request>>;
    using iterator = typename requests::iterator;

    task<void> send_waiting();
    /// The end of those that one request carries, which are at least the first.
    iterator end_of_request(iterator begin, iterator end) const;
    task<void> send_joint(requests together);
    task<void> send(requests together);

    static transaction joined(requests const& together);

    /// Whether the reply is about one of several transactions, so that the others may have another one.
    static bool is_of_one(result<commit_reply> const& reply) {
        return reply ? reply->refused.has_value() : !is_transient(reply.error()) && !(reply.error() == errc::closed);
    }

    /// Bounds the time for which one request occupies the ensemble.
    static constexpr std::size_t bytes_max = 128 * 1024;

    Registry& registry_;
    std::size_t const in_flight_max_;
    std::size_t in_flight_ = 0;
    requests waiting_;
    bool is_sending_ = false; ///< send_waiting is running
    task_scope tasks_;        ///< last: its tasks use all of the above
};

template <registry Registry>
task<result<commit_reply>> joint_commits<Registry>::commit(transaction t) {
    auto const mine = std::make_shared<request>(std::move(t), registry_.loop());
    waiting_.push_back(mine);
    if (!std::exchange(is_sending_, true)) tasks_.spawn(send_waiting());
    while (!mine->reply) {
        auto const seen = mine->answered.edition();
        co_await mine->answered.newer_than(seen);
    }
    co_return *std::move(mine->reply);
}

template <registry Registry>
task<void> joint_commits<Registry>::send_waiting() {
    co_await yield(registry_.loop());
    is_sending_ = false;
    auto all = std::exchange(waiting_, {});
    std::erase_if(all, [](auto const& one) { return one.use_count() == 1; }); // its caller has gone
    for (auto begin = all.begin(); begin != all.end();) {
        if (in_flight_ >= in_flight_max_) {
            waiting_.assign(std::make_move_iterator(begin), std::make_move_iterator(all.end()));
            break;
        }
        auto const end = end_of_request(begin, all.end());
        tasks_.spawn(send_joint({std::make_move_iterator(begin), std::make_move_iterator(end)}));
        begin = end;
    }
}

template <registry Registry>
auto joint_commits<Registry>::end_of_request(iterator begin, iterator end) const -> iterator {
    auto const limits = registry_.limits();
    std::size_t operations = 0, bytes = 0;
    auto const fits = [&](auto const& next) {
        auto const& t = next->what;
        operations += t.size();
        bytes += t.bytes();
        return t.generation() == (*begin)->what.generation() && operations <= limits.operations_max &&
               limits.counted(operations, bytes) <= std::min(limits.request_bytes_max, bytes_max);
    };
    (void)fits(*begin); // it is sent in any case
    return std::find_if_not(std::next(begin), end, fits);
}

template <registry Registry>
task<void> joint_commits<Registry>::send_joint(requests together) {
    ++in_flight_;
    co_await send(std::move(together));
    --in_flight_;
    if (!waiting_.empty() && !std::exchange(is_sending_, true)) tasks_.spawn(send_waiting());
}

template <registry Registry>
task<void> joint_commits<Registry>::send(requests together) {
    bool const is_alone = together.size() == 1;
    auto whole = is_alone ? std::move(together.front()->what) : joined(together);
    auto const reply = co_await registry_.commit(std::move(whole));
    if (is_alone || !is_of_one(reply)) {
        for (auto const& one : together) one->answer(reply);
        co_return;
    }
    std::size_t end = 0; // of the operations of `one` in the request
    for (auto& one : together) {
        auto const begin = std::exchange(end, end + one->what.size());
        auto const at = reply ? reply->refused->operation : end;
        if (begin <= at && at < end)
            one->answer(commit_reply{commit_reply::refusal{at - begin, reply->refused->why}});
        else if (one.use_count() > 1) // or else its caller has gone
            tasks_.spawn(send(requests(1, std::move(one))));
    }
}

template <registry Registry>
transaction joint_commits<Registry>::joined(requests const& together) {
    transaction joint{together.front()->what.generation()};
    for (auto const& one : together)
        for (auto const& o : one->what.operations()) joint.add(o);
    return joint;
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_JOINT_COMMITS_HPP
