#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_sources.sh INCLUDE_DIR            the sources src*.hpp include each file of impl/ exactly once
# check_sources.sh INCLUDE_DIR planted    the same for a copy: one file included nowhere, one twice, one in both sources
set -eu
LC_ALL=C
export LC_ALL
include=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

cp -R "$include/elasticjob" "$directory"
cd "$directory"
if [ "${2-}" = planted ]; then
    : >elasticjob/impl/core/planted.ipp
    # No file has a space in its name, so the shell may split the list at spaces.
    # shellcheck disable=SC2046
    set -- $(grep '/impl/core/' elasticjob/src.hpp | sed 's/.*<\(.*\)>/\1/')
    echo "#include <$1>" >>elasticjob/src.hpp
    echo "#include <$2>" >>elasticjob/src_zookeeper.hpp
    echo '#include <elasticjob/impl/core/gone.ipp>' >>elasticjob/src.hpp
fi

find elasticjob/impl -type f | sort >files
sed -n 's,^#include <\(elasticjob/impl/.*\)>.*,\1,p' elasticjob/src*.hpp | sort >included
rc=0
told() { # TEXT: is there something to be told of each line?
    while read -r file; do echo "$file: $1"; done >faults
    cat faults
    [ ! -s faults ] || rc=1
}
comm -23 files included >list && told 'neither src.hpp nor another source includes it' <list
sort -u included | comm -13 files - >list && told 'it is included, and is not there' <list
uniq -d included >list && told 'src*.hpp include it more than once' <list
echo "$(wc -l <files) files in impl/"
[ -s files ] || rc=1
exit $rc
