// SPDX-License-Identifier: Apache-2.0
/// \file \brief Carries out an operator's command at most once, and records it even if it is refused.
#ifndef ELASTICJOB_OPERATIONS_COMMAND_HPP
#define ELASTICJOB_OPERATIONS_COMMAND_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/operations/audit_trail.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/wait_for_job.hpp>
#include <elasticjob/registry/change_attempts.hpp>
#include <elasticjob/registry/read_all.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The operator who gives a command, and the key of the command.
struct command_by {
    /// For the audit trail: 1 to 100 bytes of UTF-8 without control characters.
    std::string operator_name;

    /// Two calls with the same key are one command: the second call returns the result of the first. 1 to 100 visible
    /// ASCII characters. A job remembers a key for its next 200 commands. Empty: the call makes a new key. Then the
    /// call itself survives a lost reply, but a second call is a second command. So give one if you want to repeat a
    /// call that has timed out.
    std::string key{};

    /// Validates the command and returns its effect, but writes nothing, not even to the audit trail.
    bool is_dry_run = false;
};

/// The result of a command.
struct command_result {
    enum class effect : std::uint8_t {
        done,
        unchanged, ///< the state was already as wanted
        repeated,  ///< an earlier call with this key did it; `text` is from that call
        planned,   ///< a dry run: nothing was written
    };
    effect what{};
    std::string text{}; ///< the result as a sentence for people
    std::string key{};
};

/// The name of the enumerator.
std::string_view name_of(command_result::effect e) noexcept;

namespace detail {

/// The name of a command in the audit trail.
struct command_title {
    std::string verb;
    std::string subject{};       ///< empty: the job
    bool may_create = false;     ///< the command does not need the job's configuration
    bool may_be_removed = false; ///< the command works on a job with a tombstone

    /// Whether the entry is one of such a command.
    bool is_of(audit_entry const& e) const { return e.verb == verb && e.subject == audit_trail::word(subject); }
};

/// The effect in words. Its operations are already in the transaction.
struct command_plan {
    std::string text;
    bool changes = true;            ///< false: the state is already as wanted, and there are no operations
    bool leaves_only_trail = false; ///< afterwards only the audit trail may be left of the job
};

/// A function object `plan(t)` of any type, which must outlive this: a pointer to it and one to a function, so that all
/// commands share the code of `carry_out`.
class command_planner {
public:
    template <class Plan>
    requires(!std::same_as<Plan, command_planner>)
        command_planner(Plan const& plan) // NOLINT: a parameter of this type takes any plan
        : plan_{&plan},
          call_{[](void const* p, transaction& t) { return (*static_cast<Plan const*>(p))(t); }} {}
    template <class Plan>
    requires(!std::same_as<Plan, command_planner>) command_planner(Plan const&& plan)
    = delete; ///< a temporary would be gone before the command is carried out

    task<result<command_plan>> operator()(transaction& t) const { return call_(plan_, t); }

private:
    void const* plan_;
    task<result<command_plan>> (*call_)(void const*, transaction&);
};

/// A key that no other command has.
std::string new_key();

/// Gives the command a key if it has none. Errors: invalid_argument.
result<command_by> checked(command_by by);

/// An entry with the outcome of the command; the note is the command's text.
audit_entry entry_of(command_by const& by, command_title const& title, command_outcome outcome, std::string note,
                     wall_time now);

/// The nodes of a job that every command reads first.
struct command_base {
    session_generation generation{};
    std::vector<std::optional<node>> nodes{}; ///< root, ext, tombstone, configuration, audit trail
    audit_trail trail{};

    bool has_root() const { return nodes[0].has_value(); }
    bool has_ext() const { return nodes[1].has_value(); }
    bool is_removed() const { return nodes[2].has_value(); }
    bool has_config() const { return nodes[3] && !nodes[3]->data.empty(); }

    /// The beginning of every command's transaction. Checks that the job exists, has the same configuration as in the
    /// read, and has not been removed, unless the title allows these states. If the job was removed in the read, checks
    /// that it still is.
    transaction begin(job_layout const& at, command_title const& title) const;

    /// Adds the end of the transaction, which writes the audit trail. With `leaves_only_trail`, the registry refuses
    /// the transaction unless nothing else is left of the job.
    void record(transaction& t, job_layout const& at, audit_entry e, bool leaves_only_trail = false) const;
};

/// Adds the last operations of a transaction: they write the trail, and remove and recreate the job's root. The
/// registry refuses that if anything else is below the root.
void put_trail_alone(transaction& t, job_layout const& at, std::optional<node> const& trail, std::string text);

template <registry Registry>
task<result<command_base>> read_command_base(Registry& r, job_layout at) {
    ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
    std::vector<node_path> paths{at.root(), at.ext(), at.removed(), at.config(), at.audit()};
    ELASTICJOB_CO_TRY(auto nodes, co_await read_all(r, std::move(paths)));
    ELASTICJOB_CO_TRY(auto trail, read_audit_node(at, nodes[4] ? &*nodes[4] : nullptr));
    co_return command_base{session.generation, std::move(nodes), std::move(trail)};
}

/// Records a refusal in the audit trail, if the job exists or has been removed. Returns the entry of the same command
/// with the same key, if it was carried out meanwhile: then its own changes have led to the refusal. After an error it
/// is not known whether there is such an entry. Errors: no_node if there is no such job; version_conflict if the nodes
/// kept changing; those of the registry.
template <registry Registry>
task<result<std::optional<audit_entry>>> record_refusal(Registry& r, job_layout at, audit_entry e) {
    for (int attempt = 0; attempt < 5; ++attempt) {
        ELASTICJOB_CO_TRY(auto const base, co_await read_command_base(r, at));
        command_title const refused{e.verb, e.subject, false, true};
        auto const* before = base.trail.find(e.key);
        if (before && refused.is_of(*before)) co_return *before;
        if (!base.has_config() && !base.is_removed()) co_return detail::no_such_job(at.root());
        auto t = base.begin(at, refused);
        base.record(t, at, e);
        ELASTICJOB_CO_TRY(auto const reply, co_await r.commit(std::move(t)));
        if (reply) co_return std::optional<audit_entry>{};
    }
    co_return error{errc::version_conflict, "the job's nodes kept changing", at.root().str()};
}

/// Carries out a command. `plan(t)`, a coroutine, reads the nodes on which the command depends, validates, and adds the
/// changes to the transaction, with checks of everything that it has read. It may be called again, up to 20 times in
/// all, if another client was faster or a reply was lost. The same transaction writes the audit trail with the
/// command's key, and checks the version of the trail. So a command whose reply was lost is found in the trail and not
/// carried out twice, and of two calls with one key only one is carried out. Errors: invalid_argument for an invalid
/// operator's name or key, and for a key that another command has used; no_node and removed if there is no such job;
/// malformed_data for a trail that cannot be read; version_conflict if all attempts met concurrent changes;
/// unknown_outcome, with a key that was made, if the command may have been carried out; those of the registry; those of
/// `plan`, which are refusals and are recorded, unless the same command with the same key has been carried out
/// meanwhile: then the result is that one's.
template <registry Registry>
task<result<command_result>> carry_out(Registry& r, job_name job, command_by given, command_title title,
                                       command_planner plan) {
    using effect = command_result::effect;
    job_layout const at{job};
    bool const is_key_ours = given.key.empty();
    ELASTICJOB_CO_TRY(auto const by, checked(std::move(given)));
    std::optional<error> refusal;
    change_attempts attempts{20};
    auto const result_of = [&](audit_entry const& e) { // if it may be done, the entry under the key may be ours
        auto const done = e.outcome == command_outcome::unchanged ? effect::unchanged : effect::done;
        return command_result{attempts.may_be_done() ? done : effect::repeated, e.note, by.key};
    };
    auto const known = [&](error e) { // `e`, unless the command may have been carried out
        if (!attempts.may_be_done()) return e;
        auto unknown = attempts.known(std::move(e));
        unknown.what +=
            is_key_ours ? "; repeat the command with the key " + by.key : "; repeat the command with its key";
        return unknown;
    };
    while (attempts.next()) {
        auto const base = co_await read_command_base(r, at);
        if (!base && attempts.note_read(base.error())) continue;
        if (!base) co_return known(base.error());
        if (auto const* before = base->trail.find(by.key)) {
            if (!title.is_of(*before)) {
                refusal = error{errc::invalid_argument,
                                "the key belongs to another command: " + before->verb + " " + before->subject, by.key};
                break;
            }
            co_return result_of(*before);
        }
        if (base->is_removed() && !title.may_be_removed) {
            refusal = removed_error(at);
            break;
        }
        if (!base->has_config() && !title.may_create) co_return known(no_such_job(at.root()));

        auto t = base->begin(at, title);
        auto const planned = co_await plan(t);
        if (!planned && attempts.note_read(planned.error())) continue;
        if (!planned) {
            refusal = planned.error();
            break;
        }
        if (by.is_dry_run) co_return command_result{effect::planned, planned->text, by.key};
        auto const outcome = planned->changes ? command_outcome::done : command_outcome::unchanged;
        auto entry = entry_of(by, title, outcome, planned->text, r.loop().wall_now());
        base->record(t, at, std::move(entry), planned->leaves_only_trail);
        if (!t.has_room(r.limits())) {
            refusal = error{errc::too_large, "this changes more nodes than one transaction can: do it in parts",
                            at.root().str()};
            break;
        }
        auto const reply = co_await r.commit(std::move(t));
        if (reply && *reply)
            co_return command_result{planned->changes ? effect::done : effect::unchanged, planned->text, by.key};
        if (!reply && !attempts.note_write(reply.error())) co_return known(reply.error());
    }
    if (!refusal) {
        auto failure = attempts.failure("the job's nodes kept changing while the command was carried out: repeat it",
                                        at.root().str());
        if (!attempts.are_all_answered()) co_return known(std::move(failure));
        refusal = std::move(failure);
    }
    if (!by.is_dry_run) {
        auto entry = entry_of(by, title, command_outcome::refused, to_string(*refusal), r.loop().wall_now());
        auto const before = co_await record_refusal(r, at, std::move(entry));
        if (before && *before) co_return result_of(**before);
        if (!before) co_return known(*std::move(refusal)); // the command's own changes may have led to the refusal
    }
    co_return *std::move(refusal);
}

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/command.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_COMMAND_HPP
