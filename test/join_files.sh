#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# join_files.sh OUT FILE...: writes OUT, which compiles as all these tests do together. What they include is read once,
# outside; then each is in a namespace of its own, where its includes, which all have guards, are empty.
set -eu
out=$1
shift
{
    for file; do
        # All directives before the first line of code, but no #if that the code is in.
        awk '/^#if/ { ++depth } /^#endif/ { --depth }
             /^#/ { held = held $0 "\n"; if (!depth) { printf "%s", held; held = "" } next }
             !/^(\/\/.*)?$/ { exit }' "$file"
    done
    for file; do
        printf 'namespace file_%s {\n#include "%s"\n}\n' "$(basename "$file" .cpp)" "$file"
    done
} >"$out.new"
# As it was: then nothing is compiled again on account of it.
if cmp -s "$out.new" "$out"; then rm "$out.new"; else mv "$out.new" "$out"; fi
