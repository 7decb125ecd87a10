#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build_by_hand.sh SOURCE PREFIX VERSION DIRECTORY LIBRARY COMPILER [FLAG...]: builds the source in the compiled form,
# with the compiler alone, as README.md describes, and runs it. LIBRARY is ZooKeeper's library, or empty.
set -eu
source=$1 prefix=$2 version=$3 directory=$4 library=$5
shift 5
set -- "$@" -std=c++20 -pthread -I"$prefix/include" -DELASTICJOB_COMPILED
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"
echo '#include <elasticjob/src.hpp>' >src.cpp
[ -z "$library" ] || echo '#include <elasticjob/src_zookeeper.hpp>' >src_zookeeper.cpp
for file in ./*.cpp; do "$@" -o "$file.o" -c "$file"; done
"$@" -DCONSUMER_COMPILED -c "$source" -o program.o
# Without a library the command has no argument for it.
"$@" ./*.o -o program ${library:+"$library"}
./program "$version"
