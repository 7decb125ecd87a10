#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_links.sh ROOT: every target that the documents name in this tree exists: files, headings, the labels of links in
# the form [text][label], and headers of the library in the form `folder/name.hpp`.
set -eu
LC_ALL=C # characters of other scripts count as several bytes
export LC_ALL
cd "$1"
# No document has a space in its name, so the shell may split the list at spaces.
# shellcheck disable=SC2046
awk '
    # The anchor of a heading on the web: lower case, no punctuation of any script, hyphens for spaces.
    function anchor_of(heading,    i) {
        heading = tolower(heading)
        gsub(/[][!"#$%&()*+,.\/:;<=>?@\\^`{|}~]/, "", heading)
        gsub(apostrophe, "", heading)
        for (i = 1; i <= marks; ++i) gsub(mark[i], "", heading)
        gsub(/ /, "-", heading)
        return heading
    }
    function note_link(link,    at, path) {
        if (link ~ /^[a-z]+:/) return
        ++count
        where[count] = FILENAME ":" FNR
        at = index(link, "#")
        path = at ? substr(link, 1, at - 1) : link
        to_anchor[count] = at ? substr(link, at + 1) : ""
        to[count] = path == "" ? FILENAME : flat(folder_of(FILENAME) path)
    }
    function folder_of(path) { return sub(/[^\/]*$/, "", path) ? path : "" }
    function flat(path) {
        while (sub(/[^\/.][^\/]*\/\.\.\//, "", path)) {}
        gsub(/(^|\/)\.\//, "", path)
        return path
    }
    BEGIN { marks = split("，|。|、|：|；|？|！|（|）|《|》|【|】|“|”|‘|’|—|…|·", mark, "|"); apostrophe = "\047" }
    FNR == 1 { in_code = 0; document[FILENAME] = 1 }
    /^[ \t]*```/ { in_code = !in_code }
    in_code { next }
    /^#+ / { heading = $0; sub(/^#+ /, "", heading); anchor[FILENAME, anchor_of(heading)] = 1 }
    match($0, /^ ? ? ?\[[^]]+\]: +[^ ]+/) {
        label = tolower($0)
        sub(/^ *\[/, "", label)
        sub(/\]:.*/, "", label)
        if ((FILENAME, label) in defined) { print FILENAME ":" FNR ": the label " label " is defined twice"; faults = 1 }
        defined[FILENAME, label] = 1
        link = $0
        sub(/^ *\[[^]]+\]: +/, "", link)
        sub(/ .*/, "", link)
        note_link(link)
        next
    }
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
        rest = line
        while (match(rest, /\]\[[^]]+\]/)) {
            ++uses
            used_label[uses] = tolower(substr(rest, RSTART + 2, RLENGTH - 3))
            used_in[uses] = FILENAME
            used_at[uses] = FILENAME ":" FNR
            rest = substr(rest, RSTART + RLENGTH)
        }
        while (match(line, /\]\([^) ]*\)/)) {
            link = substr(line, RSTART + 2, RLENGTH - 3)
            line = substr(line, RSTART + RLENGTH)
            note_link(link)
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
        for (i = 1; i <= uses; ++i) {
            if ((used_in[i], used_label[i]) in defined) continue
            print used_at[i] ": the label " used_label[i] " is not defined"
            faults = 1
        }
        print count " links, " uses " by labels"
        exit faults || !count
    }' $(find ./*.md docs -name '*.md' 2>/dev/null | sed 's,^\./,,' | sort)
