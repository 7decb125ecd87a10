// SPDX-License-Identifier: Apache-2.0
/// \file \brief `soak_checker`: reads the log of a soak, and finds contradictions to docs/protocol.md.
#ifndef ELASTICJOB_TEST_SOAKING_SOAK_CHECKER_HPP
#define ELASTICJOB_TEST_SOAKING_SOAK_CHECKER_HPP

#include <soaking/soak_facts.hpp>
#include <soaking/soak_line.hpp>

#include <elasticjob/testing/record_invariants.hpp>

#include <cstddef>
#include <map>
#include <string_view>

namespace elasticjob::test {

struct soak_violation {
    std::string rule; ///< such as `I1`, of docs/protocol.md
    std::string what;
    std::string job;        ///< empty: of all
    std::int64_t at_us = 0; ///< the lines around it are of interest
};

/// Counts and longest gaps, for the report.
struct soak_totals {
    std::map<std::string, std::size_t> counts{};
    std::int64_t longest_without_leader_us = 0, longest_item_gap_us = 0;
    std::string where_without_leader{}, where_item_gap{};
};

/// Takes the lines in the order of their times and judges at each `rested` and `over`. Facts that are settled are
/// dropped there, so the memory does not grow with the length of the log. Threads: one.
///
/// Jobs are `full` or `loose`. In a loose job, in which Java members take part or which is removed, not every due
/// instant is accounted for: see docs/guarantees.md. Runs of Java members have token 0; they exclude ours only as
/// strictly as each other.
class soak_checker {
public:
    void take(soak_line const& l) {
        now_us_ = std::max(now_us_, l.at_us);
        if (l.who == "driver")
            take_driver(l);
        else if (l.who == "tree")
            take_tree(l);
        else
            take_process(l);
    }

    std::vector<soak_violation> const& violations() const noexcept { return violations_; }
    soak_totals const& totals() const noexcept { return totals_; }

    /// The first write that one reading showed and a later one did not, or an empty text. Then the servers have lost
    /// what they had confirmed, and nothing can be said about the jobs.
    std::string const& lost_write() const noexcept { return lost_write_; }

    /// Why the jobs are not at rest, or an empty text: each item has one owner, who is there; there is a leader;
    /// nothing is asked for; every mark has a run and every instance a process; and every record is up to date.
    std::string find_unsettled(std::map<std::string, soak_tree> const& trees, std::int64_t now_ms) const {
        for (auto const& [name, job] : jobs_) {
            auto const tree = trees.find(name);
            auto wrong = find_unsettled(name, job, tree == trees.end() ? soak_tree{} : tree->second, now_ms);
            if (!wrong.empty()) return name + ": " + wrong;
        }
        return {};
    }

private:
    static constexpr std::int64_t kept_ms = 180'000; ///< how long facts that have been judged are kept
    static constexpr std::size_t violations_max = 50;

    void blame(std::string rule, std::string job, std::int64_t at_us, std::string what) {
        if (violations_.size() >= violations_max || !told_.insert(rule + job + what).second) return;
        violations_.push_back({std::move(rule), std::move(what), std::move(job), at_us});
    }
    void count(std::string const& what, std::size_t n = 1) { totals_.counts[what] += n; }

    // Reading.

    void take_driver(soak_line const& l) {
        static std::set<std::string> const of_processes{"started", "killed", "terminated", "ended",  "crashed",
                                                        "frozen",  "thawed", "cut",        "slowed", "mended"};
        if (of_processes.contains(l.verb)) return take_deed(l, processes_[l.word(0)]);
        if (l.job != "-") return take_command(l, jobs_[l.job]);
        if (l.verb == "limits") {
            leader_limit_us_ = (l.number(0) + l.number(1) + l.number(2)) * 1000;
            settle_ms_ = l.number(2);
        } else if (l.verb == "disturbed") {
            open_span(disturbed_, l.at_us);
        } else if (l.verb == "whole") {
            close_span(disturbed_, l.at_us);
        } else if (l.verb == "stood_still") {
            count("ensembles that stood still");
        } else if (l.verb == "fault") {
            count("fault " + l.word(0));
        } else if (l.verb == "refused") {
            count("faults not possible just then");
        } else if (l.verb == "rest") {
            trees_.clear();
            rest_ms_ = l.number(0);
            rest_us_ = l.at_us;
        } else if (l.verb == "rested") {
            count("rests");
            judge(l.at_us);
            judged_us_ = l.at_us;
        } else if (l.verb == "over") {
            judge_end(l.at_us);
        }
    }

    /// The driver's faults and observations of a process.
    void take_deed(soak_line const& l, soak_process& p) {
        if (l.verb == "started") {
            p.ip = l.word(1);
            p.jobs.insert(l.words.begin() + std::min<std::ptrdiff_t>(2, std::ssize(l.words)), l.words.end());
        } else if (l.verb == "killed") {
            p.killed_us = l.at_us;
            lose_leader(l.word(0), l.at_us);
        } else if (l.verb == "terminated") {
            p.terminated_us = l.at_us;
        } else if (l.verb == "ended" || l.verb == "crashed") {
            p.ended_us = l.at_us;
            if (l.verb == "crashed") blame("I6", "-", l.at_us, l.word(0) + " crashed: " + l.word(1));
        } else if (l.verb == "slowed") {
            open_span(p.cut, l.at_us);
        } else if (l.verb == "frozen" || l.verb == "cut") {
            open_span(l.verb == "cut" ? p.cut : p.frozen, l.at_us);
            lose_leader(l.word(0), l.at_us);
        } else {
            close_span(l.verb == "mended" ? p.cut : p.frozen, l.at_us);
            return_leader(l.word(0));
        }
    }

    void take_command(soak_line const& l, soak_job& job) {
        if (l.verb == "job") {
            job.items = static_cast<unsigned>(l.number(0));
            job.schedules = {{0, l.number(1) * 1000}};
            job.has_failover = l.number(2) != 0;
            job.is_full = l.word(3) == "full";
        } else if (l.verb == "accounted") {
            job.accounted_ms = l.number(0);
        } else if (l.verb == "edited") {
            auto const step_ms = l.number(1) * 1000;
            bool const is_other_field = job.schedules.back().step_ms == step_ms;
            if (!is_other_field) job.schedules.push_back({l.number(0), step_ms});
        } else if (l.verb == "ordered") {
            job.orders[l.number(1)] = l.number(0);
        } else if (l.verb == "off") {
            job.servers_off.insert(l.word(0));
        } else if (l.verb == "on") {
            job.servers_off.erase(l.word(0));
        } else if (l.verb == "removed") {
            job.is_removed = true;
            job.leader.clear();
            job.leaderless_since_us = soak_never;
            job.by_item.clear(); // its records are gone, and its tokens begin anew
        } else if (l.verb == "restored") {
            job.is_removed = false;
        }
    }

    void take_tree(soak_line const& l) {
        auto& job = jobs_[l.job];
        if (l.verb == "node") {
            auto const version = static_cast<std::int32_t>(l.number(3));
            trees_[l.job][l.word(0)] = {l.word(1) == "-" ? std::string{} : l.word(1), unescaped(l.word(2)), version,
                                        l.number(4)};
            for (auto const& [i, item] : job.by_item)
                if (l.word(0) == "ext/run/" + std::to_string(i))
                    look_for_lost_write(l.job, i, item, trees_[l.job][l.word(0)]);
        } else if (l.verb == "leader")
            take_leader(l, job);
        else if (l.verb == "record")
            take_record(l, job.by_item[static_cast<unsigned>(l.number(0))]);
    }

    /// The readings are those of one session, which never goes back.
    void look_for_lost_write(std::string const& job, unsigned i, soak_item const& item, soak_node const& n) {
        auto const read = run_record::parse(n.data);
        bool const is_same_node = read && item.record && read->created != 0 && read->created == item.record->created;
        bool const is_later = n.asked_us > item.version_seen_us;
        if (!is_same_node || !is_later || n.version >= item.version || !lost_write_.empty()) return;
        lost_write_ = item_text(i) + " of " + job + " had version " + std::to_string(item.version) +
                      " of its record, and later version " + std::to_string(n.version);
    }

    void take_process(soak_line const& l) {
        auto& p = processes_[l.who];
        if (l.verb == "joined") {
            p.joined[l.job].push_back({l.word(0), l.word(1), l.at_us});
            p.left.erase(l.job);
            count("joined");
        } else if (l.verb == "left") {
            p.left.insert(l.job);
        } else if (l.verb == "runs") {
            begin_call(l);
        } else if (l.verb == "ran" || l.verb == "fenced") {
            auto& calls = jobs_[l.job].by_item[static_cast<unsigned>(l.number(0))].calls;
            auto const token = l.number(l.verb == "ran" ? 3 : 2);
            auto const is_it = [&](soak_call const& c) {
                return c.who == l.who && c.token == token && c.due_ms == l.number(1) && (token != 0 || !c.has_ended());
            };
            auto const c = std::find_if(calls.rbegin(), calls.rend(), is_it);
            if (c == calls.rend()) return;
            if (l.verb == "ran")
                c->ended_us = l.at_us;
            else
                fence(*c);
        } else if (l.verb == "misfired" || l.verb == "failed" || l.verb == "trouble" || l.verb == "sharded" ||
                   l.verb == "refused") {
            count(l.verb);
        } else if (l.verb == "skipped") {
            count("skipped, " + l.word(2));
        }
    }

    void fence(soak_call& c) {
        c.is_fenced = true;
        count("fenced");
    }

    void begin_call(soak_line const& l) {
        auto& job = jobs_[l.job];
        auto& item = job.by_item[static_cast<unsigned>(l.number(0))];
        auto const attempt = static_cast<unsigned>(l.number(4));
        item.calls.push_back({l.who, l.number(1), l.number(3), l.at_us, attempt});
        if (l.number(3) == 0) return count("runs of Java-like members");
        count("runs");
        if (attempt > 1) count("failovers");
        bool const is_firing = !job.schedules.empty() && l.number(1) % 1000 == 0;
        if (is_firing && job.firings.insert(l.number(1)).second) count("firings");
        bool const stays = l.number(0) < static_cast<std::int64_t>(job.items);
        if (job.is_full && stays && item.last_begun_us != 0 &&
            l.at_us - item.last_begun_us > totals_.longest_item_gap_us) {
            totals_.longest_item_gap_us = l.at_us - item.last_begun_us;
            totals_.where_item_gap = "item " + l.word(0) + " of " + l.job;
        }
        item.last_begun_us = l.at_us;
    }

    /// Two consecutive records are a step of the protocol, as the simulation says.
    void take_record(soak_line const& l, soak_item& item) {
        auto read = run_record::parse(unescaped(l.word(3)));
        if (!read) {
            if (l.word(3) != "-")
                blame("I2", l.job, l.at_us, "item " + l.word(0) + " has a record that cannot be read");
            return;
        }
        auto& job = jobs_[l.job];
        bool const is_next = item.record && item.version + 1 == l.number(1);
        if (item.record && !is_next && l.number(1) > item.version) count("records not seen");
        // A schedule that changed there and back: the record need not show what an instance between knew.
        bool const has_passed_change =
            item.record && job.has_change_within(soak_ms(item.record->through), soak_ms(read->through));
        if (item.record && (item.record->schedule != read->schedule || has_passed_change)) {
            constexpr std::int64_t clocks_differ_ms = 1000;
            auto const known = std::max(read->through, read->last_begun.value_or(wall_time{}));
            auto const known_ms = std::max(soak_ms(known) + clocks_differ_ms, ms_of(l.at_us)); // a clock may be behind
            item.new_schedules.push_back({soak_ms(item.record->through), known_ms});
        }
        if (is_next) {
            testing::detail::record_step s{*item.record, *read};
            s.has_failover = job.has_failover;
            auto const is_of_run = [&](auto const& c) { return c.token == item.token; };
            s.was_called = item.token != 0 && std::ranges::any_of(item.calls, is_of_run); // Java-like members have 0
            if (auto const wrong = testing::detail::find_wrong(s); !wrong.empty())
                blame("I4", l.job, l.at_us, "item " + l.word(0) + " " + wrong);
        }
        bool const goes_on = item.record && item.record->running && read->running == item.record->running;
        if (!goes_on) item.token = is_next && read->running ? l.number(2) : 0;
        item.record = *std::move(read);
        item.version = l.number(1);
        item.version_seen_us = l.at_us;
        item.ledger.take(*item.record);
    }

    // The leader.

    template <class F>
    void with_led_jobs(std::string const& who, F f) {
        for (auto& [name, job] : jobs_)
            if (!job.leader.empty() && processes_[who].had_id(name, job.leader)) f(job);
    }
    void lose_leader(std::string const& who, std::int64_t at_us) {
        with_led_jobs(who, [&](soak_job& j) { j.leaderless_since_us = std::min(j.leaderless_since_us, at_us); });
    }
    void return_leader(std::string const& who) {
        with_led_jobs(who, [](soak_job& j) { j.leaderless_since_us = soak_never; });
    }

    void take_leader(soak_line const& l, soak_job& job) {
        auto const id = l.word(0) == "-" ? std::string{} : l.word(0);
        if (job.is_removed) return;
        if (id.empty()) {
            if (!job.leader.empty()) job.leaderless_since_us = std::min(job.leaderless_since_us, l.at_us);
        } else if (id != job.leader || job.leaderless_since_us != soak_never) {
            if (job.leaderless_since_us != soak_never) end_gap(l, job);
            if (!job.leader.empty() && id != job.leader) count("changes of leader");
            job.leaderless_since_us = soak_never;
        }
        job.leader = id.empty() && job.leaderless_since_us != soak_never ? job.leader : id;
    }

    void end_gap(soak_line const& l, soak_job& job) {
        auto const begin = job.leaderless_since_us;
        auto const gap = l.at_us - begin;
        if (gap > totals_.longest_without_leader_us) {
            totals_.longest_without_leader_us = gap;
            totals_.where_without_leader = l.job;
        }
        // Servers that were not whole, and no candidate that was well all the time, are excuses.
        constexpr std::int64_t aftermath_us = 10'000'000;
        if (gap <= leader_limit_us_ || meets_any(disturbed_, begin - aftermath_us, l.at_us)) return;
        bool const has_candidate = std::ranges::any_of(processes_, [&](auto const& of_name) {
            auto const& p = of_name.second;
            auto const* m = p.current(l.job);
            return m && m->joined_us < begin && p.is_there() && !job.servers_off.contains(p.ip) &&
                   !p.was_disturbed(l.job, begin - aftermath_us, l.at_us);
        });
        if (has_candidate)
            blame("I3", l.job, l.at_us,
                  "no leader for " + std::to_string(gap / 1000) + " ms, more than a session and a tick last");
    }

    // Judging.

    void judge(std::int64_t at_us) {
        if (auto const wrong = find_unsettled(trees_, rest_ms_); !wrong.empty())
            blame("I3", wrong.substr(0, wrong.find(':')), at_us, "not at rest: " + wrong);
        for (auto& [name, job] : jobs_) {
            for (auto& [i, item] : job.by_item) {
                std::ranges::stable_sort(item.calls, {}, &soak_call::began_us);
                check_calls(name, i, item);
                if (!job.is_full) continue;
                check_ends(name, i, job, item);
                if (i >= job.items) continue; // there only for a while
                check_instants(name, i, job, item);
                check_attempts(name, i, job, item);
                check_orders(name, i, job, item, at_us);
            }
            drop_old(job);
        }
        std::erase_if(processes_, [&](auto const& of_name) { // long gone
            auto const died = of_name.second.death_us();
            return died != soak_never && died < at_us - 2 * kept_ms * 1000;
        });
        auto const is_old = [&](soak_span const& s) { return s.to < at_us - 2 * kept_ms * 1000; };
        std::erase_if(disturbed_, is_old);
        for (auto& [name, p] : processes_) {
            std::erase_if(p.frozen, is_old);
            std::erase_if(p.cut, is_old);
        }
    }

    /// When that was, by the clock of the log.
    std::int64_t us_of(std::int64_t ms) const { return rest_us_ - (rest_ms_ - ms) * 1000; }
    /// Before the first rest, a time that is long over.
    std::int64_t ms_of(std::int64_t us) const { return rest_ms_ + (us - rest_us_) / 1000; }

    static std::string item_text(unsigned i) { return "item " + std::to_string(i); }

    /// I1: tokens are unique, and grow in the order in which runs begin. If a run goes on when the next one begins, its
    /// process has slept, and it has the smaller token, and its end does not count.
    void check_calls(std::string const& job, unsigned i, soak_item const& item) {
        std::vector<soak_call const*> ours;
        for (auto const& c : item.calls)
            if (c.token != 0) ours.push_back(&c);
        for (std::size_t n = 0; n < ours.size(); ++n)
            for (std::size_t k = n + 1; k < ours.size(); ++k) check_pair(job, i, *ours[n], *ours[k]);
    }

    void check_pair(std::string const& job, unsigned i, soak_call const& first, soak_call const& second) {
        bool const is_late = second.token < first.token;
        auto const& former = is_late ? second : first; // by their tokens
        auto const& next = is_late ? first : second;
        auto const tokens = item_text(i) + ": " + former.who + " with token " + std::to_string(former.token) + ", " +
                            next.who + " with token " + std::to_string(next.token);
        if (first.token == second.token)
            return blame("I1", job, second.began_us, "one token for two runs of " + tokens);
        auto const& p = processes_[former.who];
        auto const over_us = std::min(former.ended_us, p.death_us());
        if (!is_late && over_us <= next.began_us) return;
        count("overtaken in their sleep", second.began_us > judged_us_);
        bool const slept =
            is_late ? meets_any(p.frozen, 0, former.began_us) : meets_any(p.frozen, former.began_us, next.began_us);
        if (!slept) blame("I1", job, second.began_us, "two runs at once of " + tokens);
        bool const should_be_fenced = former.has_ended() && p.is_there() && now_us_ - former.ended_us > 30'000'000;
        if (should_be_fenced && !former.is_fenced)
            blame("I2", job, former.ended_us, "overtaken, and not fenced: " + tokens);
    }

    /// I2: a run that is on record as ended has ended, on the recorded instance, and was not reported stale. If it was
    /// asked to stop before its body was called, the record says so, and the body was not called.
    void check_ends(std::string const& name, unsigned i, soak_job const& job, soak_item const& item) {
        for (auto const& [key, e] : item.ledger.entries()) {
            bool const has_ended = e.outcome == run_outcome::completed || e.outcome == run_outcome::failed;
            if (!has_ended || soak_ms(e.run.due) < job.accounted_ms) continue;
            auto const is_it = [&](soak_call const& c) {
                return c.due_ms == soak_ms(e.run.due) && c.attempt == e.run.attempt &&
                       processes_[c.who].had_id(name, e.run.instance);
            };
            auto const c = std::ranges::find_if(item.calls, is_it);
            bool const is_denied = e.note.find("before its body was called") != std::string::npos;
            if (is_denied && c == item.calls.end()) continue;
            if (is_denied)
                blame("I2", name, c->began_us,
                      item_text(i) + ": the body of a run was called, though its record denies it, for " +
                          std::to_string(c->due_ms));
            else if (c == item.calls.end())
                blame("I2", name, us_of(soak_ms(e.run.due)),
                      item_text(i) + ": the end of a run that did not begin is on record, for " +
                          std::to_string(soak_ms(e.run.due)));
            else if (!c->has_ended() || c->is_fenced)
                blame("I2", name, c->began_us,
                      item_text(i) + ": the end of a run that " + (c->is_fenced ? "was fenced" : "did not end") +
                          " is on record, for " + std::to_string(c->due_ms));
        }
    }

    /// I4: each due instant has one outcome, and skipped instants do not run.
    void check_instants(std::string const& name, unsigned i, soak_job const& job, soak_item& item) {
        std::map<std::int64_t, std::string> outcomes;
        std::map<std::int64_t, unsigned> not_run; ///< the attempt that was skipped; an earlier one may have died
        std::vector<soak_span> doubtful; ///< some instants in there have an outcome
        for (auto const& [key, e] : item.ledger.entries()) {
            if (e.outcome == run_outcome::retried || e.run.source == run_source::trigger) continue;
            auto due = soak_ms(e.run.due);
            // Which instants these are depends on the schedule that the instance knew, and on its clock.
            auto const reach = job.reach_of(due, e.count);
            if (e.count > 1 && (job.has_change_within(reach, due) || item.has_new_schedule_within(reach, due))) {
                doubtful.push_back({std::max(reach, job.accounted_ms), due});
                continue;
            }
            for (std::uint64_t n = 0; n < e.count && due >= job.accounted_ms; ++n, due -= job.step_at(due)) {
                outcomes[due] += std::string{name_of(e.outcome)} + " ";
                if (e.outcome == run_outcome::skipped) not_run.emplace(due, e.run.attempt);
            }
        }
        for (auto const& [due, how] : outcomes)
            if (how.find(' ') + 1 != how.size())
                blame("I4", name, us_of(due),
                      item_text(i) + ": due " + std::to_string(due) + " is on record as " + how);
        auto const settled = item.record ? soak_ms(item.record->settled_through()) : job.accounted_ms;
        for (auto const due : job.due(job.accounted_ms, settled)) {
            if (outcomes.contains(due)) continue;
            if (std::ranges::any_of(doubtful, [&](soak_span const& s) { return due >= s.from && due <= s.to; }))
                continue;
            if (job.is_dropped(item, due))
                count("dropped by a changed schedule", due > item.judged_ms);
            else
                blame("I4", name, us_of(due), item_text(i) + ": nothing became of what was due " + std::to_string(due));
        }
        item.judged_ms = std::max(item.judged_ms, settled);
        for (auto const& c : item.calls)
            if (auto const skipped = not_run.find(c.due_ms); skipped != not_run.end() && c.attempt >= skipped->second)
                blame("I4", name, c.began_us,
                      item_text(i) + ": " + c.who + " runs what was skipped, due " + std::to_string(c.due_ms));
    }

    /// I5: attempts are consecutive, each for an interrupted run; and each interrupted run is repeated or reported.
    void check_attempts(std::string const& name, unsigned i, soak_job const& job, soak_item const& item) {
        std::map<std::int64_t, std::map<unsigned, std::string>> attempts;
        for (auto const& [key, e] : item.ledger.entries()) {
            if (e.outcome == run_outcome::coalesced || e.outcome == run_outcome::skipped) continue;
            if (soak_ms(e.run.due) < job.accounted_ms) continue;
            auto& of_due = attempts[soak_ms(e.run.due)];
            if (!of_due[e.run.attempt].empty())
                blame("I5", name, us_of(soak_ms(e.run.due)),
                      item_text(i) + ": two ends of attempt " + std::to_string(e.run.attempt) + " due " +
                          std::to_string(soak_ms(e.run.due)));
            of_due[e.run.attempt] = name_of(e.outcome);
            if (e.outcome == run_outcome::retried) check_reason(name, i, item, e);
        }
        for (auto const& [due, of_due] : attempts) {
            unsigned expected = 1;
            for (auto const& [attempt, outcome] : of_due)
                if (attempt != expected++)
                    blame("I5", name, us_of(due),
                          item_text(i) + ": attempt " + std::to_string(attempt) + " due " + std::to_string(due) +
                              " has no attempt before it");
        }
        for (auto const& c : item.calls) {
            auto const& p = processes_[c.who];
            bool const is_interrupted = (!c.has_ended() && p.death_us() != soak_never) || c.is_fenced;
            if (c.due_ms < job.accounted_ms || !is_interrupted) continue;
            auto const of_due = attempts.find(c.due_ms);
            bool const is_told = of_due != attempts.end() && of_due->second.contains(c.attempt);
            if (!is_told)
                blame("I5", name, c.began_us,
                      item_text(i) + ": interrupted, and nothing became of it: due " + std::to_string(c.due_ms) +
                          " attempt " + std::to_string(c.attempt));
            else if (job.has_failover && of_due->second.at(c.attempt) == "interrupted" && c.attempt < 10)
                blame("I5", name, c.began_us,
                      item_text(i) + ": interrupted, and not run again: due " + std::to_string(c.due_ms) + " attempt " +
                          std::to_string(c.attempt));
        }
    }

    /// No run is repeated if its process and the servers were healthy.
    void check_reason(std::string const& name, unsigned i, soak_item const& item, run_entry const& e) {
        auto const is_it = [&](soak_call const& c) {
            return c.due_ms == soak_ms(e.run.due) && c.attempt == e.run.attempt &&
                   processes_[c.who].had_id(name, e.run.instance);
        };
        auto const c = std::ranges::find_if(item.calls, is_it);
        if (c == item.calls.end()) return; // it began on record only
        constexpr std::int64_t around_us = 20'000'000;
        auto const begin = c->began_us - around_us;
        auto const end = (c->has_ended() ? c->ended_us : c->began_us) + around_us;
        if (processes_[c->who].was_disturbed(name, begin, end) || meets_any(disturbed_, begin, end)) return;
        blame("I5", name, c->began_us,
              item_text(i) + ": run again, though " + c->who + " was well: due " + std::to_string(c->due_ms) +
                  " attempt " + std::to_string(c->attempt));
    }

    /// I7: each item carries out each order once, or a later order replaces it; the last one is carried out.
    void check_orders(std::string const& name, unsigned i, soak_job const& job, soak_item const& item,
                      std::int64_t at_us) {
        if (!job.orders.empty() && item.record && item.record->obeyed < job.orders.rbegin()->second)
            blame("I7", name, at_us,
                  item_text(i) + " has not obeyed the order of " + std::to_string(job.orders.rbegin()->first));
    }

    /// Facts that no later line can contradict.
    void drop_old(soak_job& job) {
        if (job.accounted_ms == soak_never) return;
        auto const before_ms = std::max(job.accounted_ms, rest_ms_ - kept_ms);
        auto const before_us = now_us_ - kept_ms * 1000;
        job.accounted_ms = before_ms;
        job.forget_schedules(before_ms - kept_ms);
        std::erase_if(job.firings, [&](auto due) { return due < before_ms; });
        for (auto& [i, item] : job.by_item) {
            std::erase_if(item.calls, [&](auto const& c) { return c.due_ms < before_ms && c.began_us < before_us; });
            item.ledger.drop(wall_time{std::chrono::milliseconds{before_ms}});
            std::erase_if(item.new_schedules, [&](auto const& n) { return n.known_ms < before_ms; });
        }
    }

    // At rest.

    std::string find_unsettled(std::string const& name, soak_job const& job, soak_tree const& tree,
                               std::int64_t now_ms) const {
        std::map<std::string, std::string> there; // ids, by process
        for (auto const& [who, p] : processes_) {
            if (!p.jobs.contains(name) || !p.is_there() || p.left.contains(name)) continue;
            auto const* m = p.current(name);
            if (!m) return who + " has not joined";
            there[who] = m->id;
            if (!tree.contains("instances/" + m->id)) return who + " has no node: " + m->id;
        }
        auto const is_id_of_one = [&](std::string const& id) {
            return std::ranges::any_of(there, [&](auto const& t) { return t.second == id; });
        };
        for (auto const& [path, n] : tree) {
            if (path.starts_with("instances/") && !is_id_of_one(path.substr(10))) // I10
                return "no process stands behind " + path;
            if (path.ends_with("/running")) // I9
                if (auto wrong = find_stray(name, job, path, n); !wrong.empty()) return wrong;
        }
        if (job.is_removed) return {};
        auto const leader = tree.find("leader/election/instance"); // I3
        if (leader == tree.end() || !is_id_of_one(leader->second.data)) return "no leader";
        if (tree.contains("leader/sharding/necessary")) return "a sharding is asked for";
        for (unsigned i = 0; i < job.items; ++i) {
            auto const place = "sharding/" + std::to_string(i);
            auto const owner = tree.find(place + "/instance");
            if (owner == tree.end() || !is_id_of_one(owner->second.data))
                return item_text(i) + " has no owner who is there";
            if (job.is_full)
                if (auto wrong = find_behind(job, i, tree, now_ms, is_id_of_one); !wrong.empty()) return wrong;
        }
        return {};
    }

    /// A run stands behind the mark even if it has ended since the mark was read.
    std::string find_stray(std::string const& name, soak_job const& job, std::string const& path,
                           soak_node const& mark) const {
        auto const i = static_cast<unsigned>(std::stoul(path.substr(9)));
        auto const item = job.by_item.find(i);
        auto const was_live_then = [&](soak_call const& c) { // the mark comes a little before the body
            return mark.asked_us != 0 && c.began_us <= mark.asked_us + 1'000'000 && c.ended_us >= mark.asked_us;
        };
        for (auto const& [who, p] : processes_) {
            auto const* m = p.current(name);
            if (!m || m->session != mark.session || p.death_us() != soak_never || item == job.by_item.end()) continue;
            for (auto const& c : item->second.calls)
                if (c.who == who && (!c.has_ended() || was_live_then(c))) return {};
        }
        return "no run stands behind " + path;
    }

    /// I6: no run of a gone instance is on record, and every instant is handled in time.
    template <class F>
    std::string find_behind(soak_job const& job, unsigned i, soak_tree const& tree, std::int64_t now_ms,
                            F is_id_of_one) const {
        auto const there = tree.find("ext/run/" + std::to_string(i));
        auto const record =
            there == tree.end() ? result<run_record>{error{errc::no_node}} : run_record::parse(there->second.data);
        if (!record) return item_text(i) + " has no record";
        if (record->running && !is_id_of_one(record->running->instance))
            return item_text(i) + " is on record as run by " + record->running->instance + ", which is gone";
        auto const late = now_ms - 2 * job.step_at(now_ms) - settle_ms_;
        if (soak_ms(record->through) < late)
            return item_text(i) + " is behind: " + std::to_string(soak_ms(record->through));
        if (!job.orders.empty() && record->obeyed < job.orders.rbegin()->second)
            return item_text(i) + " has an order left";
        return {};
    }

    /// I8: after all have left only persistent nodes remain, and nothing runs.
    void judge_end(std::int64_t at_us) {
        static std::vector<std::string> const known{"config",   "servers", "instances", "leader",
                                                    "sharding", "ext",     "systemTime"};
        for (auto const& [name, tree] : trees_)
            for (auto const& [path, n] : tree) {
                auto const top = path.substr(0, path.find('/'));
                if (!n.session.empty()) blame("I8", name, at_us, "left behind: " + path + " of session " + n.session);
                if (path.ends_with("/running")) blame("I8", name, at_us, "left behind: " + path);
                if (path.starts_with("instances/") || path.starts_with("ext/rounds/"))
                    blame("I8", name, at_us, "left behind: " + path);
                if (std::ranges::find(known, top) == known.end()) blame("I8", name, at_us, "left behind: " + path);
                if (!path.starts_with("ext/run/")) continue;
                auto const record = run_record::parse(n.data);
                if (record && record->running)
                    blame("I8", name, at_us, path + " says that it runs on " + record->running->instance);
            }
        for (auto& [name, job] : jobs_)
            for (auto& [i, item] : job.by_item) check_calls(name, i, item);
    }

    std::map<std::string, soak_process> processes_;
    std::map<std::string, soak_job> jobs_;
    std::map<std::string, soak_tree> trees_;
    std::vector<soak_span> disturbed_; ///< the servers
    std::int64_t leader_limit_us_ = soak_never, settle_ms_ = 0, rest_ms_ = 0, rest_us_ = 0, now_us_ = 0, judged_us_ = 0;
    soak_totals totals_;
    std::vector<soak_violation> violations_;
    std::string lost_write_;
    std::set<std::string> told_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SOAKING_SOAK_CHECKER_HPP
