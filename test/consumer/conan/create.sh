#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# create.sh CONAN ROOT DIRECTORY: makes the package with Conan, with and without ZooKeeper, and has test_package use it.
# The cache is below DIRECTORY. Debian's packages stand for the dependencies, so nothing is downloaded where they are.
set -eu
conan=$1 root=$2 directory=$3
case $("$conan" --version) in
    *' version 2.'*) ;;
    *) echo "SKIPPED: this is not Conan 2" && exit ;;
esac
mkdir -p "$directory"
export CONAN_HOME="$directory/home"
[ -e "$CONAN_HOME/profiles/default" ] || "$conan" profile detect
{
    echo 'include(default)'
    echo '[settings]'
    echo 'compiler.cppstd=20'
    header_exists() { printf '#include <%s>\n' "$1" | c++ -E -x c++ - >/dev/null 2>&1; }
    echo '[platform_requires]'
    if header_exists boost/outcome/basic_result.hpp; then echo 'boost/1.81.0'; fi
    if header_exists range/v3/version.hpp; then echo 'range-v3/0.12.0'; fi
    if header_exists rapidjson/document.h; then echo 'rapidjson/cci.20230929'; fi
    if header_exists zookeeper/zookeeper.h; then echo 'zookeeper-client-c/3.8.1'; fi
    echo '[conf]'
    echo "tools.cmake.cmake_layout:test_folder=$directory/test"
} >"$directory/profile"
for with_zookeeper in True False; do
    "$conan" create "$root" --profile:all "$directory/profile" --build missing -o "&:with_zookeeper=$with_zookeeper"
done
