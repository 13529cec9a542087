#!/bin/sh
# The model must agree with the source: for each `source: FILE FUNCTION` in hypervisor.pml, the `= text` comments after
# it are the function's statements, all of them and in order. For the engines' functions, which do more than the
# protocol, they are the calls that belong to it. Prints what differs; exit status 0 if nothing does.
# Usage: tests/model/source.sh [MODEL]
set -u
model=${1:-tests/model/hypervisor.pml}
statements=tests/model/source.awk
# The parts of an engine, and of a step, that belong to the protocol.
protocol='(begin_step|end_step|step_in|leave_step|begin_access|acquire|give_up|give_locks_back|locks\.[a-z_]+|ring\.(begin|complete|finish|publish[a-z_]*)|publish[a-z_]*|debug\.(arm|disarm)|[a-z]*mask_[a-z_]*|view\.[a-z_]+|step\.armed = [a-z]+|port::write<[A-Za-z:]+>|port::[a-z_]+|access_bus)'
calls() { grep -oE "(^|[^A-Za-z_])$protocol(\(|:|\$|;)" | grep -oE "$protocol"; }

status=0
differ() {
    echo "$1: the model has other statements than the source"
    diff -u "$2" "$3" | tail -n +4
    status=1
}

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
sed -n 's/^.*[*. ] source: \([^ ]*\) \([A-Za-z_:]*\).*/\1 \2/p' "$model" >"$folder/list"
[ -s "$folder/list" ] || { echo "$model names no sources"; exit 1; }
while read -r file name; do
    awk -v function_="$name" -f "$statements" "$file" >"$folder/source" || { echo "$file has no $name"; status=1; continue; }
    awk -v function_="$file $name" -f "$statements" "$model" >"$folder/model" || { echo "$model: nothing of $name"; status=1; continue; }
    case $file in
    hyp/core/engine/* | hyp/core/machine/stepping.hpp)
        calls <"$folder/source" >"$folder/source-calls"
        calls <"$folder/model" >"$folder/model-calls"
        cmp -s "$folder/model-calls" "$folder/source-calls" || differ "$file $name" "$folder/model-calls" "$folder/source-calls"
        ;;
    *) cmp -s "$folder/model" "$folder/source" || differ "$file $name" "$folder/model" "$folder/source" ;;
    esac
done <"$folder/list"
exit $status
