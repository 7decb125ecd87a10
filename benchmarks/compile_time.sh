#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What an include costs: user and system seconds of the compiler with -fsyntax-only, the least of several runs.
#
#   compile_time.sh [--runs N] [--only "HEADER..."] COMPILER [FLAG...]
#                                                                   a table: all headers or these, against <string>
#   compile_time.sh --at-most FACTOR HEADER COMPILER [FLAG...]      fails when HEADER costs more than FACTOR times <string>
#
# The latter goes by the memory that the compiler has taken, where it says so (g++ does): that grows with what it has to read and to
# instantiate, and is the same each time, while the ratio of the times is 5.2 on one processor and 6.3 on the next.
#
# The flags must let the compiler find <elasticjob/...>. The least of several runs, and a header of the same run to compare
# with, because the machine may be busy.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=5
factor=''
wanted=''
only=()
while [[ ${1-} == --* ]]; do
    case $1 in
        --runs) runs=$2 && shift 2 ;;
        --only) read -ra only <<<"$2" && shift 2 ;;
        --at-most) factor=$2 wanted=$3 && shift 3 ;;
        *) echo "compile_time.sh: unknown option $1" >&2 && exit 2 ;;
    esac
done
compiler=("$@")

measure() { # HEADER: prints milliseconds
    echo "#include <$1>" >"$work/include.cpp"
    local TIMEFORMAT='%U %S' spent
    if ! spent=$({ time "${compiler[@]}" -fsyntax-only "$work/include.cpp" 2>"$work/errors"; } 2>&1); then
        cat "$work/errors" >&2
        return 1
    fi
    awk '{ printf "%d\n", ($1 + $2) * 1000 }' <<<"$spent"
}

declare -A least
measure_all() { # HEADER...: round by round, so that a busy second hits them all
    local round header spent
    for ((round = 0; round < runs; ++round)); do
        for header in "$@"; do
            spent=$(measure "$header")
            if [[ ! ${least[$header]-} ]] || ((spent < least[$header])); then least[$header]=$spent; fi
        done
    done
}

row() { awk -v h="$1" -v t="$2" -v s="${least[string]}" 'BEGIN { printf "| %-52s | %5.2f | %5.1f |\n", h, t / 1000, t / s }'; }

megabytes() { # HEADER: prints nothing, if the compiler does not say
    echo "#include <$1>" >"$work/include.cpp"
    "${compiler[@]}" -fsyntax-only -ftime-report "$work/include.cpp" 2>&1 | sed -nE 's/^ TOTAL .* ([0-9]+)M$/\1/p'
}

if [[ $factor ]]; then
    unit=MB
    least[string]=$(megabytes string) least[$wanted]=$(megabytes "$wanted")
    if [[ ! ${least[string]} || ! ${least[$wanted]} ]]; then
        unit=ms least=()
        measure_all string "$wanted"
    fi
    echo "<string>: ${least[string]} $unit; <$wanted>: ${least[$wanted]} $unit; at most $factor times as much is allowed"
    ((least[$wanted] <= factor * least[string]))
    exit
fi

# Adapters are left out: what they adapt may not be there, and costs what it costs.
mapfile -t headers < <(cd "$root/include" && find elasticjob -name '*.hpp' -not -path '*/detail/*' \
    -not -name date_zone.hpp -not -name std_zone.hpp -not -name sqlite_database.hpp -not -name postgres_database.hpp \
    -not -name metrics_endpoint.hpp -not -name metrics_server.hpp \
    -not -name timed_io.hpp -not -name http_client.hpp -not -name http_executor.hpp -not -name webhook.hpp | sort)
((${#only[@]} == 0)) || headers=("${only[@]/#/elasticjob/}")
measure_all string "${headers[@]}"
"${compiler[0]}" --version | head -n 1
printf '| %-52s | %5s | %5s |\n' header s '×'
printf '|%s|%s|%s|\n' "$(printf -- '-%.0s' {1..54})" ------: ------:
row '<string>' "${least[string]}"
for header in "${headers[@]}"; do row "$header" "${least[$header]}"; done
