#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_vtables.sh NM PROBE "NAME..." COMPILER [FLAG...]: the object file of a probe has no vtable of ours and no
# std::function; those of other libraries (Boost, SOCI) are allowed. It must contain each NAME of ours, or the check
# would prove nothing. The flag -DPLANTED adds a vtable, and the check must fail.
set -eu
nm=$1
probe=$2
names=$3
shift 3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

"$@" -O0 -c "$(dirname "$0")/$probe" -o "$directory/probe.o"
"$nm" -C "$directory/probe.o" >"$directory/symbols"
for name in $names; do
    grep -q "elasticjob::$name\\b" "$directory/symbols" || {
        echo "the probe has no $name in it, so it proves nothing about that"
        exit 2
    }
done
# Where other libraries use std::function, only one that holds a type of ours and is not made for them counts as ours.
case $probe in
*_adapters.cpp) foreign='boost::|soci::' erasure='elasticjob::.*std::(function|any|move_only_function)\b' ;;
*) foreign='^$' erasure='std::(function|any|move_only_function)\b' ;;
esac
if grep -E "vtable for elasticjob" "$directory/symbols" ||
    grep -E "$erasure" "$directory/symbols" | grep -vE "$foreign"; then
    echo "dispatch or type erasure at run time, in the symbols above"
    exit 1
fi
