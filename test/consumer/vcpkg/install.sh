#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh VCPKG ROOT DIRECTORY VERSION: runs the README's command, as it is and with other features, then builds and
# runs the consumer with the installed package, or runs the program. vcpkg downloads and builds the dependencies, which
# takes long, unless VCPKG_OVERLAY_PORTS replaces them. A warning about the port is a failure.
set -eu
vcpkg=$1 root=$2 directory=$3 version=$4
vcpkg_root=${VCPKG_ROOT:-$(dirname "$(readlink -f "$vcpkg")")}
# The backticks belong to the README.
# shellcheck disable=SC2016
command=$(sed -n 's/^| vcpkg | `vcpkg \([^`]*\)`.*/\1/p' "$root/README.md")
: "${command:?README.md names no command of vcpkg in its table}"
mkdir -p "$directory"
cd "$root"
install() { # SPECIFICATION
    # The shell must split the command into words.
    # shellcheck disable=SC2046
    "$vcpkg" $(printf '%s' "$command" | sed "s/ elasticjob / $1 /") --x-install-root="$installed" >"$directory/log" 2>&1 ||
        { cat "$directory/log" && exit 1; }
    cat "$directory/log"
    if grep 'ports/elasticjob/portfile.cmake: warning' "$directory/log"; then exit 1; fi
}
consume() { # OPTION...
    rm -rf "$directory/build"
    cmake -S "$root/test/consumer/find_package" -B "$directory/build" \
        -DCMAKE_TOOLCHAIN_FILE="$vcpkg_root/scripts/buildsystems/vcpkg.cmake" -D_VCPKG_INSTALLED_DIR="$installed" \
        -DVCPKG_MANIFEST_MODE=OFF -DEXPECTED_VERSION="$version" "$@"
    cmake --build "$directory/build"
    "$directory/build/consumer" "$version"
}
installed=$directory/installed-core
install 'elasticjob[core]'
consume -DCONSUMER_USES_ZOOKEEPER=OFF
installed=$directory/installed-http
install 'elasticjob[core,http]'
consume -DCONSUMER_USES_ZOOKEEPER=OFF -DCONSUMER=http.cpp -DCONSUMER_USES_HTTPS=ON
installed=$directory/installed
install elasticjob
consume -DCONSUMER_USES_ZOOKEEPER=ON
installed=$directory/installed-program
install 'elasticjob[core,program]'
program=$(find "$installed" -path '*/tools/elasticjob/elasticjob')
[ "$("$program" --version)" = "$version" ]
