// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_API_IPP
#define ELASTICJOB_IMPL_CONSOLE_API_IPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/console/api.hpp>
#include <elasticjob/core/version.hpp>
#include <elasticjob/cron/describe.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL console_reply show_operator(console_options const& o, console_call const& c) {
    auto const role = c.by_whom.rights.somewhere();
    json_writer out;
    out.member("operator", c.by_whom.name).member("authentication", name_of(o.authentication));
    out.member("version", std::to_string(ELASTICJOB_VERSION_MAJOR) + "." + std::to_string(ELASTICJOB_VERSION_MINOR) +
                              "." + std::to_string(ELASTICJOB_VERSION_PATCH));
    out.open_list("verbs");
    if (role >= console_role::viewer) out.element("view");
    if (role >= console_role::operator_) out.element("command");
    if (role >= console_role::administrator) out.element("change_settings").element("add_job");
    return json_reply(out.close().finish());
}

ELASTICJOB_DECL console_reply show_cron(console_call const& c, wall_time now, zone_ref zone) {
    auto const count = c.request.number("count", 1, 100);
    if (!count) return problem(count.error());
    std::string const expression{c.request.parameter("expression")};
    job_config const config{
        .name = "cron", .cron = expression, .time_zone = std::string{c.request.parameter("time_zone")}};
    auto const words = describe_cron(expression);
    auto const dues = preview(config, now, count->value_or(5), zone);
    json_writer out;
    out.open_list("problems");
    for (auto const* e : {words ? nullptr : &words.error(), words && !dues ? &dues.error() : nullptr}) {
        if (!e) continue;
        // The error contains the place as `column 5`.
        std::uint32_t column = 0;
        auto const at = e->where.find("column ");
        if (at != e->where.npos) (void)read_number(std::string_view{e->where}.substr(at + 7), column);
        out.open().member("text", e->what).member("position", column == 0 ? 0 : column - 1).close();
    }
    out.close().member("in_words", words ? *words : std::string{});
    put_instants(out, "next_dues", dues ? *dues : std::vector<wall_time>{});
    return json_reply(out.finish());
}

ELASTICJOB_DECL console_reply no_route(std::vector<std::string_view> const& methods) {
    if (methods.empty()) return problem({errc::no_node, "this path does not exist", "path"});
    std::string allowed;
    for (auto const& m : methods) allowed += (allowed.empty() ? "" : ", ") + std::string{m};
    auto reply = problem({errc::invalid_argument, "this path takes " + allowed, "method"}, 405);
    reply.headers.emplace_back("Allow", allowed);
    return reply;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_API_IPP
