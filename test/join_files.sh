#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# join_files.sh OUT FILE...: writes OUT, one source file that contains all these files. Their includes come first,
# outside of any namespace. Then each test has its own namespace; its includes have guards, so they are empty there.
# What the tests share is declared in headers, so it has none.
set -eu
folder=$(cd "$(dirname "$0")" && pwd) # the compiler gets it with -I, so OUT is the same in each clone of the project
out=$1
shift
awk -v folder="$folder/" '
    # All directives before the first line of code, except an #if around that code.
    FNR == 1 { depth = 0; held = "" }
    /^#if/ { ++depth }
    /^#endif/ { --depth }
    /^#/ { held = held $0 "\n"; if (!depth) { printf "%s", held; held = "" } next }
    !/^(\/\/.*)?$/ { nextfile }
    END {
        for (i = 1; i < ARGC; ++i) {
            path = ARGV[i]
            if (index(path, folder) == 1) path = substr(path, length(folder) + 1)
            if (path !~ /_test\.cpp$|^compile_fail\//) { printf "#include <%s>\n", path; continue }
            name = path
            sub(/\.cpp$/, "", name)
            gsub(/\//, "_", name)
            printf "namespace file_%s {\n#include <%s>\n}\n", name, path
        }
    }' "$@" >"$out.new"
# An unchanged OUT keeps its time stamp, so nothing is compiled again.
if cmp -s "$out.new" "$out"; then rm "$out.new"; else mv "$out.new" "$out"; fi
