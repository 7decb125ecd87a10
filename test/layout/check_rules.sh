#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_rules.sh ROOT: each rule that a comment or the name of a test cites (`TR-1`, `D-36`, `I4`) is defined in
# docs/protocol.md, once, in an item that begins with `- **TR-1**`. A family without a number (`TR`) cites no rule.
set -eu
cd "$1"
# No source file has a space in its name, so the shell may split the list at spaces.
# shellcheck disable=SC2046
awk '
    function complain(text) { print FILENAME ":" FNR ": " text; faults = 1 }
    function check(id) {
        if (id ~ /[0-9]/) { ++cited; if (!(id in defined)) complain("docs/protocol.md does not define " id) }
        else complain(id " is a family of rules: say which one")
    }
    FILENAME == "docs/protocol.md" {
        if (match($0, /^- \*\*[A-Z]+-?[0-9]+\*\*/)) {
            id = substr($0, 5, RLENGTH - 6)
            if (id in defined) complain(id " is defined twice")
            defined[id] = 1
            if (sub(/-.*/, "", id) && length(id) == 2) family[id] = 1
        }
        next
    }
    {
        text = ""
        if ($0 ~ /TEST_CASE|SUBCASE|string_view name = |note_violation/ || $0 ~ /^ +"[^"]*"\) \{/) text = $0
        else if (match($0, /\/\/.*/)) text = substr($0, RSTART)
        while (match(text, /[A-Za-z0-9_-]+/)) {
            word = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            if (word ~ /^([A-Z][A-Z]|[DF])-[0-9]+$/ || word ~ /^I[0-9]$/ || word in family) check(word)
        }
    }
    END {
        print cited + 0 " citations"
        exit faults || !cited
    }' docs/protocol.md $(find include test examples benchmarks \( -name '*.[hi]pp' -o -name '*.cpp' \) \
        ! -path 'test/layout/planted/*' 2>/dev/null | sort)
