#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# touch_object.sh OBJECT COMPILER [FLAG...]: a launcher for a compiler that generates no code. Without the object file,
# the next build would compile it again.
set -eu
object=$1
shift
"$@"
touch "$object"
