#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh SOURCE COMPILER [FLAG...]        one file: with -DBAD it fails to compile, with each expected sentence
# check.sh --self-check COMPILER [FLAG...]  checks that this script tells right from wrong
set -u
LC_ALL=C # other locales print other quotes in the messages
export LC_ALL

# Without carets the compiler does not echo the source, so an expected text in the source alone does not match.
compile() { # SOURCE [FLAG...]
    source=$1
    shift
    case $("$1" --version) in
        *clang*) "$@" -fsyntax-only -fno-caret-diagnostics "$source" 2>&1 ;;
        *) "$@" -fsyntax-only -fno-diagnostics-show-caret "$source" 2>&1 ;;
    esac
}

check() { # SOURCE COMPILER [FLAG...]
    expected=$(sed -n '\,^// expect: ,!q; s,,,p' "$1")
    if [ -z "$expected" ]; then
        echo "$1:1: the first line must be: // expect: REGEX"
        return 1
    fi
    if output=$(compile "$@" -DBAD); then
        echo "$1: must not compile with -DBAD, but does"
        return 1
    fi
    while IFS= read -r sentence; do
        printf '%s\n' "$output" | grep -Eq -e "$sentence" && continue
        printf '%s: the compiler does not say "%s", but:\n%s\n' "$1" "$sentence" "$output"
        return 1
    done <<END
$expected
END
}

self_check() { # COMPILER [FLAG...]
    directory=$(mktemp -d) || exit 1
    trap 'rm -rf "$directory"' EXIT
    rc=0
    attempt() { # passes|fails WHAT TEXT COMPILER...
        wanted=$1 what=$2
        printf '%b' "$3" >"$directory/case.cpp"
        shift 3
        if check "$directory/case.cpp" "$@" >"$directory/output"; then got=passes; else got=fails; fi
        [ $got = "$wanted" ] && return
        echo "self check: $what: should be one that $wanted, but it $got"
        cat "$directory/output"
        rc=1
    }
    good='#ifdef BAD\nstatic_assert(sizeof(int) == 0, "two policies");\n#endif\n'
    attempt passes 'the message as expected' "// expect: static.?assert.*two policies\n$good" "$@"
    attempt fails 'another message' "// expect: three policies\n$good" "$@"
    attempt passes 'two messages as expected' "// expect: two policies\n// expect: error\n$good" "$@"
    attempt fails 'the second is another message' "// expect: two policies\n// expect: three policies\n$good" "$@"
    attempt fails 'no expectation' "$good" "$@"
    attempt fails 'BAD compiles too' '// expect: .\nint x;\n' "$@"
    attempt fails 'the words stand only in the source' '// expect: seven dwarfs\n#ifdef BAD\nint x = "seven dwarfs";\n#endif\n' "$@"
    return $rc
}

if [ "$1" = --self-check ]; then
    shift
    self_check "$@"
else
    check "$@"
fi
