# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The run scripts source this file. It installs the packages that they need.

# Each Debian package, and how to detect it, or its counterpart on another system.
declare -Ar package_probes=(
    [g++]='command g++'
    [cmake]='command cmake'
    [ninja-build]='command ninja'
    [make]='command make'
    [ccache]='command ccache'
    [mold]='command mold'
    [pkg-config]='command pkg-config'
    [libboost-dev]='header boost/outcome/basic_result.hpp'
    [librange-v3-dev]='header range/v3/version.hpp'
    [rapidjson-dev]='header rapidjson/rapidjson.h'
    [doctest-dev]='header doctest/doctest.h'
    [doxygen]='command doxygen'
    [nodejs]='command node'
    [npm]='command npm'
    [chromium-headless-shell]='command chromium-headless-shell'
    [fonts-wqy-microhei]='file /usr/share/fonts/truetype/wqy/wqy-microhei.ttc'
    [libbenchmark-dev]='header benchmark/benchmark.h'
    [libzookeeper-mt-dev]='header zookeeper/zookeeper.h'
    [libzookeeper-java]='file /usr/share/java/zookeeper.jar'
    [default-jre-headless]='command java'
    [libhowardhinnant-date-dev]='header date/tz.h'
    [libsqlite3-dev]='header sqlite3.h'
    [libsoci-dev]='header soci/soci.h'
    [libpq-dev]='command pg_config'
    [postgresql]='file /usr/lib/postgresql/*/bin/initdb'
    [libcpp-httplib-dev]='header httplib.h'
    [libcli11-dev]='header CLI/CLI.hpp'
    [libssl-dev]='header openssl/ssl.h'
    [tzdata]='file /usr/share/zoneinfo/America/New_York'
    [clang-16]='command clang++-16'
    [llvm-16]='command llvm-symbolizer-16' # sanitizers name functions with it, and suppressions need the names
    [clang-19]='command clang++-19'
    [libc++-19-dev]='file /usr/lib/llvm-19/include/c++/v1/version'
    [libc++abi-19-dev]='file /usr/lib/llvm-19/lib/libc++abi.so'
    [libclang-rt-16-dev]='file /usr/lib/llvm-16/lib/clang/16/lib/linux/libclang_rt.tsan*.a'
)

is_present() { # PACKAGE
    local kind what
    read -r kind what <<<"${package_probes[$1]}"
    case $kind in
        command) command -v "$what" >/dev/null ;;
        header) g++ -std=c++20 -fsyntax-only -include "$what" -x c++ /dev/null 2>/dev/null ;;
        file) compgen -G "$what" >/dev/null ;;
    esac
}

# Installs missing packages. If it cannot, it names them and fails.
need_packages() { # PACKAGE...
    local package missing=() as_root=()
    for package in "$@"; do is_present "$package" || missing+=("$package"); done
    ((${#missing[@]})) || return 0

    if ((EUID != 0)); then as_root=(sudo); fi
    if command -v apt-get >/dev/null && { ((EUID == 0)) || command -v sudo >/dev/null; }; then
        echo "Installing: ${missing[*]}"
        "${as_root[@]}" apt-get update -q
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
        return
    fi
    echo "These are missing and cannot be installed from here (no apt-get, or neither root nor sudo):" >&2
    for package in "${missing[@]}"; do echo "  $package: ${package_probes[$package]}" >&2; done
    return 1
}

# The run scripts read these.
# shellcheck disable=SC2034
readonly build_packages=(g++ cmake ninja-build ccache mold libboost-dev rapidjson-dev libzookeeper-mt-dev)
# The packages that tests and benchmarks of optional headers need.
# shellcheck disable=SC2034
readonly event_packages=(libsqlite3-dev libsoci-dev libpq-dev postgresql libssl-dev libcpp-httplib-dev libcli11-dev)
# shellcheck disable=SC2034
readonly server_packages=(libzookeeper-java default-jre-headless)
