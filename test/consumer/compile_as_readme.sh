#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile_as_readme.sh README SOURCE INCLUDE DIRECTORY VERSION ZOOKEEPER COMPILER...: compiles the source with the command that
# README.md gives for the compiler alone, with its arguments for ZooKeeper if ZOOKEEPER is ON, and runs it.
set -eu
readme=$1 source=$2 include=$3 directory=$4 version=$5 zookeeper=$6
shift 6
# The backticks belong to the README.
# shellcheck disable=SC2016
words=$(sed -n 's/^| the compiler alone | `g++ \([^`]*\)`; with ZooKeeper also `\([^`]*\)` and `\([^`]*\)` |$/\1|\2|\3/p' "$readme")
: "${words:?README.md has no command for the compiler alone}"
rm -rf "$directory"
mkdir -p "$directory"
ln -s "$include" "$directory/include"
cp "$source" "$directory/program.cpp"
cd "$directory"
command=${words%%|*} words=${words#*|}
[ "$zookeeper" != ON ] || command="$command ${words%%|*} ${words#*|} -DCONSUMER_USES_ZOOKEEPER"
# The shell must split the command into words.
# shellcheck disable=SC2086
"$@" $command
./a.out "$version"
