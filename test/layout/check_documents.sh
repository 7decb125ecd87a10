#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_documents.sh ROOT COMPILER [FLAG...]: every ```cpp block of README.md and docs/ that has an `int main` compiles
# in the compiled form, which takes less than half the time of the other. test/consumer compiles programs in both.
set -eu
root=$(cd "$1" && pwd)
shift
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

set -- "$@" -DELASTICJOB_COMPILED

# A block's #line makes g++ take its program for an included file and warn of local types in coroutine frames.
case $1 in *clang*) ;; *) set -- "$@" -Wno-subobject-linkage ;; esac

documents=$(find "$root/README.md" "$root/docs" -name '*.md' 2>/dev/null | sort) || :
[ -n "$documents" ] || {
    echo "no documents below $root"
    exit 1
}
# g++ finds this in place of the header if it is the first that a program includes. It saves two thirds of the time.
umbrella=elasticjob/elasticjob.hpp
if [ -e "$root/include/$umbrella" ]; then
    mkdir -p "$directory/precompiled/elasticjob"
    "$@" -x c++-header "$root/include/$umbrella" -o "$directory/precompiled/$umbrella.gch"
    compiler=$1
    shift
    set -- "$compiler" "-I$directory/precompiled" "$@"
fi

rc=0 programs=0
for document in $documents; do
    rm -f "$directory"/*.cpp
    awk -v directory="$directory" '
        /^[ \t]*```cpp/ && !inside { inside = 1; text = "#line " NR + 1 " \"" FILENAME "\"\n"; next }
        /^[ \t]*```[ \t]*$/ && inside {
            if (text ~ /(^|\n)[ \t]*int main *\(/) {
                file = directory "/" NR ".cpp"
                printf "%s", text > file
                close(file)
            }
            inside = 0
        }
        inside { text = text $0 "\n" }' "$document"
    for program in "$directory"/*.cpp; do
        [ -e "$program" ] || continue
        programs=$((programs + 1))
        "$@" -fsyntax-only "$program" || rc=1
    done
done
echo "$programs programs in the documents"
# The README starts with a program. If the script finds none, the script itself is broken.
[ $programs -gt 0 ] || rc=1
exit $rc
