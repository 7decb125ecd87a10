#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# join_files.sh OUT FILE...: writes OUT, one source file that contains all these files. Their includes come first,
# outside of any namespace. Then each test has its own namespace; its includes have guards, so they are empty there.
# What the tests share is declared in headers, so it has none.
set -eu
folder=$(cd "$(dirname "$0")" && pwd) # the compiler gets it with -I, so OUT is the same in each clone of the project
out=$1
shift
{
    for file; do
        # All directives before the first line of code, except an #if around that code.
        awk '/^#if/ { ++depth } /^#endif/ { --depth }
             /^#/ { held = held $0 "\n"; if (!depth) { printf "%s", held; held = "" } next }
             !/^(\/\/.*)?$/ { exit }' "$file"
    done
    for file; do
        case $file in
            *_test.cpp)
                name=$(basename "$(dirname "$file")")_$(basename "$file" .cpp)
                printf 'namespace file_%s {\n#include <%s>\n}\n' "$name" "${file#"$folder"/}"
                ;;
            *) printf '#include <%s>\n' "${file#"$folder"/}" ;;
        esac
    done
} >"$out.new"
# An unchanged OUT keeps its time stamp, so nothing is compiled again.
if cmp -s "$out.new" "$out"; then rm "$out.new"; else mv "$out.new" "$out"; fi
