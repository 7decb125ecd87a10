#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_reference.sh ROOT            docs/reference has the pages that docs/reference/generate makes from the headers
# check_reference.sh ROOT planted    the check must find a contract or concept that has changed or is missing
set -eu
root=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

compare() { # INCLUDE_DIR
    sh "$root/docs/reference/generate" "$directory/pages" "$1" &&
        diff -r -x 'generate*' "$root/docs/reference" "$directory/pages"
}

if [ "${2-}" != planted ]; then
    compare "$root/include" && exit
    echo "docs/reference is not what the headers say: run docs/reference/generate, and commit what it has changed"
    exit 1
fi

rc=0
attempt() { # WHAT HEADER SED_EXPRESSION
    rm -rf "$directory/include"
    cp -r "$root/include" "$directory/include"
    sed "$3" "$root/include/elasticjob/$2" >"$directory/include/elasticjob/$2"
    if cmp -s "$root/include/elasticjob/$2" "$directory/include/elasticjob/$2"; then
        echo "$2 is not what it was when this script was written: '$3' changes nothing"
        rc=1
    fi
    if compare "$directory/include" >"$directory/output" 2>&1; then
        echo "nobody has seen that $1"
        rc=1
    fi
}
attempt 'a contract has changed' core/loop.hpp 's/monotonic time/some time/'
attempt 'a declaration has changed' core/loop.hpp 's/{ l.on_loop() }/{ l.is_on_loop() }/'
attempt 'a named group has changed' registry/registry.hpp 's/{ r.get(path) }/{ r.read(path) }/'
attempt 'a concept has gone' core/clock.hpp 's/concept job_clock =/constexpr bool job_clock =/'
attempt 'a contract has gone' core/loop.hpp 's,^///,//,'
exit $rc
