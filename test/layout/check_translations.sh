#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_translations.sh ROOT [planted]: each PAGE.zh-CN.md has the code and commands of PAGE.md, except comments.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

code() { # FILE
    awk '/^```/ { inside = !inside; print; next } inside' "$1" |
        sed -e 's,//.*,,' -e 's/\(^\|[[:space:]]\)# .*//' -e 's/[[:space:]]*$//' -e '/^$/d'
}

rc=0 pages=0
for translation in "$1"/*.zh-CN.md "$1"/docs/*.zh-CN.md; do
    [ -e "$translation" ] || continue
    pages=$((pages + 1))
    code "${translation%.zh-CN.md}.md" >"$directory/original"
    code "$translation" >"$directory/translation"
    [ "${2-}" != planted ] || echo 'int planted;' >>"$directory/original"
    diff "$directory/original" "$directory/translation" || {
        echo "$translation: its code differs from that of the English page"
        rc=1
    }
done
echo "$pages translated pages"
[ $pages -gt 0 ] || rc=1
exit $rc
