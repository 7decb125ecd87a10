# SPDX-License-Identifier: Apache-2.0
# Reads what Google Benchmark prints as JSON, which has one member on each line, and prints a line for each benchmark:
# subject, name, nanoseconds of CPU time and by the wall clock, and its counters, separated by tabs. Of the repetitions the
# one with the least CPU time counts; of those that are timed by the wall clock, the one with the least time by that. The
# repetitions come in a random order, the lines in that of the program.

function flush_one() {
    if (name == "" || type != "iteration") return
    key = is_real ? real : cpu
    if (!(name in least)) {
        order[++count] = name
        place[name] = family * 1000 + instance
    }
    if (!(name in least) || key < least[name]) {
        least[name] = key
        line[name] = sprintf("%s\t%s\t%.6g\t%.6g\t%s", subject, name, cpu * scale, real * scale, counters)
    }
}

BEGIN {
    split("name run_name run_type family_index per_family_instance_index repetitions repetition_index threads iterations " \
          "real_time cpu_time time_unit aggregate_name aggregate_unit label", members, " ")
    for (i in members) known[members[i]] = 1
}
/"benchmarks": \[/ { in_benchmarks = 1; next }
!in_benchmarks { next }
match($0, /^ *"[^"]+": /) {
    member = $0
    sub(/^ *"/, "", member)
    sub(/": .*/, "", member)
    value = substr($0, RSTART + RLENGTH)
    sub(/,$/, "", value)
    if (value ~ /^"/) value = substr(value, 2, length(value) - 2)
    if (member == "name") { flush_one(); name = counters = type = ""; scale = 1 }
    else if (member == "run_name") { name = value; is_real = value ~ /\/real_time$/ }
    else if (member == "run_type") type = value
    else if (member == "family_index") family = value + 0
    else if (member == "per_family_instance_index") instance = value + 0
    else if (member == "real_time") real = value + 0
    else if (member == "cpu_time") cpu = value + 0
    else if (member == "time_unit") scale = value == "s" ? 1e9 : value == "ms" ? 1e6 : value == "us" ? 1e3 : 1
    else if (!(member in known) && value ~ /^[0-9.eE+-]+$/) counters = counters (counters == "" ? "" : " ") member "=" sprintf("%.4g", value)
}
END {
    flush_one()
    for (i = 2; i <= count; ++i) {
        moved = order[i]
        for (j = i; j > 1 && place[order[j - 1]] > place[moved]; --j) order[j] = order[j - 1]
        order[j] = moved
    }
    for (i = 1; i <= count; ++i) print line[order[i]]
}
