#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_versions.sh ROOT VERSION: version.hpp has this version, which CMake has read from it. So do the files that
# cannot read it: the vcpkg manifests and the documents. (test/consumer checks conanfile.py and the installed packages.)
set -u
cd "$1" || exit 1
version=$2 rc=0

expect() { # FILE WHAT FOUND
    [ "$3" = "$version" ] && return
    echo "$1: $2 is '$3', not '$version'"
    rc=1
}

header=include/elasticjob/core/version.hpp
expect $header 'the version' "$(awk '/^#define ELASTICJOB_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }' $header)"
for manifest in vcpkg.json packaging/vcpkg/ports/elasticjob/vcpkg.json; do
    expect $manifest '"version"' "$(sed -n 's/^  "version": "\(.*\)",$/\1/p' $manifest)"
done
expect CHANGELOG.md 'the newest heading' "$(sed -n 's/^## .*\([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' CHANGELOG.md | head -n 1)"
expect README.md 'the version' "$(sed -n 's/.*[Vv]ersion \([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' README.md | head -n 1)"
exit $rc
