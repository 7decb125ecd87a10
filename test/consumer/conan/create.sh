#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# create.sh CONAN ROOT DIRECTORY: runs the README's command, which makes the package and builds test_package with it:
# with and without ZooKeeper, header-only and compiled, and with the program. The cache is below DIRECTORY. The
# machine's packages replace ConanCenter's and have the same form, so nothing is downloaded.
set -eu
conan=$1 root=$2 directory=$3
case $("$conan" --version) in
    *' version 2.'*) ;;
    *) echo "SKIPPED: this is not Conan 2" && exit ;;
esac
mkdir -p "$directory"
export CONAN_HOME="$directory/home"
[ -e "$CONAN_HOME/profiles/default" ] || "$conan" profile detect
cat >"$directory/profile" <<END
include(default)
[conf]
tools.cmake.cmake_layout:test_folder=$directory/test
END
here() { "$conan" "$@" --no-remote --profile:all "$directory/profile"; }
for package in boost/1.81.0 rapidjson/cci.20250205 zookeeper-client-c/3.9.5 cli11/2.1.2 openssl/3.0.0; do
    here create "$root/test/consumer/conan/stand_in" --name "${package%/*}" --version "${package#*/}"
done
# The backticks belong to the README.
# shellcheck disable=SC2016
command=$(sed -n 's/^| Conan 2 | `conan \([^`]*\)`.*/\1/p' "$root/README.md")
: "${command:?README.md names no command of Conan in its table}"
cd "$root"
for with_zookeeper in True False; do
    for compiled in False True; do
        # The shell must split the command into words.
        # shellcheck disable=SC2086
        here $command -o "&:with_zookeeper=$with_zookeeper" -o "&:compiled=$compiled"
    done
done
# shellcheck disable=SC2086
here $command -o "&:program=True"
