#!/bin/sh
# How many lines of code the hypervisor has, without blank lines and comments: the core, the start (both, all that the
# image of the core alone is made of), and the services, each with what it includes of abi/ that those before it do not.
# Usage: tests/core/lines.sh
set -u
cd "$(dirname "$0")/../.." || exit 1

code() { # FILES on standard input: the sum of their lines of code
    xargs cat | sed 's|^//.*||; s|[ ;)},{>]\(//\|@\) .*||' |
        awk '/^ *(\/\/|@)/ { next } /^ *\/\*/ { c = 1 } !c && NF { n++ } /\*\// { c = 0 } END { print n + 0 }'
}
sources() { find "$@" -name '*.cpp' -o -name '*.hpp' -o -name '*.S'; }
abi_of() { # FOLDERS: the headers of abi/ that they include, also through others
    set -- $(sources "$@" | xargs grep -ho '"abi/[a-z_]*\.hpp"' | sort -u | tr -d '"')
    while [ $# -gt 0 ]; do
        printf '%s\n' "$@"
        set -- $(for file in "$@"; do grep -ho '"abi/[a-z_]*\.hpp"' "hyp/$file"; done | sort -u | tr -d '"')
    done | sort -u | sed 's|^|hyp/|'
}
said= # headers of abi/ of the storeys before
for storey in core start services; do
    folders=hyp/$storey
    [ $storey != core ] || folders="$folders boot"
    own=$(abi_of $folders | grep -vxF "$said")
    echo "$storey $({ sources $folders; echo "$own"; } | code)"
    said="$said
$own"
done
