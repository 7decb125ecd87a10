// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ELECTION_ELECTION_IPP
#define ELASTICJOB_IMPL_ELECTION_ELECTION_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/election/election.hpp>
#include <elasticjob/registry/catch_up.hpp>

#include <cassert>
#include <cstddef>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string_view latch_key(std::string_view name) noexcept {
    auto const at = name.rfind(latch_suffix);
    return at == name.npos ? name : name.substr(at + latch_suffix.size());
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL election::election(job_layout at, instance_id self) : at_{std::move(at)}, self_{std::move(self)} {}

ELASTICJOB_DECL std::vector<node_path> election::queue_paths() const {
    return {at_.leader(), at_.election(), at_.election_latch()};
}

ELASTICJOB_DECL std::optional<node_path> election::place() const {
    if (!is_standing()) return std::nullopt;
    return at_.election_latch() / name_;
}

ELASTICJOB_DECL bool election::holds() const noexcept {
    bool const knows_path = phase_ == phase::ranking || phase_ == phase::waiting || phase_ == phase::taking_office ||
                            phase_ == phase::removing;
    bool const knows_no_path = phase_ == phase::joining || phase_ == phase::catching_up || phase_ == phase::searching;
    return name_.empty() == (phase_ == phase::absent) && (!candidate_ || is_standing()) &&
           (!knows_path || candidate_) && !(knows_no_path && candidate_) && (phase_ != phase::waiting || front_) &&
           joins_left_ <= joins_max;
}

ELASTICJOB_DECL std::string to_string(election const& e) {
    static constexpr std::string_view names[]{"absent",        "joining",     "making queue", "ranking",  "waiting",
                                              "taking office", "catching up", "searching",    "removing", "stranded"};
    std::string text{names[static_cast<std::size_t>(e.phase_)]};
    return text + "; " + std::to_string(e.joins_left_) + " attempts left";
}

// ---- Standing.

ELASTICJOB_DECL election_step election::stand(session_generation g, std::string_view uuid) {
    assert(!is_standing());
    generation_ = g;
    name_ = "_c_" + std::string{uuid} + "-";
    joins_left_ = joins_max;
    return join();
}

ELASTICJOB_DECL election_step election::join() {
    --joins_left_;
    phase_ = phase::joining;
    auto const path = at_.election_latch() / (name_ + std::string{detail::latch_suffix});
    return {election_step::kind::create_candidate, path};
}

ELASTICJOB_DECL election_step election::candidate_created(result<node_path> created) {
    assert(phase_ == phase::joining);
    if (created) {
        candidate_ = *std::move(created);
        return rank();
    }
    if (created.error() == errc::unknown_outcome) return fail(std::move(created).error());
    phase_ = phase::making_queue;
    if (!(created.error() == errc::no_node)) return fail(std::move(created).error());
    if (joins_left_ == 0)
        return fail({errc::no_node, "the node of the election's queue, which must exist, kept disappearing",
                     at_.election_latch().str()});
    return {election_step::kind::read_parents};
}

ELASTICJOB_DECL election_step election::parents_read(result<std::vector<std::optional<node>>> nodes) {
    assert(phase_ == phase::making_queue);
    if (!nodes) return fail(std::move(nodes).error());
    // Curator creates the queue's node and its missing parents as containers, which the server removes once they are
    // empty. We create persistent nodes. If the job is removed meanwhile, the check fails and we create none.
    transaction t{generation_};
    t.check(at_.config());
    auto const paths = queue_paths();
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (!(*nodes)[i]) t.create(paths[i], {});
    return {election_step::kind::commit, {}, std::move(t)};
}

ELASTICJOB_DECL election_step election::rank() {
    phase_ = phase::ranking;
    front_.reset();
    return {election_step::kind::read_queue, at_.election_latch()};
}

ELASTICJOB_DECL election_step election::queue_read(result<std::vector<std::string>> names) {
    assert(phase_ == phase::ranking || phase_ == phase::searching);
    if (phase_ == phase::searching) {
        if (!names && !(names.error() == errc::no_node)) return cannot_withdraw(std::move(names).error());
        if (names)
            for (auto const& name : *names)
                if (name.starts_with(name_)) candidate_ = at_.election_latch() / name;
        return candidate_ ? begin_to_withdraw() : withdrawn();
    }
    if (!names) return fail(std::move(names).error());
    auto const key = detail::latch_key(candidate_->name());
    bool is_queued = false;
    std::string_view front;
    for (auto const& name : *names) {
        auto const other = detail::latch_key(name);
        is_queued |= name == candidate_->name();
        if (other < key && (front.empty() || detail::latch_key(front) < other)) front = name;
    }
    if (!is_queued) {
        candidate_.reset();
        return fail({errc::no_node, "our candidate has been removed", at_.election_latch().str()});
    }
    if (!front.empty()) front_ = at_.election_latch() / std::string{front};
    return {election_step::kind::read_leader, at_.leader_instance()};
}

ELASTICJOB_DECL election_step election::leader_read(result<bool> is_there) {
    assert(phase_ == phase::ranking);
    if (!is_there) return fail(std::move(is_there).error());
    if (*is_there) return begin_to_withdraw();
    if (front_) {
        phase_ = phase::waiting;
        return {election_step::kind::await_change, *front_};
    }
    phase_ = phase::taking_office;
    transaction t{generation_};
    t.check(*candidate_).create(at_.leader_instance(), self_.str(), create_mode::ephemeral).remove(*candidate_);
    return {election_step::kind::commit, {}, std::move(t)};
}

ELASTICJOB_DECL election_step election::front_changed(result<void> watched) {
    assert(phase_ == phase::waiting);
    if (!watched) return fail(std::move(watched).error());
    return rank();
}

ELASTICJOB_DECL election_step election::committed(result<commit_reply> reply) {
    assert(phase_ == phase::making_queue || phase_ == phase::taking_office || phase_ == phase::catching_up);
    if (!reply)
        return phase_ == phase::catching_up ? cannot_withdraw(std::move(reply).error())
                                            : fail(std::move(reply).error());
    switch (phase_) {
    case phase::making_queue:
        if (!*reply && reply->refused->operation == 0)
            return fail({errc::no_node, "no leader is elected, because the job has no configuration: it was removed",
                         at_.config().str()});
        return join(); // if a parent caused the refusal, another client has just created or removed it
    case phase::taking_office:
        if (!*reply) return begin_to_withdraw(); // another instance has become leader
        return withdrawn();
    default: // catching up; a refused write also makes the server catch up
        phase_ = phase::searching;
        return {election_step::kind::read_queue, at_.election_latch()};
    }
}

// ---- Withdrawing.

ELASTICJOB_DECL election_step election::withdraw(session_generation g) {
    generation_ = g;
    return is_standing() ? begin_to_withdraw() : withdrawn();
}

ELASTICJOB_DECL election_step election::begin_to_withdraw() {
    front_.reset();
    if (candidate_) {
        phase_ = phase::removing;
        return {election_step::kind::remove_candidate, *candidate_};
    }
    phase_ = phase::catching_up;
    return {election_step::kind::commit, {}, catch_up_write(generation_, at_.config())};
}

ELASTICJOB_DECL election_step election::candidate_removed(result<void> removed) {
    assert(phase_ == phase::removing);
    if (removed || removed.error() == errc::no_node) return withdrawn();
    return cannot_withdraw(std::move(removed).error());
}

ELASTICJOB_DECL election_step election::withdrawn() {
    forget();
    return {};
}

ELASTICJOB_DECL election_step election::cannot_withdraw(error e) {
    return e == errc::session_lost ? withdrawn() : fail(std::move(e));
}

ELASTICJOB_DECL election_step election::fail(error e) {
    if (is_standing())
        phase_ = phase::stranded;
    else
        forget();
    front_.reset();
    assert(holds());
    election_step end;
    end.outcome = std::move(e);
    return end;
}

ELASTICJOB_DECL void election::forget() noexcept {
    phase_ = phase::absent;
    joins_left_ = 0;
    name_.clear();
    candidate_.reset();
    front_.reset();
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_ELECTION_ELECTION_IPP
