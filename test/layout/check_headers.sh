#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_headers.sh layers|words INCLUDE_DIR    runs layers.awk or words.awk over every header
# check_headers.sh planted INCLUDE_DIR         plants faults into a copy: the two checks must find them
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)

check() ( # RULES INCLUDE_DIR
    cd "$2" || exit 1
    # No header has a space in its name, so the shell may split the list at spaces.
    # shellcheck disable=SC2046
    awk -f "$here/$1.awk" $(find elasticjob -name '*.[hi]pp' | sort)
)

planted() { # INCLUDE_DIR
    directory=$(mktemp -d) || exit 1
    trap 'rm -rf "$directory"' EXIT
    rc=0

    # A copy must fail for the planted fault only, even if the tree itself has faults.
    for rules in layers words; do
        check "$rules" "$include" >"$directory/$rules"
    done

    plant() { # HEADER CONTENT
        mkdir -p "$directory/include/$(dirname "$1")"
        guard=$(printf '%s' "$1" | tr 'a-z/.' 'A-Z__')
        printf '#ifndef %s\n#define %s\n%b\n#endif\n' "$guard" "$guard" "$2" >"$directory/include/$1"
    }

    restore() { # HEADER
        if [ -e "$include/$1" ]; then cp "$include/$1" "$directory/include/$1"; else rm "$directory/include/$1"; fi
    }

    attempt() { # RULES EXPECTED_LINE (HEADER CONTENT)...: adds them to the copy; '' = the output must not change
        rules=$1 expected=$2
        shift 2
        first=$1 all=
        while [ $# -ne 0 ]; do
            plant "$1" "$2"
            all="$all $1"
            shift 2
        done
        check "$rules" "$directory/include" >"$directory/after"
        status=$?
        for header in $all; do restore "$header"; done
        if [ -n "$expected" ]; then
            grep -q "^$expected" "$directory/after" && [ $status -ne 0 ] && return
        else
            cmp -s "$directory/$rules" "$directory/after" && return
        fi
        echo "planted $first: expected '$expected', but found:"
        cat "$directory/after"
        rc=1
    }

    cp -R "$include" "$directory/include"
    p=elasticjob/core/planted.hpp
    attempt layers '' $p '#include <string>\n#include <sys/types.h>'
    attempt layers "$p:3: core/ must not include registry/" $p '#include <elasticjob/registry/planted.hpp>'
    attempt layers "$p:4: quoted include" $p '\n#include "error.hpp"'
    attempt layers "$p:3: includes form a circle: $p -> $p" $p '#include <elasticjob/core/planted.hpp>'
    attempt layers "$p:3: <boost/outcome/result.hpp> must not" $p '#include <boost/outcome/result.hpp>'
    attempt layers "$p:3: <range/v3/view.hpp> must not" $p '#include <range/v3/view.hpp>'
    attempt layers "$p:3: <rapidjson/document.h> must not" $p '#include <rapidjson/document.h>'
    attempt layers "$p:3: <fmt/format.h> must not" $p '#include <fmt/format.h>'
    attempt layers 'elasticjob/cron/planted.hpp:3: <date/tz.h> must not' elasticjob/cron/planted.hpp '#include <date/tz.h>'
    attempt layers '' elasticjob/cron/date_zone.hpp '#include <date/tz.h>\n#include <elasticjob/cron/chrono_zone.hpp>'
    attempt layers "$p:3: <elasticjob/core/missing.hpp> does not exist" $p '#include <elasticjob/core/missing.hpp>'
    attempt layers 'elasticjob/cron/planted_too.hpp:3: includes form a circle' elasticjob/cron/planted.hpp \
        '#include <elasticjob/cron/planted_too.hpp>' elasticjob/cron/planted_too.hpp '#include <elasticjob/cron/planted.hpp>'
    # A header's definitions may include it, but no other header that includes it.
    definitions=elasticjob/impl/core/planted.ipp
    attempt layers '' $p "#include <$definitions>" $definitions "#include <$p>"
    attempt layers 'elasticjob/core/planted_too.hpp:3: includes form a circle' $p "#include <$definitions>" \
        $definitions "#include <$p>\n#include <elasticjob/core/planted_too.hpp>" \
        elasticjob/core/planted_too.hpp "#include <$p>"
    attempt layers '' elasticjob/config/planted.hpp '#include <elasticjob/core/error.hpp>'
    attempt layers '' elasticjob/config/planted_codec.hpp '#include <rapidjson/document.h>'
    # Only one header may include ZooKeeper's; of two, the check may name either.
    attempt layers 'elasticjob/registry/.*:[0-9]*: <zookeeper/zookeeper.h> must not' elasticjob/registry/zz_planted.hpp \
        '#include <zookeeper/zookeeper.h>\n#include <elasticjob/registry/zy_planted.hpp>' \
        elasticjob/registry/zy_planted.hpp '#include <zookeeper/zookeeper.h>'
    for library in sqlite3.h soci/soci.h httplib.h boost/beast/http.hpp boost/asio/post.hpp zookeeper.h zookeeper/zookeeper.h; do
        attempt layers "elasticjob/events/planted.hpp:3: <$library> must not" elasticjob/events/planted.hpp "#include <$library>"
    done
    attempt layers 'elasticjob/impl/core/planted.ipp:3: core/ must not include registry/' elasticjob/impl/core/planted.ipp \
        '#include <elasticjob/registry/mirror.hpp>'
    attempt layers 'elasticjob/planet/planted.hpp:1: unknown folder' elasticjob/planet/planted.hpp ''

    attempt words "$p:3: virtual" $p 'struct planted { virtual ~planted(); };'
    attempt words "$p:3: std::function" $p 'std::function<void()> f;'
    attempt words "$p:3: std::any" $p 'inline std::any a;'
    attempt words "$p:3: typeid" $p 'auto& t = typeid(int);'
    attempt words "$p:3: dynamic_cast" $p 'auto f(auto* p) { return dynamic_cast<int*>(p); }'
    attempt words "$p:3: shared_ptr<void>" $p 'std::shared_ptr<void const> p;'
    attempt words "$p:5: virtual" $p '/* one\n virtual */\nauto s = "//"; virtual'
    attempt words "$p:3: co_await behind" $p 'while (!a && co_await b) {}'
    attempt words "$p:4: co_await behind" $p 'while (a ||\n !co_await b) {}'
    attempt words "$p:3: an exception" $p 'throw 1;'
    attempt words "$p:6: an exception" $p '#if defined(__cpp_exceptions)\ntry {}\n#else\ncatch\n#endif'
    attempt words '' $p '#if defined(__cpp_exceptions)\ntry {} catch (int) { throw; }\n#endif\nf.try_submit();'
    attempt words '' $p 'if (a && b)\n co_await c;'
    attempt words '' $p '// virtual time\nauto n = 1'"'"'000; auto s = "std::function"; /* typeid */ bool b = std::any_of(a, b, c);'
    attempt words '' $p 'auto page = R"x(\nvirtual "\n)x";'
    return $rc
}

include=$2
case $1 in
    planted) planted ;;
    *) check "$1" "$include" ;;
esac
