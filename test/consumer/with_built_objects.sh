#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_built_objects.sh DIRECTORY COMPILER [FLAG...]: a compiler launcher. For a source of the compiled libraries or of
# the program it copies the object file from the build in DIRECTORY, because compiling it takes most of a minute. It
# passes everything else to the compiler, and these sources too if there is no such object file.
set -eu
directory=$1
shift
object='' previous='' source=''
for argument; do
    [ "$previous" != -o ] || object=$argument
    source=$previous$argument
    previous=$argument
done
case $source in
    -c*/src.cpp | -c*/src_zookeeper.cpp | -c*/src_http.cpp | -c*/src_console.cpp | -c*/src_command_line.cpp | \
        -c*/command_line/main.cpp | -c*/compiled_http.cpp)
        name=${source##*/}
        [ "$name" != compiled_http.cpp ] || name=src_http.cpp # this includes no more
        built=$(find "$directory/include" -name "$name.o" | head -n 1)
        if [ "$built" ] && [ "$object" ]; then
            cp "$built" "$object"
            exit
        fi
        ;;
esac
exec "$@"
