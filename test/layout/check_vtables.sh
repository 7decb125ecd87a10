#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_vtables.sh NM PROBE "NAME..." COMPILER [FLAG...]: the object file of a probe holds no vtable of ours and no std::function;
# but those of others (Boost, SOCI) are their affair. Each NAME of ours is in it, or it would prove nothing.
# With -DPLANTED among the flags there is a vtable, and the check must fail.
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
# Where others deal in std::function, only one with something of ours in it, that is not made for them, is ours.
case $probe in
*_adapters.cpp) foreign='boost::|soci::' erasure='elasticjob::.*std::(function|any|move_only_function)\b' ;;
*) foreign='^$' erasure='std::(function|any|move_only_function)\b' ;;
esac
if grep -E "vtable for elasticjob" "$directory/symbols" ||
    grep -E "$erasure" "$directory/symbols" | grep -vE "$foreign"; then
    echo "dispatch or type erasure at run time, in the symbols above"
    exit 1
fi
