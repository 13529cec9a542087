#!/bin/bash
# A new kind of records takes one enumerator and one row: new_kind.patch. It is applied to a
# copy of the tree, whose tests then take the kind, with a payload of 100 bytes, through each filter, line, export, index,
# packed file and back (test_kinds.cpp). Each place of it is needed: without it the copy does not build, or fails.
# Usage: tests/host-tools/new_kind.sh BUILD
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1
patch=tests/host-tools/new_kind.patch
copy=$build/new-kind
passed=0 failed=0

result() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$build/new-kind.log" 2>&1; then
        passed=$((passed + 1)); echo "ok new-kind: $name"
    else
        failed=$((failed + 1)); echo "FAILED new-kind: $name"; tail -n 10 "$build/new-kind.log"
    fi
}

copied() { rm -rf "$copy" && mkdir -p "$copy" && git ls-files -z | xargs -0 cp --parents -t "$copy"; }
patched() { patch --fuzz 3 -d "$copy" -p1 <"$patch"; }
built() { make --no-print-directory -C "$copy" -j2 build/mmioscope build/tests/host-tools; }
walked() { (cd "$copy" && build/tests/host-tools 'kinds*,*payload*,*group*'); }
knows() { "$copy/build/mmioscope" print -F 'type==probe' /dev/null 2>&1 | grep -v 'not a value'; }
has() { # PAGE
    make --no-print-directory -C "$copy" "build/man/$1" && grep -q 'breakpoint of the tracer' "$copy/build/man/$1"
}
refused_without() { # FILE COMMAND...: COMMAND fails while FILE is as it was
    local file=$1
    shift
    cp "$copy/$file" "$copy/$file.new" && cp "$file" "$copy/$file" || return 1
    ! "$@"
    local status=$?
    mv "$copy/$file.new" "$copy/$file"
    return "$status"
}
compiled() {
    echo '#include "records/kinds.hpp"' |
        g++ -std=c++20 -Wall -Werror -fsyntax-only -I"$copy/hyp" -I"$copy/host-tools" -x c++ -
}

result "the tree is copied" copied
result "the patch fits" patched
result "it builds" built
result "the new kind goes through everything" walked
result "a filter knows its word" knows
result "without its row nothing compiles" refused_without host-tools/records/kinds.hpp compiled
for page in mmioscope-filter.7 mmioscope-export.1 mmioscope-trace.5; do
    result "$page has it" has "$page"
done
echo "places of a new kind: $(grep -c '^@@' "$patch"), $(grep -c '^+[^+]' "$patch") lines"
rm -rf "$copy"
echo "new-kind: $passed passed, $failed failed"
[ "$failed" = 0 ]
