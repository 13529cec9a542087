#!/bin/sh
# How many lines of code the hypervisor has, without blank lines and comments: the core (all that the image of the
# core alone is made of, with what it includes of abi/), and the whole. Usage: tests/core/lines.sh
set -u
cd "$(dirname "$0")/../.." || exit 1

code() { # FILES on standard input: the sum of their lines of code
    xargs cat | sed 's|^//.*||; s|[ ;)},{>]\(//\|@\) .*||' |
        awk '/^ *(\/\/|@)/ { next } /^ *\/\*/ { c = 1 } !c && NF { n++ } /\*\// { c = 0 } END { print n + 0 }'
}
sources() { find "$@" -name '*.cpp' -o -name '*.hpp' -o -name '*.S'; }
# The headers of abi/ that the core includes, also through others.
abi_of_core() {
    set -- $(sources hyp/core boot | xargs grep -ho '"abi/[a-z_]*\.hpp"' | sort -u | tr -d '"')
    while [ $# -gt 0 ]; do
        printf '%s\n' "$@"
        set -- $(for file in "$@"; do grep -ho '"abi/[a-z_]*\.hpp"' "hyp/$file"; done | sort -u | tr -d '"')
    done | sort -u | sed 's|^|hyp/|'
}
echo "core $({ sources hyp/core boot; abi_of_core; } | code)"
echo "services $({ sources hyp/services; sources hyp/abi; } | grep -vxF "$(abi_of_core)" | code)"
