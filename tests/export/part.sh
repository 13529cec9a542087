#!/bin/bash
# Checks that a part of a trace, as a trace, has the events of that part: each as in the JSONL of the whole trace, in
# order.
# Usage: tests/export/part.sh TOOL TRACE FOLDER [OPTION...] [-- OPTION...]: options that select, and options for reading
# both. Prints the reason and exits with 1 if not.
set -u
tool=$1 trace=$2 own=$3
shift 3
select=() names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do select+=("$1"); shift; done
[ $# = 0 ] || names=("${@:2}")
[[ " ${select[*]} " != *" --no-pc "* ]] || names+=(--no-pc) # a fetch has the address of its device in such a part, else none

fail() { echo "part ${select[*]} of $trace: $*"; exit 1; }
events() { "$tool" export --as jsonl "$@" "${names[@]}" -o - 2> "$own/part.stderr" > "$own/part.jsonl"; sed -e 1d -e '$d' "$own/part.jsonl"; }

"$tool" export --as mmio "${select[@]}" -i "$trace" -o "$own/part.mmio" 2> "$own/part.stderr" || fail "$(cat "$own/part.stderr")"
events "${select[@]}" -i "$trace" > "$own/part.expected"
losses=$(tail -n 1 "$own/part.jsonl" | grep -o '"lost.*')
events "$own/part.mmio" | cmp - "$own/part.expected" > "$own/part.differ" || fail "other events: $(cat "$own/part.differ")"
[ "$(tail -n 1 "$own/part.jsonl" | grep -o '"lost.*')" = "$losses" ] || fail "other losses, or another end"
# Recorded losses make a trace lossy; left-out events do not.
"$tool" check "$own/part.mmio" > "$own/part.check"
last=$(tail -n 1 "$own/part.check")
case $losses in
*'"lost":0,'*) [[ $last == *': sound: '* ]] ;;
*) [[ $last == *': lossy: '* ]] ;;
esac || fail "check: $last; $(head -n 1 "$own/part.check")"
wc -l < "$own/part.expected"
