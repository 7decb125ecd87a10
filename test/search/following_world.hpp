// SPDX-License-Identifier: Apache-2.0
/// \file \brief Leaders of a job that follows another one, in a world for the search of all orders of events.
#ifndef ELASTICJOB_TEST_SEARCH_FOLLOWING_WORLD_HPP
#define ELASTICJOB_TEST_SEARCH_FOLLOWING_WORLD_HPP

#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/execution/round_following.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/registry/memory/node_tree.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::test {

struct following_scope {
    int rounds = 2;     ///< of the followed job
    bool grows = false; ///< the followed job gets a second item at any time
    bool ends = false;  ///< at any time the job no longer follows
    int takeovers = 1;
    int lost_requests = 0, lost_replies = 0;
    int stale_reads = 0; ///< answers of a follower that is behind
};

/// Weaknesses that a search can plant: each removes one protection of the rounds.
enum class following_weakness {
    none,
    versions_are_ignored,       ///< the node is written whatever another leader has written
    growth_is_ignored,          ///< the configuration of the followed job is not checked
    schedules_are_ignored,      ///< nor is the job's own schedule
    lost_replies_count_as_done, ///< nothing is read after a reply was lost
};

/// The job `follower` has two instances. Either may lead, and a former leader goes on until it learns of the other. The
/// items of the job `first` end their rounds at any time. Watches come at any time and in order, requests take any
/// time.
///
/// The shipped class decides. The world does what `round_follower` does around it.
class following_world {
public:
    explicit following_world(following_scope s, following_weakness without = following_weakness::none);

    std::vector<std::string> moves() const;
    void make(std::string const& move);
    std::string key() const;
    std::string problem() const { return problem_; }
    bool is_goal() const;

private:
    static constexpr std::size_t items_max = 2;
    using counts = std::array<int, items_max>; ///< of the ended rounds, by item

    struct leader {
        enum class phase : std::uint8_t { rests, has_news, reads, commits, hears };

        round_following decisions;
        node config, schedule; ///< as this leader sees them
        counts seen{};
        phase is = phase::has_news;
        std::vector<operation> sent{};       ///< while it commits
        std::optional<commit_reply> reply{}; ///< while it hears
        bool has_more_news = false;          ///< since it last began to act

        // The state of the decisions, for the key.
        std::string known = "unread", pending{};
        counts looked{};
        bool has_looked = false;
    };
    using phase = leader::phase;

    static wall_time due(int round) { return midnight + std::chrono::seconds{10 * round}; }
    /// The record of an item that has ended these rounds.
    static std::string record(int after, int ended);
    std::string record_of(std::size_t item, int ended) const { return record(item == 0 ? 0 : grown_after_, ended); }
    bool has_record(std::size_t item) const { return ended_[item] > (item == 0 ? 0 : grown_after_); }
    static std::string text_of(node const* n) {
        return n ? std::to_string(n->stat.version) + ":" + n->data : std::string{"absent"};
    }
    static std::string text_of(counts const& c) { return std::to_string(c[0]) + "," + std::to_string(c[1]); }

    std::size_t items() const { return tree_.find(first_.config())->stat.version == 0 ? 1 : 2; }
    bool does_follow() const { return tree_.find(at_.schedule())->stat.version == 0; }

    void apply(std::vector<operation> const& operations) { (void)tree_.apply(operations, 1, 0); }
    static std::string config_text(int items);

    void begin(std::size_t who);
    followed_job_view view_of(leader const& l) const;
    void act(leader& l, following_step step);
    void commit(leader& l);
    void judge(std::string const& before);
    std::vector<operation> weakened(std::vector<operation> all) const;

    static constexpr wall_time midnight{std::chrono::seconds{1'767'225'600}};
    static constexpr wall_time wall = midnight + std::chrono::hours{1};

    following_scope left_;
    following_weakness without_;
    job_layout at_{job_name::parse("follower").value()}, first_{job_name::parse("first").value()};
    node_tree tree_;
    std::optional<node> former_; ///< `ext/after` before the last write
    counts ended_{};
    int grown_after_ = 0; ///< the rounds of the first item when the second one came
    std::size_t leads_ = 0;
    std::array<std::optional<leader>, 2> leaders_;
    std::set<wall_time> written_; ///< the rounds that have ever been written
    std::string problem_;
};

inline std::string following_world::record(int after, int ended) {
    run_record r;
    for (int round = after + 1; round <= ended; ++round) {
        r.through = due(round);
        r.running = run_begin{due(round), run_source::schedule, 1, "10.0.0.1@-@1", due(round)};
        r.end(run_outcome::completed, due(round) + std::chrono::seconds{1});
    }
    return r.to_text();
}

inline std::string following_world::config_text(int items) {
    job_config c;
    c.name = "first";
    c.cron = "0/10 * * * * ?";
    c.sharding_total_count = items;
    return to_json(c);
}

inline following_world::following_world(following_scope s, following_weakness without) : left_{s}, without_{without} {
    transaction t{session_generation{1}};
    for (auto const* at : {&at_, &first_}) t.create(at->root(), {}).create(at->ext(), {});
    t.create(at_.leader(), {}).create(at_.election(), {}).create(at_.leader_instance(), "0");
    t.create(at_.schedule(), "follows").create(first_.config(), config_text(1));
    apply(t.operations());
    begin(0);
}

inline void following_world::begin(std::size_t who) {
    following_basis basis{{1}, at_};
    auto const& schedule = *tree_.find(at_.schedule());
    if (does_follow()) basis.followed = job_schedule::after_job("first", round_end::ended);
    basis.schedule_version = schedule.stat.version;
    basis.since = midnight;
    leaders_[who].emplace(leader{round_following{basis}, *tree_.find(first_.config()), schedule, ended_});
    for (std::size_t i = 0; i < items_max; ++i)
        if (has_record(i)) leaders_[who]->decisions.note_record(static_cast<item_index>(i), record_of(i, ended_[i]));
}

inline followed_job_view following_world::view_of(leader const& l) const {
    followed_job_view v;
    v.is_loaded = true;
    v.config = &l.config;
    return v;
}

inline std::vector<std::string> following_world::moves() const {
    std::vector<std::string> all;
    if (!problem_.empty()) return all;
    for (std::size_t i = 0; i < items(); ++i)
        if (ended_[i] < left_.rounds) all.push_back("item " + std::to_string(i) + " ends a round");
    if (left_.grows && items() == 1 && ended_[0] < left_.rounds) all.emplace_back("the followed job gets another item");
    if (left_.ends && does_follow()) all.emplace_back("the job follows none any more");
    if (left_.takeovers > 0) all.emplace_back("the other instance takes over");
    for (std::size_t n = 0; n < leaders_.size(); ++n) {
        if (!leaders_[n]) continue;
        auto const& l = *leaders_[n];
        auto const who = "leader " + std::to_string(n) + ' ';
        auto const add = [&](bool is_possible, char const* what) {
            if (is_possible) all.push_back(who + what);
        };
        for (std::size_t i = 0; i < items_max; ++i)
            if (l.seen[i] < ended_[i]) all.push_back(who + "sees item " + std::to_string(i));
        add(l.config.stat.version != tree_.find(first_.config())->stat.version, "sees the followed job");
        add(l.schedule.stat.version != tree_.find(at_.schedule())->stat.version, "sees its schedule");
        add(n != leads_, "learns of the other");
        add(l.is == phase::has_news, "acts");
        add(l.is == phase::reads, "reads");
        add(l.is == phase::reads && left_.stale_reads > 0, "reads what was there before");
        add(l.is == phase::reads && left_.lost_replies > 0, "reads, and gets no reply");
        add(l.is == phase::commits, "commits");
        add(l.is == phase::commits && left_.lost_requests > 0, "commits, and the request is lost");
        add(l.is == phase::hears, "gets a reply");
        add(l.is == phase::hears && left_.lost_replies > 0, "gets no reply");
    }
    return all;
}

inline void following_world::make(std::string const& move) {
    if (move.starts_with("item ")) {
        ++ended_[static_cast<std::size_t>(move[5] - '0')];
        return;
    }
    if (move == "the followed job gets another item") {
        apply(transaction{session_generation{1}}.set(first_.config(), config_text(2)).operations());
        grown_after_ = ended_[1] = ended_[0]; // it begins with the next round
        for (auto& l : leaders_)
            if (l) l->seen[1] = grown_after_;
        return;
    }
    if (move == "the job follows none any more")
        return apply(transaction{session_generation{1}}.set(at_.schedule(), "none").operations());
    if (move == "the other instance takes over") {
        --left_.takeovers;
        leads_ = 1 - leads_;
        return begin(leads_);
    }
    auto const n = static_cast<std::size_t>(move[7] - '0');
    auto& l = *leaders_[n];
    auto const what = std::string_view{move}.substr(9);
    auto const unknown = error{errc::unknown_outcome, "lost"};
    auto const has_news = [&] {
        if (l.is == phase::rests) l.is = phase::has_news;
        l.has_more_news = true;
    };
    if (what.starts_with("sees item ")) {
        auto const i = static_cast<std::size_t>(what.back() - '0');
        l.seen[i] = ended_[i];
        l.decisions.note_record(static_cast<item_index>(i), record_of(i, l.seen[i]));
        has_news();
    } else if (what == "sees the followed job") {
        l.config = *tree_.find(first_.config());
        has_news();
    } else if (what == "sees its schedule") {
        if (n == leads_) return begin(n);
        leaders_[n].reset();
    } else if (what == "learns of the other") {
        leaders_[n].reset();
    } else if (what == "acts") {
        l.has_more_news = false;
        act(l, l.decisions.next(view_of(l), wall));
    } else if (what == "reads" || what == "reads what was there before") {
        bool const is_stale = what != "reads";
        left_.stale_reads -= is_stale;
        auto const* now = tree_.find(at_.after());
        auto const* there = is_stale ? (former_ ? &*former_ : nullptr) : now;
        l.known = text_of(there);
        act(l, l.decisions.written_read(there ? result<node>{*there} : error{errc::no_node, "none"}, view_of(l), wall));
    } else if (what == "reads, and gets no reply") {
        --left_.lost_replies;
        act(l, l.decisions.written_read(unknown, view_of(l), wall));
    } else if (what == "commits") {
        commit(l);
    } else if (what == "commits, and the request is lost") {
        --left_.lost_requests;
        bool const is_taken_for_done = without_ == following_weakness::lost_replies_count_as_done;
        l.known = is_taken_for_done ? l.pending : "unread";
        act(l, l.decisions.committed(is_taken_for_done ? result<commit_reply>{commit_reply{}} : unknown));
    } else {
        bool const is_lost = what == "gets no reply";
        left_.lost_replies -= is_lost;
        bool const is_taken_for_done = is_lost && without_ == following_weakness::lost_replies_count_as_done;
        auto reply = is_taken_for_done ? result<commit_reply>{commit_reply{}}
                     : is_lost         ? result<commit_reply>{unknown}
                                       : result<commit_reply>{*l.reply};
        l.known = reply && *reply ? l.pending : "unread";
        l.reply.reset();
        act(l, l.decisions.committed(std::move(reply)));
    }
}

/// Up to the next request or rest. After a pause there is something to do again.
inline void following_world::act(leader& l, following_step step) {
    (void)l.decisions.take_reports();
    l.pending.clear();
    switch (step.what) {
    case following_step::kind::read:
        l.is = phase::reads;
        break;
    case following_step::kind::commit:
        l.is = phase::commits;
        l.sent = weakened(step.changes.operations());
        l.pending = "own:" + step.changes.operations().back().data;
        break;
    case following_step::kind::rest:
        l.is = step.pause || l.has_more_news ? phase::has_news : phase::rests;
        if (step.pause) break;
        l.has_looked = true;
        for (std::size_t i = 0; i < items_max; ++i) l.looked[i] = std::max(l.looked[i], l.seen[i]);
        break;
    }
}

inline std::vector<operation> following_world::weakened(std::vector<operation> all) const {
    using weakness = following_weakness;
    if (without_ == weakness::versions_are_ignored && all.back().what == operation::kind::set)
        all.back().version = any_version;
    std::erase_if(all, [&](operation const& o) {
        return (without_ == weakness::growth_is_ignored && o.path == first_.config()) ||
               (without_ == weakness::schedules_are_ignored && o.path == at_.schedule());
    });
    return all;
}

inline void following_world::commit(leader& l) {
    auto const* now = tree_.find(at_.after());
    auto const before = now ? std::optional{*now} : std::nullopt;
    auto const answer = tree_.apply(std::exchange(l.sent, {}), 1, 0);
    l.reply.emplace();
    l.reply->refused = answer.refused;
    l.is = phase::hears;
    if (answer.refused) return;
    former_ = before;
    judge(before ? before->data : std::string{});
}

/// Compares the content of `ext/after` with the one before.
inline void following_world::judge(std::string const& before) {
    auto const now = followed_rounds::parse(tree_.find(at_.after())->data);
    if (!now) return void(problem_ = "the rounds cannot be read: " + to_string(now.error()));
    std::set<wall_time> had, has;
    auto const former = before.empty() ? followed_rounds{} : followed_rounds::parse(before).value();
    for (auto const& r : former.rounds) had.insert(r.of);
    for (auto const& r : now->rounds) has.insert(r.of);
    if (now->rounds.size() != has.size()) problem_ = "a round is there twice";
    if (!now->job.empty() && !does_follow()) problem_ = "rounds of a job that is not followed any more";
    for (auto const round : had)
        if (!now->job.empty() && !has.contains(round)) problem_ = "a round has gone";
    for (auto const round : has) {
        if (had.contains(round)) continue;
        if (!written_.insert(round).second) problem_ = "a round is written for the second time";
        for (std::size_t i = 0; i < items(); ++i)
            if (due(ended_[i]) < round)
                problem_ = "a round is written that item " + std::to_string(i) + " has not ended";
    }
}

inline bool following_world::is_goal() const {
    auto const* after = tree_.find(at_.after());
    if (!does_follow()) return !after || followed_rounds::parse(after->data).value().job.empty();
    if (!after) return false;
    auto const all = followed_rounds::parse(after->data).value();
    return all.rounds.size() == static_cast<std::size_t>(left_.rounds);
}

inline std::string following_world::key() const {
    std::string k = text_of(tree_.find(at_.after())) + '|' + text_of(former_ ? &*former_ : nullptr) + '|' +
                    std::to_string(items()) + std::to_string(does_follow()) + text_of(ended_) + '|' +
                    std::to_string(grown_after_) + std::to_string(leads_) + std::to_string(left_.takeovers) +
                    std::to_string(left_.lost_requests) + std::to_string(left_.lost_replies) +
                    std::to_string(left_.stale_reads) + problem_;
    for (auto const round : written_) k += ',' + std::to_string(round.time_since_epoch().count());
    for (auto const& l : leaders_) {
        k += '|';
        if (!l) continue;
        k += std::to_string(static_cast<int>(l->is)) + text_of(l->seen) + text_of(l->looked) +
             std::to_string(l->has_looked) + std::to_string(l->has_more_news && l->is != phase::has_news) +
             std::to_string(l->config.stat.version) + std::to_string(l->schedule.stat.version) + '/' + l->known + '/' +
             l->pending + '/';
        if (l->is == phase::commits)
            for (auto const& o : l->sent) k += std::to_string(o.version) + ' ';
        if (l->reply) k += l->reply->refused ? 'r' : 'd';
    }
    return k;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SEARCH_FOLLOWING_WORLD_HPP
