#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_object.sh NM FUNCTIONS COROUTINES FORBIDDEN COMPILER [FLAG...]: limits how much of the library a user's file
# compiles itself when it links the compiled form. The object file has no function that matches FORBIDDEN, an extended
# regular expression, and at most FUNCTIONS functions and COROUTINES coroutines. The limits are today's numbers; explain
# a rise by more than a twentieth in the commit. The numbers do not vary between runs, but depend on the compiler (g++
# 12, -O0; users do not have the flag of our own builds that saves functions).
set -eu
nm=$1 functions_max=$2 coroutines_max=$3 forbidden=$4
shift 4
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

"$@" -O0 -fno-fold-simple-inlines -DELASTICJOB_COMPILED -c "$(dirname "$0")/user_program.cpp" -o "$directory/program.o"
"$nm" -C --defined-only "$directory/program.o" | grep -E '^[0-9a-f]+ [TtWw] ' >"$directory/functions"
functions=$(grep -c . "$directory/functions")
coroutines=$(grep -cF '[clone .actor]' "$directory/functions" || :) # g++'s name for the body of each coroutine
echo "$functions functions (at most $functions_max), $coroutines coroutines (at most $coroutines_max)"
if grep -E "$forbidden" "$directory/functions"; then
    echo "these belong to the compiled library: what makes the file compile them?"
    exit 1
fi
[ "$functions" -le "$functions_max" ] && [ "$coroutines" -le "$coroutines_max" ]
