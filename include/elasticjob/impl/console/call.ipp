// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_CALL_IPP
#define ELASTICJOB_IMPL_CONSOLE_CALL_IPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/console/call.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::optional<text_pairs> match_pattern(std::string_view pattern,
                                                        std::vector<std::string> const& path) {
    text_pairs parameters;
    for (auto const& segment : path) {
        auto const end = pattern.find('/');
        auto const expected = pattern.substr(0, end);
        if (expected.starts_with('{') && !segment.empty())
            parameters.emplace_back(expected.substr(1, expected.size() - 2), segment);
        else if (expected != segment)
            return std::nullopt;
        pattern = end == pattern.npos ? std::string_view{} : pattern.substr(end + 1);
        if (pattern.empty() && &segment != &path.back()) return std::nullopt;
    }
    return pattern.empty() ? std::optional{std::move(parameters)} : std::nullopt;
}

ELASTICJOB_DECL std::string make_key_for(console_request const& r) {
    bool const has_none = !r.is_safe() && r.header("idempotency-key").empty();
    return has_none ? new_key() : std::string{};
}

ELASTICJOB_DECL command_by console_call::by() const {
    std::string given{request.header("idempotency-key")};
    return {by_whom.name, given.empty() ? made_key : std::move(given), is_dry_run()};
}

ELASTICJOB_DECL void console_call::tell_key(console_reply& reply) const {
    if (reply.is_effect_unknown && !made_key.empty() && !is_dry_run())
        reply.headers.emplace_back("Idempotency-Key", made_key);
}

ELASTICJOB_DECL bool console_call::is_allowed(console_route_shape const& route) const {
    auto const& rights = by_whom.rights;
    if (auto const job = (*this)["job"]; !job.empty()) return rights.in_job(job) >= route.least;
    return (route.least == console_role::viewer ? rights.somewhere() : rights.in_all_jobs()) >= route.least;
}

ELASTICJOB_DECL result<void> console_call::check_query() const {
    if (request.is_safe()) return success();
    bool const is_ours = request.path.size() > 1 && request.path[1] == "v1"; // scripts for 2.1.5 may send anything else
    for (auto const& [name, value] : request.query) {
        bool const is_dry_run = name == "dry_run";
        if (is_dry_run && value != "true" && value != "false")
            return error{errc::invalid_argument, "must be true or false; nothing was done", name};
        if (!is_dry_run && is_ours)
            return error{errc::invalid_argument,
                         "is no parameter of a command, which takes dry_run only; nothing was done", name};
    }
    return success();
}

ELASTICJOB_DECL result<item_index> console_call::item() const {
    item_index number = 0;
    if (!read_number((*this)["item"], number)) return error{errc::invalid_argument, "an item is a number", "item"};
    return number;
}

ELASTICJOB_DECL result<wall_time> console_call::instant(std::string_view text, std::string_view where) const {
    wall_time t{};
    if (!read_utc(text, t))
        return error{errc::invalid_argument, "must be an instant as 2026-12-24T18:00:00Z", std::string{where}};
    return t;
}

ELASTICJOB_DECL result<std::uint32_t> console_call::limit() const {
    ELASTICJOB_TRY(auto const given, request.number("limit", 1, 1'000));
    return given.value_or(100);
}

ELASTICJOB_DECL error lacks_role(std::string_view operator_name, console_role least) {
    return {errc::no_auth, "this needs the role " + std::string{name_of(least)} + ", which " +
                               std::string{operator_name} + " does not have here"};
}

ELASTICJOB_DECL console_reply json_reply(std::string body) { return {200, "application/json", std::move(body)}; }

ELASTICJOB_DECL console_reply reply_for(result<command_result> const& done) {
    if (!done) return problem(done.error());
    json_writer out;
    out.member("effect", name_of(done->what)).member("text", done->text).member("key", done->key);
    return json_reply(out.finish());
}

ELASTICJOB_DECL console_reply reply_for(result<std::vector<command_in_job>> const& all) {
    if (!all) return problem(all.error());
    std::size_t failed = 0;
    auto what = command_result::effect::unchanged;
    json_writer out;
    for (auto const& one : *all) {
        if (!one.outcome)
            ++failed;
        else if (one.outcome->what != command_result::effect::unchanged)
            what = one.outcome->what;
    }
    auto const jobs = std::to_string(all->size()) + (all->size() == 1 ? " job" : " jobs");
    if (auto const* worst = worst_failure(*all)) {
        auto reply = problem(
            {worst->code, "failed in " + std::to_string(failed) + " of " + jobs + ": " + worst->what, worst->where});
        reply.is_effect_unknown |= failed < all->size(); // a part is done, and a repetition goes on with the rest
        return reply;
    }
    out.member("effect", name_of(what)).member("text", "in " + jobs).open_list("jobs");
    for (auto const& one : *all)
        out.open()
            .member("job", one.job)
            .member("effect", name_of(one.outcome->what))
            .member("text", one.outcome->text)
            .close();
    return json_reply(out.close().finish());
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_CALL_IPP
