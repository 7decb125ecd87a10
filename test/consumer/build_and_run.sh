#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build_and_run.sh PREFIX MODULE BINARY COMPILER [FLAG...]: builds the consumer with the flags of pkg-config, and runs it.
set -eu
prefix=$1 module=$2 binary=$3
shift 3
export PKG_CONFIG_PATH="$prefix/share/pkgconfig"
# The flags are words to be split.
# shellcheck disable=SC2046
"$@" -std=c++20 $(pkg-config --cflags "$module") "$(dirname "$0")/../main.cpp" -o "$binary" $(pkg-config --libs "$module")
"$binary"
