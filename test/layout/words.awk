# SPDX-License-Identifier: Apache-2.0
# Reports, with file:line, each use of a feature that the library forbids: dispatch and type erasure at run time, code
# that g++ 12 miscompiles (docs/decisions/0001), and exceptions where they may be turned off. Comments and strings are
# not checked.

BEGIN {
    edge_left = "(^|[^A-Za-z0-9_])"
    edge_right = "([^A-Za-z0-9_]|$)"
    count = split("virtual dynamic_cast typeid std::function std::move_only_function std::any", words, " ")
}

FNR == 1 { within = last = exceptions = "" }

# The line without its comments and literals; `within` keeps the comment or string that is still open at the line's end.
function code_of(line,   result, c, two, at, end) {
    result = ""
    while (line != "") {
        if (within != "") { # the text that ends it: */ or the end of a raw string
            at = index(line, within)
            if (!at) return result
            line = substr(line, at + length(within))
            within = ""
            continue
        }
        if (!match(line, /["'\/]/)) return result line
        result = result substr(line, 1, RSTART - 1)
        c = substr(line, RSTART, 1)
        two = substr(line, RSTART, 2)
        line = substr(line, RSTART + 1)
        if (two == "//") return result
        if (two == "/*") {
            within = "*/"
            line = substr(line, 2)
        } else if (c == "\"" && result ~ /R$/ && match(line, /^[^( ]*\(/)) {
            within = ")" substr(line, 1, RLENGTH - 1) "\""
            line = substr(line, RLENGTH + 1)
        } else if (c == "\"") {
            line = match(line, /^([^"\\]|\\.)*"/) ? substr(line, RLENGTH + 1) : ""
            result = result "\"\""
        } else if (c == "'" && result !~ /[0-9A-Fa-f]$/) { # after a digit it separates digits
            line = match(line, /^([^'\\]|\\.)*'/) ? substr(line, RLENGTH + 1) : ""
        } else result = result c
    }
    return result
}

{
    code = code_of($0)
    for (i = 1; i <= count; ++i)
        if (code ~ edge_left words[i] edge_right) complain(words[i])
    if (code ~ /shared_ptr *< *(const +)?void/) complain("shared_ptr<void>")
    # After these operators, g++ 12 may evaluate it although it should not.
    if (last code ~ /(&&|\|\||\?) *!?\(* *co_await/) complain("co_await behind &&, || or ?")
    # Users may turn exceptions off. g++ would report the error only where the code is used.
    if (code ~ /^#if defined\(__cpp_exceptions\)/) exceptions = "allowed"
    else if (code ~ /^#(else|endif)/) exceptions = ""
    if (!exceptions && code ~ edge_left "(try|catch|throw)" edge_right)
        complain("an exception outside of #if defined(__cpp_exceptions)")
    last = code ~ /(&&|\|\||\?) *$/ ? "&& " : ""
}

function complain(word) {
    printf "%s:%d: %s has no place in a header\n", FILENAME, FNR, word
    faults = 1
}

END { exit faults }
