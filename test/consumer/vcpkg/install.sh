#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh VCPKG ROOT DIRECTORY VERSION: runs the README's command, with and without the feature, and builds and runs the
# consumer with what vcpkg has installed. vcpkg downloads the dependencies and builds them, which takes its time, unless
# VCPKG_OVERLAY_PORTS has others in their place. A warning about the port is a failure.
set -eu
vcpkg=$1 root=$2 directory=$3 version=$4
vcpkg_root=${VCPKG_ROOT:-$(dirname "$(readlink -f "$vcpkg")")}
# Those are the README's backticks.
# shellcheck disable=SC2016
command=$(sed -n 's/^| vcpkg | `vcpkg \([^`]*\)`.*/\1/p' "$root/README.md")
: "${command:?README.md names no command of vcpkg in its table}"
mkdir -p "$directory"
cd "$root"
for uses_zookeeper in ON OFF; do
    installed=$directory/installed-$uses_zookeeper
    [ "$uses_zookeeper" = ON ] || command=$(printf '%s' "$command" | sed 's/ elasticjob / elasticjob[core] /')
    # The command is words to be split.
    # shellcheck disable=SC2086
    "$vcpkg" $command --x-install-root="$installed" >"$directory/log" 2>&1 || { cat "$directory/log" && exit 1; }
    cat "$directory/log"
    if grep 'ports/elasticjob/portfile.cmake: warning' "$directory/log"; then exit 1; fi
    cmake -S "$root/test/consumer/find_package" -B "$directory/build-$uses_zookeeper" \
        -DCMAKE_TOOLCHAIN_FILE="$vcpkg_root/scripts/buildsystems/vcpkg.cmake" -D_VCPKG_INSTALLED_DIR="$installed" \
        -DVCPKG_MANIFEST_MODE=OFF -DEXPECTED_VERSION="$version" -DCONSUMER_USES_ZOOKEEPER="$uses_zookeeper"
    cmake --build "$directory/build-$uses_zookeeper"
    "$directory/build-$uses_zookeeper/consumer" "$version"
done
