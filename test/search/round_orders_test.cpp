// SPDX-License-Identifier: Apache-2.0
// Every order in which requests, replies, losses, deaths and changes of owners can occur while two instances take part
// in a round. The round's state machines, their transactions and the tree are the shipped ones.
#include <elasticjob/execution/round_life.hpp>
#include <elasticjob/registry/memory/node_tree.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <support/sanitized.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace std::chrono_literals;

namespace {

job_layout const at{job_name::parse("a").value()};
wall_time const due{24h * 365};
constexpr std::size_t count = 2;                     ///< of instances, and of items
constexpr std::chrono::milliseconds timeout = 1000h; ///< of a round's start, and of its end

instance_id instance(std::size_t i) {
    return instance_id::parse("10.0.0." + std::to_string(i) + "@-@" + std::to_string(i)).value();
}

/// Weaknesses that a search can plant: each removes one protection of rounds.
enum class weakness {
    none,
    over_is_ignored,         ///< a round is made though it is over
    makes_ignore_versions,   ///< a round is made whatever has become of `ext/rounds` since that was read
    changes_ignore_versions, ///< a round is changed whatever has become of it since it was read
    losses_are_refusals,     ///< a change whose reply is lost is taken for one that has not happened
    views_are_believed,      ///< an instance that the view does not show has gone
    notes_name_all_items,    ///< the ready items of one instance are enough
    given_items_are_ready,   ///< an item is noted as ready as soon as an instance has it
    parts_are_not_noted,     ///< an instance notes its ready items only when all of its items are ready
    lost_notes_are_written,  ///< a note whose reply is lost is taken for one that has been written
    late_opens_are_silent,   ///< a round that opens before all items are ready is not reported
};

/// The number of faults of each kind, summed over all instances.
struct budget {
    int losses = 0;               ///< requests or replies
    int deaths = 0;               ///< of instances
    int changes = 0;              ///< of hands, while the owner lives
    int delays = 0;               ///< so long that time is up
    int passes = 0;               ///< of items without a run; only if they start together
    bool is_new = false;          ///< the instances have just come: none knows of the other yet
    bool starts_together = false; ///< no item runs before all are ready (GU-9)
};

class arena {
public:
    explicit arena(budget faults, weakness without = weakness::none) : left_{faults}, had_{faults}, without_{without} {
        transaction t{session_generation::current()};
        for (auto const& p : {at.root(), at.instances(), at.ext()}) t.create(p, {});
        apply(t, 0);
        for (std::size_t i = 0; i < count; ++i) {
            transaction joins{session_generation::current()};
            joins.create(at.instance(instance(i)), {}, create_mode::ephemeral);
            apply(joins, session(i));
        }
        for (std::size_t i = 0; i < count; ++i) {
            member m{instance(i)};
            m.shown = is_;
            m.seen.fill(!faults.is_new);
            m.seen[i] = true;
            m.items.take(static_cast<item_index>(i));
            members_.push_back(std::move(m));
        }
    }

    std::vector<std::string> moves() const {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < count; ++i) {
            auto const& m = members_[i];
            if (!m.is_alive) continue;
            auto const add = [&](char const* what) { all.push_back(std::to_string(i) + what); };
            if (m.shown != is_) add(" catches up");
            if (m.seen != there(*m.shown)) add(" hears who is there");
            if (!m.life && (!had_.starts_together || m.shown->find(round()))) add(" joins");
            if (left_.deaths > 0) add(" dies");
            for (std::size_t k = 0; k < count; ++k) {
                auto const item = std::to_string(k);
                bool const is_ours = owner_[k] == i;
                if (may_begin(i, k)) all.push_back(std::to_string(i) + " ends " + item);
                if (had_.starts_together) {
                    bool const waits = is_ours && !is_done_[k] && !runner_[k];
                    if (waits) all.push_back(std::to_string(i) + " readies " + item);
                    if (waits && left_.passes > 0) all.push_back(std::to_string(i) + " passes over " + item);
                    if (is_ours && is_done_[k] && !m.items.is_through(static_cast<item_index>(k), due))
                        all.push_back(std::to_string(i) + " reads the record of " + item);
                }
                if (!is_ours && (!members_[owner_[k]].is_alive || left_.changes > 0))
                    all.push_back(std::to_string(i) + " is given " + item);
            }
            if (!m.life) continue;
            if (m.asked && m.asked->is == kind::call) {
                add("'s hook ends");
            } else if (m.asked) {
                add(" is served");
                if (left_.losses > 0) add(" loses the request");
                if (left_.losses > 0) add(" loses the reply");
            } else if (auto const next = peek(m); next.is != kind::rest) {
                add(" goes on");
            } else if (may_wait(m, next.until)) {
                add(" waits");
            }
        }
        return all;
    }

    void make(std::string const& move) {
        auto const i = static_cast<std::size_t>(move[0] - '0');
        auto& m = members_[i];
        auto const what = move.substr(1);
        auto const item = static_cast<std::size_t>(move.back() - '0');
        if (what == " catches up") {
            m.shown = is_;
        } else if (what == " hears who is there") {
            m.seen = there(*m.shown);
        } else if (what == " joins") {
            join(m);
        } else if (what == " dies") {
            --left_.deaths;
            had_died_asking_ = had_died_asking_ || m.asked;
            m.is_alive = false;
            m.asked.reset();
            for (auto& r : runner_)
                if (r == i) r.reset();
            auto tree = *is_;
            tree.end_session(session(i), 0);
            is_ = std::make_shared<node_tree const>(std::move(tree));
        } else if (what.starts_with(" readies ")) {
            runner_[item] = i;
            was_ready_[item] = true;
            if (!m.life) join(m);
            m.life->note_begun();
            m.life->note_ready(static_cast<item_index>(item));
        } else if (what.starts_with(" passes over ")) {
            --left_.passes;
            is_done_[item] = true;
            m.items.deal(static_cast<item_index>(item), due);
        } else if (what.starts_with(" reads the record of ")) {
            m.items.deal(static_cast<item_index>(item), due);
        } else if (what.starts_with(" ends ")) {
            if (had_.starts_together) note_start(m);
            is_done_[item] = true;
            runner_[item].reset();
            m.items.deal(static_cast<item_index>(item), due);
            if (owner_[item] != i) m.items.drop(static_cast<item_index>(item));
        } else if (what.starts_with(" is given ")) {
            give(item, i);
        } else if (what == " goes on") {
            go_on(m);
        } else if (what == " waits") {
            auto const until = peek(m).until;
            if (until >= m.now + 1h) --left_.delays;
            m.now = until;
        } else if (what == "'s hook ends") {
            m.asked.reset();
            take(m.life->hook_called(success()));
        } else if (what == " is served") {
            serve(i, true);
        } else if (what == " loses the request") {
            --left_.losses;
            answer(m, lost());
        } else {
            --left_.losses;
            serve(i, false);
        }
    }

    std::string key() const {
        std::string k = text(*is_);
        for (int const n : {left_.losses, left_.deaths, left_.changes, left_.delays, called_[0], called_[1]})
            k += std::to_string(n);
        for (std::size_t n = 0; n < count; ++n) k += std::to_string(owner_[n]) + (is_done_[n] ? "d" : "-");
        k += told_[0] ? "t" : "-";
        k += told_[1] ? "t" : "-";
        k += had_died_asking_ ? "!" : "-";
        if (had_.starts_together) k += barrier_text();
        for (auto const& m : members_) {
            k += m.is_alive ? "|" : "|dead";
            if (!m.is_alive) continue;
            k += m.shown == is_ ? "=" : text(*m.shown);
            for (bool const s : m.seen) k += s ? "s" : "-";
            k += m.is_read + (m.is_list_read ? *m.is_list_read : "-");
            if (m.life) k += to_string(*m.life, 0);
            if (m.asked) k += "asks" + std::to_string(static_cast<int>(m.asked->is)) + m.asked->path.str();
            if (m.life && !m.asked) {
                auto const next = peek(m);
                k += std::to_string(static_cast<int>(next.is)) + (next.until == mono_time::max() ? "-"
                                                                  : next.until < m.now + 1h      ? "soon"
                                                                                                 : "late");
            }
        }
        return k;
    }

    std::string problem() const {
        if (!problem_.empty()) return problem_;
        for (auto const& m : members_)
            if (m.life && !m.life->holds()) return m.self.str() + ": its round contradicts itself";
        if (called_[0] > 1) return "the hook before the round is called twice";
        if (called_[1] > 1) return "the hook after the round is called twice";
        if (is_over() && is_->find(round())) return "a round that is over is there again";
        bool const is_told = told_[0] || told_[1];
        if (is_told && had_.deaths + had_.delays + had_.losses + had_.changes == 0)
            return "a hook is reported, and nothing has happened";
        if (is_early_ && had_.delays == left_.delays) return "an item runs, and another was not ready";
        if (!is_over() || had_died_asking_) return {};
        for (auto const& m : members_)
            if (m.is_alive && m.life && m.life->where() != round_life::phase::over) return {};
        if (is_early_ && !told_[0]) return "an item has run before another was ready, and nothing is reported";
        for (int n = 0; n < 2; ++n)
            if (called_[n] == 0 && !told_[n]) return "a hook has not been called, and nothing is reported";
        return {};
    }

    bool is_goal() const { return is_over() && !is_->find(round()); }

private:
    using kind = round_step::kind;

    struct member {
        explicit member(instance_id id) : self{std::move(id)} {}

        instance_id self;
        bool is_alive = true;
        mono_time now{1h};
        std::optional<round_life> life{};
        dealt_items items{};
        std::optional<round_step> asked{};
        std::array<bool, count> seen{};            ///< instances, by its view
        std::string is_read{};                     ///< what its watch of the node was set on
        std::optional<std::string> is_list_read{}; ///< and that of the names below
        std::shared_ptr<node_tree const> shown{};  ///< by the follower that it talks to
    };

    static std::int64_t session(std::size_t i) { return static_cast<std::int64_t>(i) + 1; }
    static node_path round() { return round_life{due}.path(at); }
    static error lost() { return error{errc::unknown_outcome, "lost"}; }

    static std::array<bool, count> there(node_tree const& tree) {
        std::array<bool, count> all{};
        for (std::size_t i = 0; i < count; ++i) all[i] = tree.find(at.instance(instance(i))) != nullptr;
        return all;
    }
    static std::string names_in(node_tree const& tree) {
        std::string t;
        for (auto const& n : tree.children(round())) t += n + ";";
        return t;
    }
    static std::string node_in(node_tree const& tree) {
        auto const* n = tree.find(round());
        return n ? n->data + "/" + std::to_string(n->stat.version) : "none";
    }
    static std::string text(node_tree const& tree) {
        auto const* over = tree.find(at.rounds());
        std::string t = over ? over->data + "/" + std::to_string(over->stat.version) : "none";
        t += ":" + node_in(tree) + ":" + names_in(tree);
        for (bool const is : there(tree)) t += is ? "+" : "-";
        return t;
    }
    bool is_over() const {
        auto const* over = is_->find(at.rounds());
        return over && over->data == std::to_string(round_life::milliseconds_of(due));
    }

    node_tree::applied apply(transaction const& t, std::int64_t session) {
        auto tree = *is_;
        auto done = tree.apply(t.operations(), session, 0);
        if (done.refused) return done;
        auto const *before = is_->find(round()), *after = tree.find(round());
        if (before && after && round_state::of(after->data).is < round_state::of(before->data).is)
            problem_ = "the round goes back to an earlier stage";
        is_ = std::make_shared<node_tree const>(std::move(tree));
        return done;
    }

    round_moment moment(member const& m) const {
        round_moment now{.self = m.self, .at = at, .items = m.items};
        now.item_count = count;
        now.starts_together = had_.starts_together;
        now.start_timeout = now.end_timeout = timeout;
        now.now = m.now;
        now.is_current = m.is_read == node_in(*m.shown);
        now.is_list_current = m.is_list_read && *m.is_list_read == names_in(*m.shown);
        for (std::size_t i = 0; i < count; ++i)
            if (m.life && m.life->state().holder == instance(i).str()) now.is_holder_unseen = !m.seen[i];
        return now;
    }
    round_step peek(member const& m) const {
        auto life = *m.life;
        return life.next(moment(m));
    }

    bool may_wait(member const& m, mono_time until) const {
        if (until == mono_time::max()) return false;
        if (until >= m.now + 1h) return left_.delays > 0;
        bool const is_before = m.life->where() == round_life::phase::known && !m.life->is_open();
        return !is_before || without_ != weakness::parts_are_not_noted;
    }

    void join(member& m) const {
        m.life.emplace(due);
        for (std::size_t k = 0; k < count; ++k) {
            if (&members_[owner_[k]] != &m || is_done_[k]) continue;
            if (!had_.starts_together) m.life->note_begun();
            if (without_ == weakness::given_items_are_ready) m.life->note_ready(static_cast<item_index>(k));
        }
    }

    /// If all start together, an item waits first for its grant and then for the round; otherwise, only for the round.
    bool may_begin(std::size_t i, std::size_t k) const {
        auto const& life = members_[i].life;
        bool const is_open = life && life->is_open();
        if (had_.starts_together) return runner_[k] == i && (!life || is_open || is_late(members_[i]));
        return owner_[k] == i && !is_done_[k] && life && (is_open || left_.delays < had_.delays);
    }
    static bool is_late(member const& m) { return m.now > mono_time{timeout}; }

    /// An item of this instance begins. If the round has not opened, the instance reports that time is up.
    void note_start(member const& m) {
        bool const has_opened = !m.life || m.life->is_open();
        told_[0] = told_[0] || !has_opened;
        for (std::size_t k = 0; k < count; ++k) is_early_ = is_early_ || !(was_ready_[k] || is_done_[k]);
    }

    void give(std::size_t k, std::size_t to) {
        auto const item = static_cast<item_index>(k);
        auto& former = members_[owner_[k]];
        auto& m = members_[to];
        if (former.is_alive) --left_.changes;
        bool const is_kept = runner_[k] == owner_[k]; // until the run has ended (SH-7)
        if (!is_kept) former.items.drop(item);
        owner_[k] = to;
        m.items.take(item);
        if (had_.starts_together) {
            if (m.life && without_ == weakness::given_items_are_ready) m.life->note_ready(item);
            return;
        }
        if (is_done_[k]) m.items.deal(item, due);
        if (!m.life) join(m);
    }

    std::string barrier_text() const {
        std::string t = std::to_string(left_.passes) + (is_early_ ? "e" : "-");
        for (std::size_t k = 0; k < count; ++k) {
            t += runner_[k] ? std::to_string(*runner_[k]) : "-";
            t += was_ready_[k] ? "r" : "-";
            for (auto const& m : members_) t += m.items.is_through(static_cast<item_index>(k), due) ? "d" : "-";
        }
        for (auto const& m : members_) {
            t += is_late(m) ? "l" : "-";
            t += std::to_string(m.items.edition()) + "i";
            for (auto const k : m.items.list()) t += std::to_string(k);
        }
        return t;
    }

    void go_on(member& m) {
        auto step = m.life->next(moment(m));
        if (step.is == kind::leave) {
            m.life.reset();
            return;
        }
        if (step.is == kind::call) {
            auto const n = static_cast<std::size_t>(step.hook);
            ++called_[n];
            if (step.hook == round_hook::after)
                for (bool const is_done : is_done_)
                    if (!is_done) problem_ = "the hook after the round is called, and an item is not dealt with";
        }
        m.asked = std::move(step);
    }

    void take(round_news const& news) {
        bool const is_silent = without_ == weakness::late_opens_are_silent;
        told_[0] = told_[0] || (!news.missed_before.empty() && !is_silent);
        told_[1] = told_[1] || !news.missed_after.empty();
    }

    void serve(std::size_t i, bool has_reply) {
        auto& m = members_[i];
        auto& life = *m.life;
        auto const step = *m.asked;
        auto const find = [&](node_path const& p) -> result<node> {
            if (auto const* n = m.shown->find(p)) return *n;
            return error{errc::no_node, "absent", p.str()};
        };
        if (step.is == kind::commit || step.is == kind::note) {
            transaction t = step.changes;
            if (step.is == kind::note) t.create(step.path, step.text);
            auto const done = apply(weakened(t), session(i));
            if (!has_reply) return answer(m, lost());
            m.shown = is_;
            m.asked.reset();
            if (step.is == kind::commit) {
                commit_reply reply;
                if (done.refused) reply.refused = commit_reply::refusal{done.refused->operation, done.refused->why};
                return take(life.committed(moment(m), reply));
            }
            if (done.refused) return take(life.noted(moment(m), error{done.refused->why, "refused"}));
            return take(life.noted(moment(m), step.path));
        }
        if (!has_reply) return answer(m, lost());
        m.asked.reset();
        switch (step.is) {
        case kind::read:
            m.is_read = m.shown->find(step.path) ? node_in(*m.shown) : "";
            return take(life.read(moment(m), find(step.path)));
        case kind::read_latest: {
            auto there = find(step.path);
            if (there && without_ == weakness::over_is_ignored) there->data.clear();
            return take(life.latest_read(moment(m), there));
        }
        case kind::look: {
            bool const is_there = m.shown->find(step.path) && without_ != weakness::views_are_believed;
            return take(life.holder_looked_for(moment(m), is_there));
        }
        case kind::list: {
            if (!m.shown->find(step.path)) return take(life.listed(moment(m), error{errc::no_node, "absent"}));
            m.is_list_read = names_in(*m.shown);
            return take(life.listed(moment(m), m.shown->children(step.path)));
        }
        case kind::read_notes: {
            std::vector<std::optional<node>> notes;
            for (auto const& p : step.paths) {
                auto const* n = m.shown->find(p);
                notes.push_back(n ? std::optional{*n} : std::nullopt);
                bool const is_ready = n && n->data.starts_with('+');
                if (is_ready && without_ == weakness::notes_name_all_items) notes.back()->data = "+0 +1 ";
            }
            return take(life.notes_read(moment(m), std::move(notes)));
        }
        default:
            break;
        }
    }

    void answer(member& m, error e) {
        auto& life = *m.life;
        auto const step = *std::exchange(m.asked, std::nullopt);
        auto const now = moment(m);
        switch (step.is) {
        case kind::read:
            return take(life.read(now, std::move(e)));
        case kind::read_latest:
            return take(life.latest_read(now, std::move(e)));
        case kind::look:
            return take(life.holder_looked_for(now, std::move(e)));
        case kind::commit:
            if (without_ == weakness::losses_are_refusals) e = error{errc::not_sent, "lost"};
            return take(life.committed(now, std::move(e)));
        case kind::note:
            if (without_ == weakness::lost_notes_are_written) return take(life.noted(now, step.path));
            return take(life.noted(now, std::move(e)));
        case kind::list:
            return take(life.listed(now, std::move(e)));
        case kind::read_notes:
            return take(life.notes_read(now, std::move(e)));
        default:
            return;
        }
    }

    transaction weakened(transaction const& t) const {
        transaction all{session_generation::current()};
        for (auto o : t.operations()) {
            bool const is_make = o.what == operation::kind::check && without_ == weakness::makes_ignore_versions;
            bool const is_change = o.path == round() && without_ == weakness::changes_ignore_versions;
            if (is_make || is_change) o.version = any_version;
            all.add(std::move(o));
        }
        return all;
    }

    std::shared_ptr<node_tree const> is_ = std::make_shared<node_tree const>();
    std::vector<member> members_;
    std::array<std::size_t, count> owner_{0, 1};
    std::array<bool, count> is_done_{};
    std::array<std::optional<std::size_t>, count> runner_{}; ///< the instance that has been granted the item's start
    std::array<bool, count> was_ready_{};
    bool is_early_ = false; ///< an item has begun, and another neither had been ready nor had handled the round
    int called_[2] = {};
    bool told_[2] = {};
    bool had_died_asking_ = false; ///< what it was about to report is lost
    budget left_, had_;
    weakness without_;
    std::string problem_;
};

static_assert(testing::searchable_world<arena>);

/// Sanitizers are slow, and fewer states are enough for them.
#ifdef ELASTICJOB_TEST_SANITIZED
constexpr budget scopes[]{{.deaths = 1}};
constexpr budget scopes_together[]{{.passes = 1, .starts_together = true}};
constexpr std::uint64_t states_least = 500;
#else
constexpr budget scopes[]{{.is_new = true}, {.losses = 1}, {.deaths = 1}, {.changes = 1}, {.delays = 1}};
constexpr budget scopes_together[]{
    {.is_new = true, .starts_together = true}, {.passes = 1, .starts_together = true},
    {.losses = 1, .starts_together = true},    {.deaths = 1, .starts_together = true},
    {.changes = 1, .starts_together = true},   {.changes = 1, .passes = 1, .starts_together = true},
    {.delays = 1, .starts_together = true}};
constexpr std::uint64_t states_least = 5'000;
#endif

} // namespace

TEST_CASE("execution.round_life: no order of events calls a hook twice, or skips it silently (D-24)") {
    std::uint64_t states = 0;
    for (auto const& b : scopes) {
        auto const found = testing::check_all(arena{b});
        CHECK_MESSAGE(found.holds(), to_string(found));
        states += found.states;
        MESSAGE(to_string(found));
    }
    CHECK(states > states_least);
}

TEST_CASE("execution.round_life: no order of events runs an item before all are ready, or blocks it for ever (GU-9)") {
    for (auto const& b : scopes_together) {
        auto const found = testing::check_all(arena{b});
        CHECK_MESSAGE(found.holds(), to_string(found));
        MESSAGE(to_string(found));
    }
}

#ifndef ELASTICJOB_TEST_SANITIZED // it finds no memory error that the test above misses
TEST_CASE("execution.round_life: without any one of the protections, the search of all orders fails") {
    struct scope {
        weakness without;
        budget faults;
    };
    for (auto const& [without, faults] :
         {scope{weakness::over_is_ignored, {}}, scope{weakness::makes_ignore_versions, {.changes = 1}},
          scope{weakness::changes_ignore_versions, {.delays = 1}},
          scope{weakness::losses_are_refusals, {.losses = 1, .delays = 1}},
          scope{weakness::views_are_believed, {.is_new = true}},
          scope{weakness::notes_name_all_items, {.starts_together = true}},
          scope{weakness::given_items_are_ready, {.starts_together = true}},
          scope{weakness::parts_are_not_noted, {.changes = 1, .starts_together = true}},
          scope{weakness::lost_notes_are_written, {.losses = 1, .starts_together = true}},
          scope{weakness::late_opens_are_silent, {.delays = 1, .starts_together = true}}}) {
        auto const found = testing::check_all(arena{faults, without});
        INFO("protection " << static_cast<int>(without));
        CHECK_FALSE(found.problem.empty());
        MESSAGE(to_string(found));
    }
}
#endif
