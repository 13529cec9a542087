#!/bin/bash
# The integration tests: what `mmioscope run` does with QEMU, Debian and the bare-metal guests.
#
#   tests/qemu/run.sh [--tier test|nightly|soak] [--kept FILE] [--list] [case...]
#
# Without case names, all cases of the tier (default: test; nightly and soak have only further ones). Cases listed in
# FILE as passed are not run again; those that pass now are added to it. One line per case, `ok NAME (seconds)` or
# `FAILED NAME why`; a case's output and recordings stay in build/tests/qemu/NAME/.
# Runs as many cases at a time as there are CPUs, each on its own CPU, because two QEMUs would preempt each other. Cases
# that need the guest's CPUs to run at the same time (`on_all_cpus`) come first, one at a time.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
[[ $build = /* ]] || build=$PWD/$build
here=tests/qemu
export XDG_CACHE_HOME=$build/tests/cache # of mmioscope run, not the user's

tier=test list="" kept=""
wanted=()
while [ $# -gt 0 ]; do
    case $1 in
    --tier) tier=${2:?}; shift ;;
    --kept) kept=${2:?}; shift ;;
    --list) list=yes ;;
    -*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) wanted+=("$1") ;;
    esac
    shift
done

names=() tiers=() limits=() commands=()
# add TIER NAME SECONDS FUNCTION ARGUMENT...: adds a case that may take SECONDS on two idle cores. It is ended after
# ten times as many.
add() {
    tiers+=("$1") names+=("$2") limits+=("$3")
    shift 3
    commands+=("$(printf '%q ' "$@")")
}
# shellcheck source=/dev/null
source "$here/lib.sh"
for file in "$here"/cases/*.sh; do
    # shellcheck source=/dev/null
    source "$file"
done

chosen=()
for i in "${!names[@]}"; do
    if [ ${#wanted[@]} -gt 0 ]; then
        for name in "${wanted[@]}"; do [ "$name" = "${names[i]}" ] && chosen+=("$i"); done
    elif [ "${tiers[i]}" = "$tier" ]; then
        chosen+=("$i")
    fi
done
if [ ${#chosen[@]} -eq 0 ] || { [ ${#wanted[@]} -gt 0 ] && [ ${#chosen[@]} -ne ${#wanted[@]} ]; }; then
    echo "$0: no such case or tier; --list names the cases" >&2
    exit 2
fi
if [ -n "$list" ]; then
    for i in "${!names[@]}"; do echo "${tiers[i]} ${names[i]}"; done
    exit
fi

# Everything that a case starts has this in its environment, so leftover processes can be found.
mark=
started_by_case() { grep -lzsx "$mark" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/.*|\1|'; }
end_case() {
    local pids
    for _ in 1 2 3; do
        pids=$(started_by_case)
        [ -n "$pids" ] || return 0
        # shellcheck disable=SC2086 # a list of numbers
        kill -KILL $pids 2>/dev/null
        sleep 0.1
    done
}

how_far() { # OUT: the last lines of whatever a case prints, and what still runs
    local file
    for file in console messages listener.out; do
        [ ! -s "$1/$file" ] || tail -c 400 "$1/$file" | tr -d '\r' | tail -n 2 | sed "s/^/$file: /"
    done
    for file in $(started_by_case); do echo "runs: $(tr '\0' ' ' <"/proc/$file/cmdline" | cut -c 1-100)"; done
}

run_case() { # INDEX; what it prints is the reason of a failure
    local out=$build/tests/qemu/${names[$1]} ends status=0
    rm -rf "$out"
    mkdir -p "$out"
    mark=MMIOSCOPE_TEST=$$.$RANDOM.$1
    (
        export "${mark?}"
        eval "${commands[$1]}"
    ) >"$out/why" 2>"$out/messages" </dev/null &
    pid=$!
    ends=$((SECONDS + 10 * limits[$1]))
    while kill -0 "$pid" 2>/dev/null; do
        if [ "$SECONDS" -gt "$ends" ]; then
            echo "took longer than $((10 * limits[$1])) s" >>"$out/why"
            how_far "$out" >>"$out/why"
            kill "$pid" 2>/dev/null
            end_case
        fi
        sleep 0.05
    done
    wait "$pid" || status=$?
    pid=
    sleep 0.1 # QEMU is killed by the kernel when mmioscope ends, which takes a moment
    if [ -n "$(started_by_case)" ]; then
        echo "left processes running: $(started_by_case | xargs)" >>"$out/why"
        end_case
        status=1
    fi
    [ "$status" = 0 ] || [ -s "$out/why" ] || tail -n 1 "$out/messages" >>"$out/why"
    [ "$status" = 0 ] && [ ! -s "$out/why" ]
}

say_how_it_went() { # INDEX
    local name=${names[$1]} start=${EPOCHREALTIME/[.,]/} tenths
    if run_case "$1"; then
        # Nobody needs the large files of a case that passed.
        rm -f "$build/tests/qemu/$name"/*.mmio "$build/tests/qemu/$name"/access.log
        tenths=$(((${EPOCHREALTIME/[.,]/} - start) / 100000))
        echo "ok $name ($((tenths / 10)).$((tenths % 10)) s)"
    else
        printf 'FAILED %s %s\n' "$name" "$(head -n 1 "$build/tests/qemu/$name/why")"
        sed 's/^/    /' "$build/tests/qemu/$name/why" | sed -n '2,12p'
    fi
}

# Runs the cases whose indices come on descriptor 3, one per line, one after the other; other lanes take from it, too.
lane() { # [CPU]
    local index own=$results.$BASHPID
    pid=
    trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; [ -z "$mark" ] || end_case; rm -f "$own"' EXIT
    trap 'exit 130' INT TERM HUP
    exec 4>>"$results.lock"
    [ -z "${1-}" ] || taskset -pc "$1" "$BASHPID" >/dev/null
    while flock 4 && read -r index <&3; do
        flock -u 4
        say_how_it_went "$index" >"$own" 3<&- 4<&-
        tee -a "$results" <"$own"
    done
}

results=${kept:-$build/tests/qemu/results}
mkdir -p "$build/tests/qemu" "${results%/*}"
[ -n "$kept" ] || : >"$results"
touch "$results"
sed -i '/^ok /!d' "$results"
in_turn=() at_once=()
for i in "${chosen[@]}"; do
    if grep -q "^ok ${names[i]} " "$results"; then continue; fi
    if [[ ${commands[i]} = *on_all_cpus\ * || ${#chosen[@]} -eq 1 ]]; then in_turn+=("$i"); else at_once+=("$i"); fi
done
# So that the last ones end at about the same time.
longest_first() { for i; do echo "${limits[i]} $i"; done | sort -rsnk1,1 | cut -d' ' -f2; }
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
trap 'exit 130' INT TERM HUP
lane 3< <(longest_first "${in_turn[@]}") &
wait $!
exec 3< <(longest_first "${at_once[@]}")
for cpus in $(taskset -pc $$ | sed 's/.*: //' | tr , ' '); do
    for ((cpu = ${cpus%-*}; cpu <= ${cpus#*-}; ++cpu)); do lane $cpu & done
done
wait
passed=$(grep -c '^ok ' "$results") failed=$(grep -c '^FAILED ' "$results")
echo "integration: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" = ${#chosen[@]} ]
