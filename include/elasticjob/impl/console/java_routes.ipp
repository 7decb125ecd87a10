// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_JAVA_ROUTES_IPP
#define ELASTICJOB_IMPL_CONSOLE_JAVA_ROUTES_IPP

#include <elasticjob/console/java_routes.hpp>
#include <elasticjob/console/texts_codec.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL console_reply without_content(console_reply done) {
    return done.status == 200 ? console_reply{204, {}, {}, std::move(done.headers)} : done;
}

ELASTICJOB_DECL console_reply show_java_choice(std::string_view name, text_pairs const& more) {
    if (name.empty()) return json_reply("[]");
    json_writer out;
    out.member("name", name);
    for (auto const& [key, text] : more) out.member(key, text);
    return json_reply("[" + out.member("activated", true).finish() + "]");
}

ELASTICJOB_DECL console_reply connect_java(std::string_view name_in_use, console_call const& c) {
    auto const names = read_texts(c.request.body, {"name"});
    if (!names) return problem(names.error());
    return json_reply(names->front() == name_in_use ? "true" : "false");
}

ELASTICJOB_DECL console_reply refuse_java_choice() {
    return problem({errc::no_auth, "registries and databases are named where the console is started"}, 403);
}

/// `read(query)` returns a page of the history; `text_of(row)` returns the JSON of a row.
template <class Read, class Text>
console_reply show_java_history(console_database const* database, result<history_query> const& query,
                                console_call const& c, Read read, Text text_of) {
    if (!query) return problem(query.error());
    if (!c.may_see_runs_of(query->job)) return problem({errc::no_auth, "name a job that you may see", "jobName"}, 403);
    if (!database) return json_reply(R"({"total":0,"rows":[]})");
    auto const page = read(*query);
    if (!page) return problem(page.error());
    return json_reply("{\"total\":" + std::to_string(page->total.value_or(0)) +
                      ",\"rows\":" + java_list(page->rows, text_of) + "}");
}

ELASTICJOB_DECL console_reply show_java_executions(console_database const* database, console_call const& c,
                                                   zone_ref zone) {
    return show_java_history(
        database, read_java_query(c.request, java_history::executions, zone), c,
        [&](history_query const& q) { return database->executions(q); },
        [&](execution_row const& row) { return java_text(row, zone); });
}

ELASTICJOB_DECL console_reply show_java_states(console_database const* database, console_call const& c, zone_ref zone) {
    return show_java_history(
        database, read_java_query(c.request, java_history::states, zone), c,
        [&](history_query const& q) { return database->states(q); },
        [&](state_row const& row) { return java_text(row, zone); });
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_JAVA_ROUTES_IPP
