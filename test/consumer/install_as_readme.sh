#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_as_readme.sh README ARCHIVE DIRECTORY PREFIX: runs the README's installation commands in the archive's
# sources, below DIRECTORY instead of /usr/local. They must install the same files as PREFIX has.
set -eu
readme=$1 archive=$2 directory=$3 prefix=$4
rm -rf "$directory"
mkdir -p "$directory/source"
awk '/^To install elasticjob from its sources:$/ { below = 1 } below && /^```/ { if (inside) exit; inside = 1; next } inside' "$readme" |
    sed "s|/usr/local|$directory/prefix|" >"$directory/commands"
if ! grep -q -- "--prefix $directory/prefix" "$directory/commands"; then
    echo "$readme: below 'To install elasticjob from its sources:' there are no commands that install to /usr/local" >&2
    exit 1
fi
cd "$directory/source"
tar xzf "$archive"
sh -eu "$directory/commands"
diff -r "$prefix" "$directory/prefix"
