# SPDX-License-Identifier: Apache-2.0
# Reads results: `# key: value`, and lines of subject, name, nanoseconds of CPU time, nanoseconds by the wall clock, and
# counters, separated by tabs. `form` says what is printed: `results` (RESULTS.md), `picture` (allocation.svg), `readme` or
# `readme-zh-CN` (the tables in the README).

BEGIN { FS = "\t" }
/^# / {
    key = substr($0, 3)
    sub(/: .*/, "", key)
    context[key] = substr($0, length(key) + 5)
    keys[++key_count] = key
    next
}
{
    if (!($1 in subject_lines)) subjects[++subject_count] = $1
    at = ++subject_lines[$1]
    name[$1, at] = $2
    cpu[$1, $2] = $3
    wall[$1, $2] = $4
    counters[$1, $2] = $5
}
END {
    if (form == "results") print_results()
    else if (form == "picture") print_picture()
    else print_readme(form == "readme-zh-CN")
}

function log10(x) { return log(x) / log(10) }

# The value with so many significant digits, as people write it: 139000 with two digits is 140000.
function rounded(value, digits,    power) {
    if (value == 0) return "0"
    power = 10 ^ (int(log10(value) + 100) - 100 - digits + 1)
    value = int(value / power + 0.5) * power
    return power >= 1 ? sprintf("%d", value) : sprintf("%." int(-log10(power) + 0.5) "f", value)
}
function time_text(ns, digits) {
    if (ns == "") return ""
    if (ns >= 0.9995e9) return rounded(ns / 1e9, digits) " s"
    if (ns >= 0.9995e6) return rounded(ns / 1e6, digits) " ms"
    if (ns >= 0.9995e3) return rounded(ns / 1e3, digits) " us"
    return rounded(ns, digits) " ns"
}

# How many items the answer of a benchmark is about; 0 if its time is not that of a whole answer.
function items_of(text) {
    if (text ~ /^(owner_of_one|items_of_one|own_items_from_request)/ || !match(text, /\/items:[0-9]+$/)) return 0
    return substr(text, RSTART + 7) + 0
}

function statistic(is_chinese) {
    if (context["repetitions"] == 1) return is_chinese ? "单次测量" : "one repetition"
    return is_chinese ? "取 " context["repetitions"] " 次重复中最短的一次" : "the least of " context["repetitions"] " repetitions"
}

function print_results(    s, i, key) {
    print "# Benchmark results"
    print ""
    print "Written by `benchmarks/report` from [results.tsv](results.tsv), which `benchmarks/record` measures. Each file in"
    print "`benchmarks/` begins with its method. Of each benchmark: " statistic(0) "."
    print ""
    print "| | |"
    print "|---|---|"
    for (i = 1; i <= key_count; ++i) print "| " keys[i] " | " context[keys[i]] " |"
    for (s = 1; s <= subject_count; ++s) {
        print "\n## " subjects[s] "\n"
        if (subjects[s] == "cron") print_cron()
        else if (subjects[s] == "compile_time") print_headers()
        else print_subject(subjects[s])
    }
}

# `per_run` is in seconds; the others are numbers.
function counters_text(all,    count, parts, pair, i, text) {
    count = split(all, parts, " ")
    for (i = 1; i <= count; ++i) {
        split(parts[i], pair, "=")
        text = text (i > 1 ? ", " : "") pair[1] " " (pair[1] == "per_run" ? time_text(pair[2] * 1e9, 3) : pair[2])
    }
    return text
}

function print_subject(s,    i, n, text, has_items, items) {
    for (i = 1; i <= subject_lines[s]; ++i) if (items_of(name[s, i])) has_items = 1
    print "| benchmark | CPU time |" (has_items ? " for one item |" : "") " wall clock | counters |"
    print "|---|---|" (has_items ? "---|" : "") "---|---|"
    for (i = 1; i <= subject_lines[s]; ++i) {
        n = name[s, i]
        text = counters_text(counters[s, n])
        items = items_of(n)
        printf "| `%s` | %s |%s %s | %s |\n", n, time_text(cpu[s, n], 3),
            has_items ? (items ? " " time_text(cpu[s, n] / items, 3) " |" : " |") : "", time_text(wall[s, n], 3), text
    }
}

function print_cron(    i, c, columns, count, n, cut, expression, order, rows, row, others) {
    count = split("parse|random UTC|chain UTC|random New_York|chain New_York|rival random UTC|rival chain UTC", columns, "|")
    print "| expression | parse | UTC: from random instants | in a chain | New York: random | in a chain | with `tm`, UTC: random | in a chain |"
    print "|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= subject_lines["cron"]; ++i) {
        n = name["cron", i]
        cut = index(n, "/")
        if (!cut) { others = others "| " n " | " time_text(cpu["cron", n], 3) " |\n"; continue }
        expression = substr(n, cut + 1)
        if (expression in order) continue
        order[expression] = ++rows
        row = "| `" expression "` |"
        for (c = 1; c <= count; ++c) row = row " " time_text(cpu["cron", columns[c] "/" expression], 3) " |"
        print row
    }
    printf "\n| | |\n|---|---|\n%s", others
}

function print_headers(    i, n) {
    print "| header | compiles in | compared with `<string>` |"
    print "|---|---|---|"
    for (i = 1; i <= subject_lines["compile_time"]; ++i) {
        n = name["compile_time", i]
        printf "| `%s` | %.2f s | %.1f |\n", n, cpu["compile_time", n] / 1e9, cpu["compile_time", n] / cpu["compile_time", "<string>"]
    }
}

function allocation_cell(benchmark, size,    n) {
    n = benchmark "/" size
    if (!(("allocation", n) in cpu)) { print "there is no result of " n > "/dev/stderr"; exit 1 }
    return " " time_text(cpu["allocation", n], 2) " |"
}
function allocation_row(label, size) {
    print "| " label " |" allocation_cell("all_owners<RotateServerByName>", size) allocation_cell("sticky_runs", size) \
        allocation_cell("lists_in_vectors", size)
}
function cron_row(expression) {
    print "| `" expression "` | " time_text(cpu["cron", "random UTC/" expression], 2) " | " \
        time_text(cpu["cron", "random New_York/" expression], 2) " | " \
        time_text(cpu["cron", "rival random UTC/" expression], 2) " |"
}

function print_readme(is_chinese,    compiler, level, day, fields) {
    split(context["date"], fields, " ")
    day = fields[1]
    compiler = context["compiler"]
    sub(/ .* /, " ", compiler)
    level = match(context["flags"], /-O[0-9s]/) ? " " substr(context["flags"], RSTART, 3) : ""
    if (is_chinese) {
        print day "，" context["processor"] "，" context["cores"] " 个核，" compiler level "，CPU 时间，" statistic(1) "。完整结果见 [RESULTS.md](benchmarks/RESULTS.md)；表中是求出整个结果的时间，图中是同一时间除以分片项数。[`benchmarks/`](benchmarks) 中的文件开头写有测量方法。"
        print ""
        print "![不同作业规模下每个分片项所需的纳秒数](benchmarks/allocation.svg)"
        print ""
        print "| 求出所有分片项的归属 | `RotateServerByName`，逐项写出 | `StickyAllocation`，以区段表示，一个实例退出或回来时 | 用 vector 存列表，与原版相同 |"
    } else {
        print day ", " context["processor"] ", " context["cores"] " cores, " compiler level ". CPU times, " statistic(0) ". [RESULTS.md](benchmarks/RESULTS.md)"
        print "has all results. The table shows the time for a whole answer; the diagram shows the same time, divided by the"
        print "number of items. The files in [`benchmarks/`](benchmarks) begin with the method."
        print ""
        print "![Nanoseconds per sharding item over the sizes of a job](benchmarks/allocation.svg)"
        print ""
        print "| the owners of all items | `RotateServerByName`, written | `StickyAllocation`, as runs, when one leaves or returns | lists in vectors, as the original |"
    }
    print "|---|---|---|---|"
    allocation_row(is_chinese ? "10 个实例 x 100 个分片项" : "10 instances x 100 items", "instances:10/items:100")
    allocation_row("1,000 x 100,000", "instances:1000/items:100000")
    allocation_row("10,000 x 10,000,000", "instances:10000/items:10000000")
    print ""
    if (is_chinese) print "| 求下一个触发时刻 | UTC | 纽约 | 用 `tm` 逐字段计算，UTC |"
    else print "| the next due instant of | in UTC | in New York | field by field with `tm`, UTC |"
    print "|---|---|---|---|"
    cron_row("0 0/5 * * * ?")
    cron_row("0 15 10 ? * MON-FRI")
    cron_row("0 0 0 29 2 ?")
}

# Nanoseconds per item over the sizes, both logarithmic.
function x_of(i) { return left + i * (right - left) / (sizes - 1) }
function y_of(ns) { return bottom - (log10(ns) - low) * (bottom - top) / (high - low) }

function print_picture(    i, e, s, n, y, part, size, known, label, ns, series, title, colour, value, points) {
    left = 70; right = 640; top = 40; bottom = 360; low = -3; high = 2
    for (i = 1; i <= subject_lines["allocation"]; ++i) {
        n = name["allocation", i]
        if (!items_of(n)) continue
        split(n, part, "/")
        sub("instances:", "", part[2])
        sub("items:", "", part[3])
        size = part[2] " x " part[3]
        if (!(size in known)) { known[size] = sizes++; label[known[size]] = size }
        ns[part[1], known[size]] = cpu["allocation", n] / part[3]
    }
    if (sizes < 2) { print "no results to draw" > "/dev/stderr"; exit 1 }
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 450\" font-family=\"sans-serif\" font-size=\"13\">"
    print "<rect width=\"900\" height=\"450\" fill=\"#ffffff\"/>"
    printf "<text x=\"%d\" y=\"22\" font-size=\"15\">Nanoseconds per sharding item (less is better)</text>\n", left
    for (e = low; e <= high; ++e) {
        y = y_of(10 ^ e)
        printf "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", left, y, right, y
        printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left - 8, y + 4, 10 ^ e
    }
    for (i = 0; i < sizes; ++i)
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\" transform=\"rotate(-25 %.1f %d)\">%s</text>\n", x_of(i) + 10, bottom + 20, x_of(i) + 10, bottom + 20, label[i]
    printf "<text x=\"%d\" y=\"440\">instances x items</text>\n", right + 20
    n = split("lists_in_vectors limit_fill all_owners<RotateServerByName> weighted_owners sticky_runs", series, " ")
    split("one list for each instance|std::fill of as many bytes|rotating, all owners|weighted, all owners|sticky, a change of hands", title, "|")
    split("#b03030 #808080 #2060b0 #b07820 #208040", colour, " ")
    for (s = 1; s <= n; ++s) {
        points = ""
        for (i = 0; i < sizes; ++i)
            if ((series[s], i) in ns) {
                value = ns[series[s], i] < 10 ^ low ? 10 ^ low : ns[series[s], i]
                points = points sprintf("%.1f,%.1f ", x_of(i), y_of(value))
            }
        if (points == "") { print "no results of " series[s] > "/dev/stderr"; exit 1 }
        printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\"/>\n", points, colour[s]
        y = 70 + 24 * s
        printf "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2.5\"/>\n", right + 20, y - 4, right + 44, y - 4, colour[s]
        printf "<text x=\"%d\" y=\"%d\">%s</text>\n", right + 50, y, title[s]
    }
    print "</svg>"
}
