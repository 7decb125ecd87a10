// SPDX-License-Identifier: Apache-2.0
/// \file \brief Carries out the steps of an item's life, in worlds in which a test tries all orders of events.
#ifndef ELASTICJOB_TEST_SUPPORT_ITEM_DRIVER_HPP
#define ELASTICJOB_TEST_SUPPORT_ITEM_DRIVER_HPP

#include <elasticjob/execution/item_life.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_transactions.hpp>
#include <elasticjob/registry/catch_up.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// Does the same as `attend` in scheduler/item_runs.hpp and the run book, one request at a time. A value. A port stands
/// for the member and the tree:
///
/// | expression           | gives                        | must hold                                             |
/// |----------------------|------------------------------|-------------------------------------------------------|
/// | `p.moment(driver)`   | item_moment                  |                                                       |
/// | `p.read(path)`       | result<node>                 | as the follower shows it                              |
/// | `p.children(path)`   | vector<string>               | likewise                                              |
/// | `p.write(t)`         | node_tree::applied           | shows the member its effect                           |
/// | `p.write_start(t)`   | node_tree::applied           | the same for a start                                  |
/// | `p.write_end(t)`     | node_tree::applied           | the same for an end                                   |
/// | `p.write_note(t)`    | node_tree::applied           | the same for a record without a run                   |
/// | `p.claim()`          | vector<item_claim::proof>    | of the member, as it knows it                         |
/// | `p.lost_start()`     | start_answer                 | for a start whose session is over                     |
/// | `p.report(item, n)`  |                              | takes the news                                        |
/// | `p.begin_body(d)`    |                              | sets `d.stopped_by`                                   |
struct item_driver {
    using kind = detail::item_step::kind;

    std::optional<detail::item_life> life{};
    std::optional<kind> asked{};                 ///< the step that it waits for
    bool is_sent = false;                        ///< the start may have taken effect: a reply was lost
    stop_reason stopped_by = stop_reason::none;  ///< the reason for which its body is asked to end
    std::string text{};                          ///< the text of a record to open
    std::vector<item_claim::proof> claim_sent{}; ///< as sent with the start

    template <class Port>
    void go_on(Port& p) {
        auto const step = life->next(p.moment(*this));
        p.report(life->item(), step.news);
        asked.reset();
        if (step.is == kind::leave) return life.reset();
        if (step.is == kind::rest) return;
        asked = step.is;
        text = step.text;
        if (step.is == kind::call) p.begin_body(*this);
    }

    template <class Port>
    void end_body(Port& p, result<void> outcome, stop_reason why) {
        auto const now = p.moment(*this);
        detail::body_end ended{std::move(outcome), false, why, {}};
        detail::after_run const after{now.terms, mono_time{}, now.wall};
        detail::retry_budget budget;
        ended.again = after.retry_of(life->record(), ended, 1, budget);
        asked.reset();
        stopped_by = stop_reason::none;
        p.report(life->item(), life->body_ended(p.moment(*this), ended));
    }

    /// Loses the request: it has no effect, and no reply comes.
    template <class Port>
    void lose_request(Port& p) {
        bool const asks_again = asked == kind::end || asked == kind::undo || asked == kind::catch_up ||
                                asked == kind::await || asked == kind::start;
        if (asked == kind::start && !is_sent) {
            claim_sent = p.claim();
            is_sent = true;
            life->start_sent(p.moment(*this).session.generation);
        }
        if (!asks_again) lose(p);
    }

    /// Carries out the request. Without a reply, the driver does not learn of that.
    template <class Port>
    void serve(Port& p, job_layout const& at, bool has_reply) {
        auto const now = p.moment(*this);
        auto const i = life->item();
        switch (*asked) {
        case kind::read:
        case kind::follow:
            answered();
            return p.report(i, life->record_read(now, has_reply ? p.read(at.run_record(i)) : lost()));
        case kind::look:
            answered();
            return p.report(i, life->start_looked_for(now, has_reply ? p.read(at.run_record(i)) : lost()));
        case kind::open: {
            auto t = detail::creation_checks(at, now.self, now.session.generation);
            t.create(at.run_record(i), text);
            auto const done = p.write(t);
            answered();
            return life->opened({i, text, has_reply && !done.refused ? done.at : 0});
        }
        case kind::note: {
            auto const done = p.write_note(
                detail::note_transaction(at, now.self, now.session.generation, life->note(), life->dead(), false));
            answered();
            if (!has_reply) return p.report(i, life->noted(now, lost().error()));
            if (done.refused) return p.report(i, life->noted(now, error{errc::version_conflict, "refused"}));
            return p.report(i, life->noted(now, success()));
        }
        case kind::start:
            return serve_start(p, at, has_reply);
        case kind::await: {
            auto const mark = p.read(at.item_running(i));
            if (mark && is_own_mark(*mark, now.self, now.session)) {
                transaction t{now.session.generation};
                t.remove(at.item_running(i));
                p.write(t);
            } else if (mark && life->is_ours()) {
                return; // it continues to wait
            }
            answered();
            return life->mark_gone();
        }
        case kind::end:
            if (auto const done = serve_end(p, at, life->end(), life->end_generation(now.session), has_reply)) {
                answered();
                p.report(i, life->end_answered(now, *done));
            }
            return;
        case kind::catch_up:
            p.write(catch_up_write(now.session.generation, at.instance(now.self)));
            if (!has_reply) return; // ask again
            answered();
            return p.report(i, life->caught_up(now, success()));
        case kind::undo:
            if (auto const done = serve_end(p, at, life->undo(), life->resolves_in(), has_reply)) {
                answered();
                p.report(i, life->undone(now, *done));
            }
            return;
        case kind::call:
        case kind::rest:
        case kind::leave:
            return;
        }
    }

    /// The session ends before the reply arrives.
    template <class Port>
    void lose(Port& p) {
        auto const now = p.moment(*this);
        error const over{errc::session_lost, "over"};
        auto const what = *asked;
        auto const i = life->item();
        answered();
        switch (what) {
        case kind::read:
        case kind::follow:
            return p.report(i, life->record_read(now, over));
        case kind::look:
            return p.report(i, life->start_looked_for(now, over));
        case kind::open:
            return life->opened({i, text});
        case kind::note:
            return p.report(i, life->noted(now, over));
        case kind::start:
            return p.report(i, life->start_answered(now, p.lost_start()));
        case kind::await:
            return life->mark_gone();
        case kind::end:
            return p.report(i, life->end_answered(now, end_result::session_over));
        case kind::catch_up:
            return p.report(i, life->caught_up(now, over));
        case kind::undo:
            return p.report(i, life->undone(now, end_result::session_over));
        case kind::call:
        case kind::rest:
        case kind::leave:
            return;
        }
    }

private:
    static result<node> lost() { return error{errc::unknown_outcome, "lost"}; }

    void answered() {
        asked.reset();
        is_sent = false;
    }

    /// Does the same as the run book: if the reply to a start was lost, looks for the start, and then asks again.
    template <class Port>
    void serve_start(Port& p, job_layout const& at, bool has_reply) {
        auto const now = p.moment(*this);
        auto const g = now.session.generation;
        auto const i = life->item();
        auto start = life->start();
        if (!is_sent && !life->is_ours()) return finish_start(p, start_answer::unclaimed);
        if (!is_sent) claim_sent = p.claim();
        life->start_sent(g);
        if (is_sent) { // a read after a write shows whether the start took effect
            p.write(catch_up_write(g, at.instance(now.self)));
            auto const there = p.read(at.run_record(i));
            if (there && there->data == start.record && there->stat.version == detail::version_after(start)) {
                life->start_granted({i, 1, there->stat.version}, g);
                return finish_start(p, start_answer::started);
            }
        }
        auto t = detail::start_checks(at, now.self, g, claim_sent);
        auto const checks = t.size();
        detail::add_start(t, at, now.self, start);
        auto const done = p.write_start(t);
        if (!has_reply) {
            is_sent = true;
            return;
        }
        if (!done.refused) {
            life->start_granted({i, done.at, detail::version_after(start)}, g);
            return finish_start(p, start_answer::started);
        }
        if (done.refused->operation < checks) return finish_start(p, start_answer::unclaimed);
        auto const record = p.read(at.run_record(i));
        detail::item_findings found;
        found.names = p.children(at.item(i));
        found.owner = p.read(at.item_instance(i));
        if (record) found.record = record->stat;
        finish_start(p, detail::find_obstacle(start, now.self, found).value_or(start_answer::unclaimed));
    }

    template <class Port>
    void finish_start(Port& p, start_answer a) {
        answered();
        p.report(life->item(), life->start_answered(p.moment(*this), a));
        if (a == start_answer::started) go_on(p); // in the same turn of the loop
    }

    /// Does the same as the run book. Nothing: the outcome is not known yet, so the driver asks again.
    template <class Port>
    std::optional<end_result> serve_end(Port& p, job_layout const& at, run_end e, session_generation g,
                                        bool has_reply) {
        auto const now = p.moment(*this);
        if (g != now.session.generation) return end_result::session_over;
        auto const mark = p.read(at.item_running(e.item));
        e.is_marked = e.is_marked && mark && is_own_mark(*mark, now.self, now.session);
        e.is_failover = e.is_failover && p.read(at.item_failover(e.item));
        transaction t{g};
        detail::add_end(t, at, e);
        auto const done = p.write_end(t);
        if (!has_reply) return std::nullopt;
        if (!done.refused) return end_result::recorded;
        switch (detail::step_after_reading(p.read(at.run_record(e.item)), e, false)) {
        case detail::end_step::done:
            return end_result::recorded;
        case detail::end_step::done_before:
            return end_result::recorded_before;
        case detail::end_step::fenced:
            return end_result::fenced;
        default:
            return std::nullopt;
        }
    }
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_ITEM_DRIVER_HPP
