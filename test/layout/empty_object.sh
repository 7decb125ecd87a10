#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# empty_object.sh OBJECT COMPILER [FLAG...]: a launcher for a compiler whose output nobody reads. An empty file remains,
# because without any the next build would compile it again.
set -eu
object=$1
shift
"$@"
: >"$object"
