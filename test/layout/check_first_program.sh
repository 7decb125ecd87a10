#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_first_program.sh ROOT: the first program of the README is examples/run_one_job.cpp, which is run as a test.
set -eu
awk '/^```cpp/ { inside = 1; next } /^```/ && inside { exit } inside' "$1/README.md" | diff - "$1/examples/run_one_job.cpp"
