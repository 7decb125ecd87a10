#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_standard.sh HEADER COMPILER [FLAG...]   under C++17 the header reports what is missing, and little else
set -u
LC_ALL=C
export LC_ALL
header=$1
shift
output=$(echo "#include <$header>" | "$@" -std=c++17 -fsyntax-only -x c++ - 2>&1) && {
    echo "$header: must not compile as C++17, but does"
    exit 1
}
if ! printf '%s\n' "$output" | grep -m1 'error:' | grep -q 'elasticjob needs C++20'; then
    printf '%s: the first error must be that C++20 is needed, but:\n%s\n' "$header" "$output" | head -20
    exit 1
fi
errors=$(printf '%s\n' "$output" | grep -c 'error:')
[ "$errors" -le "$MOST" ] || {
    echo "$header: $errors errors under C++17, not $MOST at most"
    exit 1
}
