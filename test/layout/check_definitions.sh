#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_definitions.sh NM ARCHIVE: the archive, which a file of headers was compiled to, defines nothing that must not be
# defined twice in a program.
# check_definitions.sh NM planted COMPILER [FLAG...]: the same for a header with faults.
set -eu
nm=$1 archive=$2
shift 2
if [ "$archive" = planted ]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
    archive=$directory/planted.o
    "$@" -x c++ -c "$(dirname "$0")/planted/definitions.hpp" -o "$archive"
fi
symbols=$("$nm" -C --defined-only --extern-only "$archive")
# Capital letters other than these are functions and variables of which a program has one definition.
if printf '%s\n' "$symbols" | grep -E '^[0-9a-f]+ [A-TX-Z] '; then
    echo "a second file that includes these headers defines the symbols above again: they must be inline"
    exit 1
fi
printf '%s\n' "$symbols" | grep -q ' W ' || {
    echo "$archive defines nothing, so it proves nothing"
    exit 2
}
