# SPDX-License-Identifier: Apache-2.0
# Reads every header and every file of definitions (paths relative to include/, as arguments) and reports, with
# file:line, each break of the folder order: a header may include headers of its own folder and of the folders below it,
# and only those external headers that are listed here. impl/ mirrors the folders, and its files obey the same rules.

BEGIN {
    level["core"] = 0
    level["cron"] = 1
    level["config"] = level["allocation"] = level["registry"] = 2
    level["membership"] = level["election"] = level["events"] = 3
    level["sharding"] = 4
    level["execution"] = 5
    # An operator's tool links no job code, so operations/ does not include the scheduler, nor the other way round.
    level["scheduler"] = level["operations"] = 7
    level["(umbrella)"] = 8
    level["console"] = 9
    level["testing"] = level["command_line"] = 10
    level["(source)"] = 11 # the sources of the compiled library
    closed["console", "scheduler"] = closed["console", "(umbrella)"] = 1
    closed["command_line", "scheduler"] = closed["command_line", "(umbrella)"] = 1

    for (i = 1; i < ARGC; ++i) present[ARGV[i]] = 1
}

function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; ++faults }

# elasticjob/registry/detail/x.hpp -> registry; a header beside the folders is an umbrella.
function folder_of(path,   parts) {
    sub(/^elasticjob\/impl\//, "elasticjob/", path)
    if (split(path, parts, "/") > 2) return parts[2]
    return parts[2] ~ /^src/ ? "(source)" : "(umbrella)"
}

function check_own(path,   from, to) {
    from = folder_of(FILENAME)
    to = folder_of(path)
    if (path ~ /\/zk_instances\.hpp$/) return
    if (from != to && (!(to in level) || level[to] >= level[from] || (from, to) in closed))
        complain(from "/ must not include " to "/ (<" path ">)")
    else if (!(path in present)) complain("<" path "> does not exist")
    if (!(path in present)) return
    # An include of the code of jobs, or of the declarations of the compiled library's instances, is no part of a circle:
    # they need a registry.
    if (path ~ /(instances|job_code)\.hpp$/) return
    if (path ~ /\.ipp$/) {
        if (from == "(source)") return
        included_by[path] = FILENAME
    }
    edges[FILENAME] = edges[FILENAME] path "\n"
    place[FILENAME, path] = FNR
}

function check_outside(path,   folder, allowed) {
    folder = folder_of(FILENAME)
    if (path !~ /^(sqlite3|httplib|zookeeper)\.h$/ && path ~ /^[a-z0-9_]+(\.h)?$/ || path ~ /^(sys|net|netinet|arpa)\/[a-z0-9_]+\.h$/) return # std and POSIX
    if (path ~ /^boost\/outcome/) allowed = FILENAME == "elasticjob/core/result.hpp"
    else if (path ~ /^boost\/hana/) allowed = 1
    else if (path ~ /^boost\/(asio|beast)/) allowed = folder == "console" || FILENAME ~ /\/(execution\/(timed_io\.hpp|http_client\.ipp)|events\/metrics_server\.[hi]pp)$/
    else if (path ~ /^openssl\//) allowed = folder == "console"
    else if (path ~ /^bits\//) allowed = FILENAME ~ /^elasticjob\/core\/(chrono|algorithm|memory)\.hpp$/ # docs/decisions/0013
    else if (path == "range/v3/range_fwd.hpp") allowed = 1
    else if (path == "range/v3/all.hpp") allowed = 0
    else if (path ~ /^range\/v3\//)
        allowed = folder ~ /^(allocation|election|sharding|execution|operations|console|testing)$/
    else if (path ~ /^rapidjson\//) allowed = FILENAME ~ /\/([a-z_]*codec|json_text)\.[hi]pp$/
    else if (path ~ /^CLI\//) allowed = folder == "command_line"
    else if (path ~ /^date\//) allowed = FILENAME == "elasticjob/cron/date_zone.hpp"
    else if (path == "sqlite3.h") allowed = FILENAME == "elasticjob/events/sqlite_database.hpp"
    else if (path ~ /^soci\//) allowed = FILENAME == "elasticjob/events/postgres_database.hpp"
    else if (path ~ /^zookeeper(\/|\.h$)/) {
        if (!zookeeper_header) zookeeper_header = FILENAME
        allowed = folder == "registry" && zookeeper_header == FILENAME
    }
    if (!allowed) complain("<" path "> must not be included here")
}

FNR == 1 {
    guard = toupper(FILENAME)
    gsub(/[\/.]/, "_", guard)
    if (!(folder_of(FILENAME) in level)) complain("unknown folder; give it a place in test/layout/layers.awk")
}

# The guard is named after the path, so no two headers can have the same one.
/^#ifndef / && $2 == guard { guarded[FILENAME] = 1 }

/^[ \t]*#[ \t]*include[ \t]*"/ { complain("quoted include; write <elasticjob/...>") }

/^[ \t]*#[ \t]*include[ \t]*</ {
    path = $0
    sub(/^[^<]*</, "", path)
    sub(/>.*/, "", path)
    if (path ~ /^elasticjob\//) check_own(path); else check_outside(path)
}

# Depth first; a header that occurs again on the way down closes a circle. A header includes its definitions at its end,
# after every declaration that they need, so they may include it. They may not include another header that includes it:
# in a header-only program that starts with the other one, its declarations would come after these definitions.
function visit(header, way,   list, count, i) {
    state[header] = "open"
    count = split(edges[header], list, "\n")
    for (i = 1; i < count; ++i) {
        if (list[i] == included_by[header]) continue
        if (!(list[i] in state)) visit(list[i], way " -> " list[i])
        else if (state[list[i]] == "open") {
            printf "%s:%d: includes form a circle:%s -> %s\n", header, place[header, list[i]], way, list[i]
            ++faults
        }
    }
    state[header] = "done"
}

END {
    for (i = 1; i < ARGC; ++i) { # in the order of the arguments, so the same faults give the same output
        if (!guarded[ARGV[i]]) {
            printf "%s:1: the include guard must be named after the path\n", ARGV[i]
            ++faults
        }
        if (!(ARGV[i] in state)) visit(ARGV[i], " " ARGV[i])
    }
    exit faults > 0
}
