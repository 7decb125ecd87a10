#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build_and_run.sh BINARY COMPILER [FLAG...] SOURCE...
set -eu
binary=$1
shift
"$@" -o "$binary"
"$binary"
