#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build_and_run.sh SOURCE PREFIX VERSION MODULE BINARY COMPILER [FLAG...]: builds the source with the flags that
# pkg-config gives, and runs it. With -fsyntax-only, it only checks the source.
set -eu
source=$1 prefix=$2 version=$3 module=$4 binary=$5
shift 5
PKG_CONFIG_PATH=$(find "$prefix" -name pkgconfig | paste -s -d : -)
export PKG_CONFIG_PATH
pkg-config --exists --print-errors "$module = $version"
# The shell must split the flags into words.
# shellcheck disable=SC2046
"$@" -std=c++20 $(pkg-config --cflags "$module") -c "$source" -o "$binary.o"
case " $* " in *' -fsyntax-only '*) exit ;; esac
# shellcheck disable=SC2046
"$@" "$binary.o" -o "$binary" $(pkg-config --libs "$module")
"$binary" "$version"
