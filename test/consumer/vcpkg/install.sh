#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh VCPKG ROOT DIRECTORY VERSION: installs the port as an overlay, with and without its feature, and builds and
# runs the consumer with what vcpkg has installed. vcpkg downloads the dependencies and builds them: this takes its time.
set -eu
vcpkg=$1 root=$2 directory=$3 version=$4
vcpkg_root=${VCPKG_ROOT:-$(dirname "$(readlink -f "$vcpkg")")}
for with in 'core:OFF' 'core,zookeeper:ON'; do
    features=${with%:*} uses_zookeeper=${with#*:}
    installed=$directory/installed-$uses_zookeeper
    "$vcpkg" install "elasticjob[$features]" --classic --overlay-ports="$root/packaging/vcpkg/ports" \
        --x-install-root="$installed"
    cmake -S "$root/test/consumer/find_package" -B "$directory/build-$uses_zookeeper" \
        -DCMAKE_TOOLCHAIN_FILE="$vcpkg_root/scripts/buildsystems/vcpkg.cmake" -D_VCPKG_INSTALLED_DIR="$installed" \
        -DVCPKG_MANIFEST_MODE=OFF -DEXPECTED_VERSION="$version" -DCONSUMER_USES_ZOOKEEPER="$uses_zookeeper"
    cmake --build "$directory/build-$uses_zookeeper"
    "$directory/build-$uses_zookeeper/consumer" "$version"
done
