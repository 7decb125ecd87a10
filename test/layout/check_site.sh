#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_site.sh ROOT            the site that docs/reference/generate_site makes has a page for all that programs set or
#                               call, with a comment for each member, and no broken link
# check_site.sh ROOT planted    the check must find a missing comment, page or link
# Exit code 77: Doxygen is missing, so nothing was checked.
set -eu
root=$(cd "$1" && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# In these types each public member needs a comment. Elsewhere a name may be enough.
commented='job_config job_schedule retry_policy misfire_policy dataflow_options scheduler_options thread_pool_options
zk_options job_scheduler job_handle job_status job_catalog sharding_context failed_run error dataflow script script_options
http_options http_status_range http_request queue_options webhook_options'

# The file name that Doxygen gives to the page of a type.
page_of() { # TYPE
    printf '%s' "$1" | sed -e 's/_/__/g' -e 's/::/_1_1/g'
}

# Prints a line for each fault of the site.
faults() {
    # Doxygen reports commands and links that it does not understand.
    grep -v ' is not documented\.$' "$warnings" || :
    for type in $commented; do
        name=$(page_of "$type")
        [ -e "$html/structelasticjob_1_1$name.html" ] || [ -e "$html/classelasticjob_1_1$name.html" ] ||
            echo "there is no page for $type: it needs a comment, and its header a line in docs/reference/generate_site.doxyfile"
        grep -E "warning: .* of (struct|class) elasticjob::$type is not documented" "$warnings" || :
    done
    for function in from_json to_json; do
        grep -q ">$function<" "$html/namespaceelasticjob.html" || echo "the site lacks $function"
        grep -E "warning: Member $function\\(" "$warnings" || :
    done

    # Links within the site. A link to a missing page is broken.
    while read -r from to; do
        [ -e "$html/$to" ] || echo "$from: there is no $to"
    done <"$directory/links"

    # The headers that documents and examples include belong to the interface, except the umbrella header, the sources
    # of the compiled form, and a header that only makes the library's views known to another library.
    (cd "$root" && grep -ohE '#include <elasticjob/[^>]+>' README.md docs/*.md examples/*.cpp) | sort -u |
        sed -e 's/^#include <//' -e 's/>$//' -e '/\/elasticjob.hpp$/d' -e '/\/src[a-z_]*.hpp$/d' -e '/\/range_v3.hpp$/d' |
        while read -r header; do
            grep -qF " $header" "$root/docs/reference/generate_site.doxyfile" ||
                echo "docs/reference/generate_site.doxyfile: INPUT lacks $header, which the documents include"
        done
}

check() { # INCLUDE_DIR
    sh "$root/docs/reference/generate_site" "$directory/site" "$1" >/dev/null || return
    warnings=$directory/site/warnings.txt
    html=$directory/site/html
    (cd "$html" && grep -oE 'href="[^":#?]+\.html' ./*.html | sed -e 's/:href="/ /' | sort -u) >"$directory/links"
    faults >"$directory/faults"
    cat "$directory/faults"
    echo "$(find "$html" -name '*.html' | wc -l) pages, $(wc -l <"$directory/links") links"
    ! [ -s "$directory/faults" ]
}

if [ "${2-}" != planted ]; then
    check "$root/include"
    exit
fi

# All faults are planted at once, because Doxygen takes long.
cp -r "$root/include" "$directory/include"
plant() { # HEADER SED_EXPRESSION
    sed "$2" "$root/include/elasticjob/$1" >"$directory/include/elasticjob/$1"
}
plant config/job_config.hpp '/^struct job_config {/,/ name{};/{/^ *\/\/\//d; s,///<.*,,}'
plant scheduler/options.hpp '/^\/\/\/ [^\\]/d'
plant registry/zk/options.hpp '0,/^\/\/\/ [^\\]/s//\/\/\/ See \\ref no_such_page. &/'
found=0
check "$directory/include" >"$directory/output" 2>&1 || found=$?
[ $found -ne 77 ] || exit 77
rc=0
expect() { # WHAT TEXT
    [ $found -ne 0 ] && grep -q "$2" "$directory/faults" && return
    echo "nobody has seen that $1"
    rc=1
}
expect 'a member has no comment' 'name (variable) of struct elasticjob::job_config'
expect 'a type has no comment' 'no page for scheduler_options'
expect 'a link leads nowhere' no_such_page
[ $rc -eq 0 ] || cat "$directory/output"
exit $rc
