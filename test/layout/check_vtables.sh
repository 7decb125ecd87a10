#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_vtables.sh NM COMPILER [FLAG...]: the object file of a scheduler holds no vtable of ours and no std::function.
# With -DPLANTED among the flags there is one, and the check must fail.
set -eu
nm=$1
shift
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

"$@" -O0 -c "$(dirname "$0")/vtable_probe.cpp" -o "$directory/probe.o"
"$nm" -C "$directory/probe.o" >"$directory/symbols"
grep -q 'elasticjob::job_scheduler<' "$directory/symbols" || {
    echo "the probe has no scheduler in it, so it proves nothing"
    exit 2
}
if grep -E 'vtable for elasticjob|std::(function|any|move_only_function)\b' "$directory/symbols"; then
    echo "dispatch or type erasure at run time, in the symbols above"
    exit 1
fi
