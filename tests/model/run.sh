#!/bin/bash
# Runs the models of the TLB protocol (tlb.pml, docs/tlb.md), of changes of a descriptor (live.pml, move.pml, hold.pml) and of the
# rings (ring.pml): what is built must hold, and each variant must fail as the file of variants says. Exhaustive: a search that had to stop early is a
# failure.
# Usage: tests/model/run.sh BUILD test|nightly   (nightly: 4 GB of memory)
set -u
cd "$(dirname "$0")/../.." || exit 1
here=$PWD/tests/model
out=${1:?}/tests/model
tier=${2:-test}
passed=0 failed=0
mkdir -p "$out" && cd "$out" || exit 1

result() { # STATUS TEXT
    if [ "$1" = 0 ]; then
        passed=$((passed + 1)); echo "ok model: $2"
    else
        failed=$((failed + 1)); echo "FAILED model: $2"
    fi
}

# build CPUS: safety-CPUS/pan and waiting-CPUS/pan. The second has the never claim of `ltl waiting`.
build() {
    local kind flags
    for kind in safety waiting; do
        flags=(-DSAFETY -DNOCLAIM)
        [ "$kind" = safety ] || flags=(-DNFAIR=3)
        mkdir -p "$kind-$1"
        (cd "$kind-$1" && spin -a -DCPUS="$1" "$here/tlb.pml" && cc -O1 -w -DCOLLAPSE "${flags[@]}" -o pan pan.c) \
            >"$kind-$1/messages" 2>&1 &
    done
    wait
    [ -x "safety-$1/pan" ] && [ -x "waiting-$1/pan" ]
}

# verdict FILE: the property that failed, `none`, or `unfinished`.
verdict() {
    case $(grep -E '^pan:' "$1" | head -n 1) in
    *'assertion violated  !('*) sed -nE 's/^pan.*assertion violated +!\(([a-z_]+)\).*/\1/p' "$1" | head -n 1 ;;
    *'invalid end state'*) echo deadlock ;;
    *'acceptance cycle'*) echo waiting ;;
    *'non-progress cycle'*) echo livelock ;;
    *) grep -qE 'too small|out of memory|not completed|unmatched' "$1" || ! grep -q 'errors: 0' "$1" && echo unfinished || echo none ;;
    esac
}
stored() { awk '/states, stored/ { n = $1 } END { printf "%.0f", n }' "$1"; }

# check CPUS VARIANT EXPECTED WHAT KIND BUDGET DEPTH HASH: prints a row of the table. KIND: `waiting`, or `safety` for
# everything else. BUDGET: operations of each CPU; 0: endless. HASH: 2^HASH slots.
check() {
    local number traced file found how=()
    read -r number traced < <(awk -v name="$2" '$1 == "#define" && $2 == name { print $3, $5 }' "$here/variants.pml")
    [ "$5" = safety ] || how=(-a -f) # acceptance cycles, weak fairness
    file=$2-$1-$5.txt
    mkdir -p "runs/$file"
    (cd "runs/$file" && VARIANT=$number TRACED=$traced BUDGET=$6 prlimit --cpu=$(($1 == 2 ? 100 : 1800)) \
        "../../$5-$1/pan" "${how[@]}" -m"$7" -w"$8") >"$file" 2>&1
    found=$(verdict "$file")
    printf '%-24s %4s  %-18s %-10s %11s  %s\n' "$2" "$1" "$3" "$found" "$(stored "$file")" "$4"
    [[ "|$3|" == *"|$found|"* ]]
}
row() {
    local text
    text=$(check "$@")
    result $? "$text"
}

variants() { sed -nE 's|^#define ([A-Z_]+) +[0-9]+ +// [0-9] ([a-z|]+): (.*)|\1 \2 \3|p' "$here/variants.pml"; }

build_ring() {
    mkdir -p ring
    (cd ring && spin -a "$here/ring.pml" && cc -O1 -w -DCOLLAPSE -DSAFETY -DNOCLAIM -o pan pan.c) >ring/messages 2>&1
}
# ring_check VARIANT BUDGET [FAST]: prints a row of the table. CPU 0 is on the fast path, CPU 1 on the slow one, unless
# FAST has another mask.
ring_check() {
    local number expected what file found
    read -r number expected what < <(sed -nE "s/^#define $1 +([0-9]+) +\/\/ [0-9] ([a-z]+): (.*)/\1 \2 \3/p" "$here/ring_variants.pml")
    file=$1-ring-$2-${3:-1}.txt
    (cd ring && VARIANT=$number BUDGET=$2 FAST=${3:-1} prlimit --cpu=1800 ./pan -m1000000 -w24) >"$file" 2>&1
    found=$(verdict "$file")
    printf '%-24s ring  %-18s %-10s %11s  %s\n' "$1" "$expected" "$found" "$(stored "$file")" "$what"
    [ "$found" = "$expected" ]
}
ring_row() {
    local text
    text=$(ring_check "$@")
    result $? "$text"
}
ring_variants() { sed -nE 's|^#define ([A-Z_]+) +[0-9]+ +// ([0-9]) ([a-z]+): .*|\1 \2 \3|p' "$here/ring_variants.pml"; }

# A descriptor that changes while others use it; a page that goes from CPU to CPU; how long it stays.
small_row() { # MODEL VARIANT EXPECTED WHAT [HOW...]
    local number found text
    number=$(sed -nE "s/^#define $2 +([0-9]+) .*/\1/p" "$here/$1_variants.pml")
    (cd "$1" && VARIANT=$number prlimit --cpu=100 ./pan "${@:5}" -m1000000 -w22) >"$2-$1.txt" 2>&1
    found=$(verdict "$2-$1.txt")
    text=$(printf '%-24s %s  %-18s %-10s %11s  %s' "$2" "$1" "$3" "$found" "$(stored "$2-$1.txt")" "$4")
    [[ "|$3|" == *"|$found|"* ]]
    result $? "$text"
}
small_rows() { # MODEL [progress]
    local flags=(-DSAFETY -DNOCLAIM) how=()
    [ "${2:-}" = "" ] || flags=(-DNP -DNFAIR=3) how=(-l -f) # cycles without progress, weak fairness
    mkdir -p "$1"
    (cd "$1" && spin -a "$here/$1.pml" && cc -O1 -w -DCOLLAPSE "${flags[@]}" -o pan pan.c) >"$1/messages" 2>&1 ||
        { result 1 "cannot be compiled: $out/$1"; return; }
    while read -r name expected what; do
        small_row "$1" "$name" "$expected" "$what" "${how[@]}"
    done < <(sed -nE 's|^#define ([A-Z_]+) +[0-9]+ +// ([a-z_\|]+): (.*)|\1 \2 \3|p' "$here/$1_variants.pml")
}

if differs=$(cd "$here/../.." && tests/model/source.sh && tests/model/source.sh tests/model/live.pml && tests/model/source.sh tests/model/hold.pml); then
    result 0 "says what the source says, statement by statement"
else
    result 1 "the source has changed: $differs"
fi
printf '%10s%-24s %4s  %-18s %-10s %11s\n' "" variant cpus expected found states
if [ "$tier" = test ]; then
    build 2 || { result 1 "cannot be compiled: $out"; exit 1; }
    while read -r name expected what; do
        kind=(safety 0)
        [ "$expected" != waiting ] || kind=(waiting 2)
        row 2 "$name" "$expected" "$what" "${kind[@]}" 1000000 22
    done < <(variants)
    row 2 AS_BUILT none "waiting, 2 operations each" waiting 2 1000000 22
    row 2 AS_BUILT_TWO_REGIONS none "waiting, 1 operation each" waiting 1 1000000 22
    build_ring || { result 1 "cannot be compiled: $out/ring"; exit 1; }
    while read -r name budget expected; do
        [ "$expected" = none ] || ring_row "$name" "$budget"
    done < <(ring_variants)
    ring_row ONE_DEVICE 1
    ring_row TWO_DEVICES 1
    small_rows live
    small_rows move
    small_rows hold progress
else
    build 3 || { result 1 "cannot be compiled: $out"; exit 1; }
    row 3 AS_BUILT none "the protocol, three CPUs" safety 0 30000000 24
    states=$(stored AS_BUILT-3-safety.txt)
    [ "$states" -ge 1000000 ]; result $? "$states states of three CPUs, at least 1000000"
    row 3 TWO_VMIDS_TLBI_AT_BOTH stale "three CPUs" safety 0 30000000 24
    row 3 AS_BUILT none "waiting, 1 operation each" waiting 1 1000000 24
    row 3 AS_BUILT_TWO_REGIONS none "three CPUs, two locks, 1 operation each" safety 1 1000000 24
    build_ring || { result 1 "cannot be compiled: $out/ring"; exit 1; }
    while read -r name budget expected; do
        [ "$expected" != none ] || ring_row "$name" "$budget"
    done < <(ring_variants)
    for fast in 0 3; do
        ring_row ONE_DEVICE 1 $fast
        ring_row TWO_DEVICES 1 $fast
    done
fi
echo "model: $passed passed, $failed failed"
[ "$failed" = 0 ]
