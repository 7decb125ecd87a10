#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_vtables.sh NM PROBE "NAME..." "ARCHIVE..." COMPILER [FLAG...]: neither the object file of a probe in the compiled
# form nor an archive of the compiled library has a vtable of ours or a std::function; those of other libraries (Boost,
# SOCI) are allowed. The probe must contain each NAME of ours, or the check would prove nothing. In the end it must find
# the vtable and the std::function of planted/vtables.cpp.
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
for archive in ${archives:?}; do
    "$nm" -C "$archive" >"$directory/archived"
    grep -q ' T elasticjob::' "$directory/archived" || {
        echo "$archive defines nothing of ours, so it proves nothing"
        exit 2
    }
    cat "$directory/archived" >>"$directory/symbols"
done
# An optimised std::function leaves only its parts. Where other libraries use it, only one that holds a type of ours and
# is not made for them counts as ours.
erasure='std::(function|any|move_only_function|_Function_handler|_Function_base)\b'
case $probe in
*_adapters.cpp) foreign='boost::|soci::' ours='elasticjob::' ;;
*) foreign='^$' ours='' ;;
esac
find_faults() { # writes the symbols of dispatch or type erasure at run time to the file `found`
    {
        grep -E "vtable for elasticjob" "$directory/symbols"
        grep -E "$erasure" "$directory/symbols" | grep -E "$ours" | grep -vE "$foreign"
    } >"$directory/found" || : # there are none
}
find_faults
if [ -s "$directory/found" ]; then
    cat "$directory/found"
    echo "dispatch or type erasure at run time, in the symbols above"
    exit 1
fi

"$@" -O1 -c "$(dirname "$0")/planted/vtables.cpp" -o "$directory/planted.o"
"$nm" -C "$directory/planted.o" >>"$directory/symbols"
find_faults
for planted in 'vtable for elasticjob::dispatches' 'std::_Function_handler<int (elasticjob::erases const&)'; do
    grep -qF "$planted" "$directory/found" || {
        echo "the check does not find this in a planted file: $planted"
        exit 2
    }
done
