// SPDX-License-Identifier: Apache-2.0
/// \file \brief The requests of a leader whose job follows another one.
#ifndef ELASTICJOB_EXECUTION_ROUND_FOLLOWER_HPP
#define ELASTICJOB_EXECUTION_ROUND_FOLLOWER_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/execution/round_following.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/mirror.hpp>
#include <elasticjob/registry/mirrored.hpp>

#include <utility>

namespace elasticjob {

/// Lives while an instance leads under one schedule. Watches the run records of the followed job, and carries out what
/// `round_following` decides. Costs: a watch for each item of the followed job, a read of its record whenever that
/// changes, and a transaction for each round that counts. Calls `Tell` with each error that prevents it from seeing
/// rounds. Threads: the loop's.
template <registry Registry, class Tell>
class round_follower {
    using Loop = typename Registry::loop_type;

public:
    using basis = following_basis;

    /// Precondition: a valid configuration has `b.followed`.
    round_follower(Registry& r, basis b, Tell tell);

private:
    /// The watched nodes of the followed job.
    struct followed_job : change_listener {
        followed_job(round_follower& o, job_layout const& at);

        static void take_record(change_listener& self, node_change const& change);

        followed_job_view view() const;

        round_following& decisions;
        mirrored_node<Registry> config, schedule;
        mirrored_names<Registry> instances;
        mirror<Registry> records;
    };

    followed_job_view view() const { return followed_ ? followed_->view() : followed_job_view{}; }
    wall_time wall() const { return std::chrono::floor<std::chrono::milliseconds>(registry_.loop().wall_now()); }

    task<void> follow();

    /// Carries out steps until the next rest.
    task<following_step> act();

    Registry& registry_;
    Tell tell_;
    event_count<Loop> news_;
    round_following decisions_;
    std::unique_ptr<followed_job> followed_;
    task_scope tasks_; ///< last: its task uses all of the above
};

template <registry Registry, class Tell>
round_follower<Registry, Tell>::round_follower(Registry& r, basis b, Tell tell)
    : registry_{r},
      tell_{std::move(tell)},
      news_{r.loop()},
      decisions_{std::move(b)} {
    if (decisions_.followed()) followed_ = std::make_unique<followed_job>(*this, *decisions_.followed());
    tasks_.spawn(follow());
}

template <registry Registry, class Tell>
round_follower<Registry, Tell>::followed_job::followed_job(round_follower& o, job_layout const& at)
    : change_listener{&take_record},
      decisions{o.decisions_},
      config{o.registry_, at.config(), o.news_},
      schedule{o.registry_, at.schedule(), o.news_},
      instances{o.registry_, at.instances(), o.news_},
      records{o.registry_, at.run_records(), mirror_scope::children(), o.news_, this} {}

template <registry Registry, class Tell>
void round_follower<Registry, Tell>::followed_job::take_record(change_listener& self, node_change const& change) {
    auto const i = detail::parse_number<item_index>(change.path);
    if (!i) return;
    std::optional<std::string_view> text;
    if (change.what != node_change::kind::removed) text = change.value.data;
    static_cast<followed_job&>(self).decisions.note_record(*i, text);
}

template <registry Registry, class Tell>
followed_job_view round_follower<Registry, Tell>::followed_job::view() const {
    followed_job_view v;
    v.is_loaded = config.is_loaded() && schedule.is_loaded() && instances.is_loaded() && records.is_loaded();
    for (auto const* why : {config.failure(), schedule.failure(), instances.failure(), records.failure()})
        if (!v.failure) v.failure = why;
    v.config = config.get();
    v.schedule = schedule.get();
    auto const is_java = [](std::string const& name) {
        auto const id = instance_id::parse(name);
        return id && id->is_java();
    };
    auto const* names = instances.get();
    v.has_java_members = names && std::any_of(names->begin(), names->end(), is_java);
    return v;
}

template <registry Registry, class Tell>
task<void> round_follower<Registry, Tell>::follow() {
    for (;;) {
        auto const seen = news_.edition();
        auto const rest = co_await act();
        for (auto const& e : decisions_.take_reports()) tell_(e);
        auto const until = rest.pause ? registry_.loop().now() + *rest.pause : mono_time::max();
        co_await news_.newer_than(seen, until);
    }
}

template <registry Registry, class Tell>
task<following_step> round_follower<Registry, Tell>::act() {
    for (auto step = decisions_.next(view(), wall());;) {
        switch (step.what) {
        case following_step::kind::read: {
            auto read = co_await registry_.get(decisions_.basis().at.after());
            step = decisions_.written_read(std::move(read), view(), wall());
            break;
        }
        case following_step::kind::commit:
            step = decisions_.committed(co_await registry_.commit(std::move(step.changes)));
            break;
        case following_step::kind::rest:
            co_return step;
        }
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_ROUND_FOLLOWER_HPP
