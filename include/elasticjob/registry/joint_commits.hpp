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
/// The transactions of one request get the same revision, so do not commit transactions here whose revisions are
/// compared.
///
/// It must outlive its callers, and the registry must outlive it. Threads: the loop's.
template <registry Registry>
class joint_commits {
    using Loop = typename Registry::loop_type;

public:
    explicit joint_commits(Registry& r) noexcept : registry_{r} {}

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

    task<void> send_waiting();
    task<void> send(requests together);

    static transaction joined(requests const& together);

    /// Whether the reply is about one of several transactions, so that the others may have another one.
    static bool is_of_one(result<commit_reply> const& reply) {
        return reply ? reply->refused.has_value() : !is_transient(reply.error()) && !(reply.error() == errc::closed);
    }

    /// Bounds the time for which one request occupies the ensemble.
    static constexpr std::size_t bytes_max = 128 * 1024;

    Registry& registry_;
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
    auto const limits = registry_.limits();
    requests together;
    std::size_t operations = 0, bytes = 0;
    for (auto& next : std::exchange(waiting_, {})) {
        if (next.use_count() == 1) continue; // its caller has gone
        auto const& t = next->what;
        operations += t.size();
        bytes += t.bytes();
        bool const fits =
            together.empty() ||
            (together.front()->what.generation() == t.generation() && operations <= limits.operations_max &&
             limits.counted(operations, bytes) <= std::min(limits.request_bytes_max, bytes_max));
        if (!fits) {
            tasks_.spawn(send(std::exchange(together, {})));
            operations = t.size();
            bytes = t.bytes();
        }
        together.push_back(std::move(next));
    }
    if (!together.empty()) tasks_.spawn(send(std::move(together)));
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
