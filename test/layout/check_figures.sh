#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_figures.sh ROOT            RESULTS.md, the picture and the tables in the README show the data of
# benchmarks/results.tsv check_figures.sh ROOT planted    the check must find a difference in each of them
set -eu
[ "${2-}" = planted ] || exec "$1/benchmarks/report" --check

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/benchmarks"
rc=0
for file in README.md README.zh-CN.md benchmarks/RESULTS.md benchmarks/allocation.svg; do
    cp "$1"/benchmarks/report* "$1/benchmarks/results.tsv" "$1/benchmarks/RESULTS.md" "$1/benchmarks/allocation.svg" \
        "$copy/benchmarks"
    cp "$1/README.md" "$1/README.zh-CN.md" "$copy"
    # The unit of a time, and a point of the picture.
    sed -e 's/\([0-9]\) [nu]s |/\1 s |/' -e 's/points="70/points="71/' "$1/$file" >"$copy/$file"
    if "$copy/benchmarks/report" --check >"$copy/output" || ! grep -q "^$file: its figures are not" "$copy/output"; then
        echo "nobody has seen that $file shows something else"
        rc=1
    fi
done
exit $rc
