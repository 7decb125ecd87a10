# SPDX-License-Identifier: Apache-2.0
# Reads headers (paths relative to include/, as arguments). A concept outside of namespace detail becomes a page in
# `directory`: the comment before it, its declaration, the named groups that it is made of, and where its models are.

FNR == 1 { depth = detail_from = 0; comment = pending = ""; in_concept = 0 }

/^\/\/\/ \\file \\brief / { brief[FILENAME] = substr($0, 18); in_brief = 1; next }
in_brief && /^\/\/\/ / { brief[FILENAME] = brief[FILENAME] " " substr($0, 5); next }
{ in_brief = 0 }

{
    # The depth of braces, to know what belongs to namespace detail. Strings and comments do not count.
    code = $0
    gsub(/"([^"\\]|\\.)*"/, "", code)
    gsub(/'([^'\\]|\\.)'/, "", code)
    sub(/\/\/.*/, "", code)
    if (code ~ /^namespace ([a-z_]+::)*detail *[{]/ && !detail_from) detail_from = depth + 1
    depth += gsub(/[{]/, "{", code) - gsub(/[}]/, "}", code)
    if (detail_from && depth < detail_from) detail_from = 0
}

# Where the types are; a class that is only declared is somewhere else.
!detail_from && (/^(class|struct) [A-Za-z_]+.*[^;]$/ || /^using [A-Za-z_]+ = /) {
    name = $2
    sub(/[^A-Za-z0-9_].*/, "", name)
    declared[name] = FILENAME
}

/^[ \t]*\/\/\// {
    if (pending != "") comment = pending = ""
    line = $0
    sub(/^[ \t]*\/\/\/ ?/, "", line)
    comment = comment line "\n"
    next
}
/^[ \t]*concept [a-z_]+ =/ {
    concept = $2
    in_concept = 1
    is_detail = detail_from > 0
}
in_concept {
    pending = pending $0 "\n"
    braces += gsub(/[{]/, "{") - gsub(/[}]/, "}")
    if (braces == 0 && /;$/) {
        if (is_detail) {
            group[FILENAME, concept] = pending
        } else {
            list[++count] = concept
            header[concept] = FILENAME
            contract[concept] = comment
            declaration[concept] = pending
        }
        in_concept = 0
        comment = pending = ""
    }
    next
}
/^template </ || (pending != "" && !/^[ \t]*$/) {
    pending = pending $0 "\n"
    if (/[;{}]$/) comment = pending = ""
    next
}
{ comment = pending = "" }

# In the pages paths are links.
function linked(text,   result, path, to) {
    while (match(text, /(test|docs)\/[A-Za-z0-9_\/-]+\.(hpp|md)/)) {
        path = to = substr(text, RSTART, RLENGTH)
        if (!sub(/^docs\//, "../", to)) to = "../../" to
        result = result substr(text, 1, RSTART - 1) "[" path "](" to ")"
        text = substr(text, RSTART + RLENGTH)
    }
    return result text
}

# The comment as Markdown: a table ends where the bars end; laws, models and threads stand in paragraphs of their own.
function as_markdown(text,   lines, n, i, line, result, was_table, in_code) {
    n = split(text, lines, "\n")
    for (i = 1; i < n; ++i) {
        line = lines[i]
        if (line == "\\code" || line == "\\endcode") {
            in_code = line == "\\code"
            line = in_code ? "\n```cpp" : "```"
        } else if (!in_code) {
            if (was_table && line !~ /^\|/ && line != "") line = "\n" line
            was_table = line ~ /^\|/
            if (!was_table) {
                while (match(line, /(^|\n|[.;] )(Laws|Models|Threads|Errors of every operation)(:| \()/)) {
                    word = substr(line, RSTART, RLENGTH)
                    after = substr(line, RSTART + RLENGTH)
                    line = substr(line, 1, RSTART - 1)
                    lead = word ~ /^[.;]/ ? substr(word, 1, 1) : ""
                    end = substr(word, length(word))
                    sub(/^[.;\n ]+/, "", word)
                    sub(/(:| \()$/, "", word)
                    line = line lead "\n\n**" word (end == ":" ? ":**" : "** (") after
                }
                line = linked(line)
            }
        }
        result = result line "\n"
    }
    gsub(/\n\n\n+/, "\n\n", result)
    sub(/^\n+/, "", result)
    return result
}

# What the contract lists behind "Models:", with the headers that declare it.
function models_of(text,   words, n, i, word, rows) {
    gsub(/\n/, " ", text)
    if (!match(text, /Models: /)) return ""
    text = substr(text, RSTART + RLENGTH)
    gsub(/\([^)]*\)/, "", text)
    if (match(text, /\.( |$)/)) text = substr(text, 1, RSTART)
    n = split(text, words, /[ ,.;]+/)
    for (i = 1; i <= n; ++i)
        if (words[i] in declared && !index(rows, "| `" words[i] "` |"))
            rows = rows "| `" words[i] "` | `<" declared[words[i]] ">` |\n"
    return rows
}

# The first sentence of the contract, or what the header is about.
function summary_of(concept,   text) {
    text = contract[concept]
    if (text ~ /^\|/) return brief[header[concept]]
    gsub(/\n/, " ", text)
    return match(text, /[.:]( |$)/) ? substr(text, 1, RSTART - 1) "." : text
}

function write_page(concept,   file, page, rows, groups, text, name) {
    file = directory "/" concept ".md"
    page = "<!-- Written by docs/reference/generate. What is to be changed stands in include/" header[concept] ". -->\n"
    page = page "# " concept "\n\n" linked(brief[header[concept]]) "\n\n"
    page = page "```cpp\n#include <" header[concept] ">\n```\n\n"
    page = page "## Contract\n\n" as_markdown(contract[concept]) "\n"
    page = page "## Declaration\n\n```cpp\n" declaration[concept] "```\n"
    text = declaration[concept]
    while (match(text, /detail::[a-z_]+</)) {
        name = substr(text, RSTART + 8, RLENGTH - 9)
        if ((header[concept], name) in group && !index(groups, "concept " name " "))
            groups = groups "```cpp\n" group[header[concept], name] "```\n\n"
        text = substr(text, RSTART + RLENGTH)
    }
    if (groups) page = page "\nIt is made of these, in `elasticjob::detail`, which a compiler names when one of them is missing:\n\n" groups
    rows = models_of(contract[concept])
    if (rows) page = page "\n## Models\n\n| model | header |\n|---|---|\n" rows
    gsub(/\n\n\n+/, "\n\n", page)
    sub(/\n+$/, "\n", page)
    printf "%s", page > file
    close(file)
}

END {
    index_file = directory "/README.md"
    print "<!-- Written by docs/reference/generate. -->" > index_file
    print "# Concepts\n" > index_file
    print "Each is a role, with its contract: what is called, what must hold, which models there are, on which threads. They are" > index_file
    print "written from the comments in the headers. Types of yours that model one can be used where the library's own are.\n" > index_file
    print "| concept | header | what it is |\n|---|---|---|" > index_file
    folders = split("core cron config allocation registry events execution scheduler testing", folder, " ")
    for (f = 1; f <= folders; ++f)
        for (i = 1; i <= count; ++i) {
            concept = list[i]
            if (index(header[concept], "elasticjob/" folder[f] "/") != 1) continue
            if (contract[concept] == "") {
                print header[concept] ": " concept " has no contract" > "/dev/stderr"
                faults = 1
            }
            ++written
            write_page(concept)
            print "| [`" concept "`](" concept ".md) | `" substr(header[concept], 12) "` | " summary_of(concept) " |" > index_file
        }
    if (!written || written != count) {
        print count " concepts, but " written " in folders that are known here" > "/dev/stderr"
        faults = 1
    }
    exit faults
}
