#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_links.sh ROOT: what the documents point to in this tree is there: links, their headings, and headers of the library,
# which are written `folder/name.hpp`.
set -eu
cd "$1"
# No document has a blank in its name, so the list may be split at blanks.
# shellcheck disable=SC2046
awk '
    # As the web shows a heading: in small letters, without punctuation, with hyphens for blanks.
    function anchor_of(heading) {
        heading = tolower(heading)
        gsub(/[^a-z0-9_ -]/, "", heading)
        gsub(/ /, "-", heading)
        return heading
    }
    function folder_of(path) { return sub(/[^\/]*$/, "", path) ? path : "" }
    function flat(path) {
        while (sub(/[^\/.][^\/]*\/\.\.\//, "", path)) {}
        gsub(/(^|\/)\.\//, "", path)
        return path
    }
    FNR == 1 { in_code = 0; document[FILENAME] = 1 }
    /^[ \t]*```/ { in_code = !in_code }
    in_code { next }
    /^#+ / { heading = $0; sub(/^#+ /, "", heading); anchor[FILENAME, anchor_of(heading)] = 1 }
    {
        line = $0
        while (match(line, /`[^`]*`/)) {
            span = substr(line, RSTART + 1, RLENGTH - 2)
            line = substr(line, 1, RSTART - 1) "code" substr(line, RSTART + RLENGTH)
            if (span !~ /^[a-z]+\/[a-z_\/]+\.hpp$/) continue
            ++count
            where[count] = FILENAME ":" FNR
            to[count] = span ~ /^(elasticjob|test|include)\// ? span : "elasticjob/" span
            if (to[count] ~ /^elasticjob\//) to[count] = "include/" to[count]
        }
        while (match(line, /\]\([^) ]*\)/)) {
            link = substr(line, RSTART + 2, RLENGTH - 3)
            line = substr(line, RSTART + RLENGTH)
            if (link ~ /^[a-z]+:/) continue
            ++count
            where[count] = FILENAME ":" FNR
            at = index(link, "#")
            path = at ? substr(link, 1, at - 1) : link
            to_anchor[count] = at ? substr(link, at + 1) : ""
            to[count] = path == "" ? FILENAME : flat(folder_of(FILENAME) path)
        }
    }
    END {
        for (i = 1; i <= count; ++i) {
            if (system("test -e \"" to[i] "\"") != 0) { print where[i] ": there is no " to[i]; faults = 1 }
            else if (to_anchor[i] != "" && (to[i] in document) && !((to[i], to_anchor[i]) in anchor)) {
                print where[i] ": " to[i] " has no heading " to_anchor[i]
                faults = 1
            }
        }
        print count " links"
        exit faults || !count
    }' $(find ./*.md docs -name '*.md' 2>/dev/null | sed 's,^\./,,' | sort)
