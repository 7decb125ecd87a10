#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_vtables.sh NM PROBE "NAME..." "ARCHIVE..." COMPILER [FLAG...]: neither the object file of a probe in the compiled
# form nor an archive of the compiled library has a vtable of ours or a std::function; those of other libraries (Boost,
# SOCI) are allowed. The probe must contain each NAME of ours, or the check would prove nothing. The flag -DPLANTED adds
# a vtable, and the check must fail.
set -eu
nm=$1
probe=$2
names=$3
archives=$4
shift 4
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

"$@" -DELASTICJOB_COMPILED -O0 -c "$(dirname "$0")/$probe" -o "$directory/probe.o"
"$nm" -C "$directory/probe.o" >"$directory/symbols"
for name in $names; do
    grep -q "elasticjob::$name\\b" "$directory/symbols" || {
        echo "the probe has no $name in it, so it proves nothing about that"
        exit 2
    }
done
for archive in $archives; do
    "$nm" -C "$archive" >"$directory/archived"
    grep -q ' T elasticjob::' "$directory/archived" || {
        echo "$archive defines nothing of ours, so it proves nothing"
        exit 2
    }
    cat "$directory/archived" >>"$directory/symbols"
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
