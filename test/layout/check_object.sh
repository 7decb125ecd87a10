#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_object.sh NM FUNCTIONS COROUTINES FORBIDDEN COMPILER [FLAG...]: how much of the library a user's file compiles itself when
# it links the compiled form. Its object file holds no function that matches FORBIDDEN, an extended regular expression, and at most
# so many functions and coroutines. The two numbers are what it holds today: who changes them upwards by more than a
# twentieth says why in the commit. They do not jitter, as times do; but they depend on the compiler (g++ 12, -O0).
set -eu
nm=$1 functions_max=$2 coroutines_max=$3 forbidden=$4
shift 4
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

"$@" -O0 -DELASTICJOB_COMPILED -c "$(dirname "$0")/user_program.cpp" -o "$directory/program.o"
"$nm" -C --defined-only "$directory/program.o" | grep -E '^[0-9a-f]+ [TtWw] ' >"$directory/functions"
functions=$(grep -c . "$directory/functions")
coroutines=$(grep -cF '[clone .actor]' "$directory/functions" || :) # what g++ calls the body of each
echo "$functions functions (at most $functions_max), $coroutines coroutines (at most $coroutines_max)"
if grep -E "$forbidden" "$directory/functions"; then
    echo "these belong to the compiled library: what makes the file compile them?"
    exit 1
fi
[ "$functions" -le "$functions_max" ] && [ "$coroutines" -le "$coroutines_max" ]
