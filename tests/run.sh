#!/bin/bash
# Runs the suites of one tier and adds up what they say. Usage: tests/run.sh test|fuzz|nightly|...
# Prints the seconds of each suite, warns when one takes longer than its share, and ends with the line
# "N passed, N failed". Exit status 0 only if something passed and nothing failed.
set -u
cd "$(dirname "$0")/.." || exit 1
tier=${1:-test}
build=build
passed=0 failed=0
trap 'kill $(jobs -p) 2>/dev/null' EXIT
SOAK_MINUTES=${SOAK_MINUTES:-60}

# suite NAME SHARE-IN-SECONDS COMMAND...: the command's last line "... N passed, N failed" counts; without
# one, or with an exit status that contradicts it, the suite itself has failed.
suite() {
    local name=$1 share=$2 start=$SECONDS
    shift 2
    mkdir -p "$build/tests"
    echo "== $name"
    "$@" 2>&1 | tee "$build/tests/$name.log"
    count "$name" "$share" "${PIPESTATUS[0]}" $((SECONDS - start))
}

# built NAME SHARE TARGET...: what suites need. It passes nothing, and fails if it cannot be made.
built() {
    local name=$1 share=$2 start=$SECONDS
    shift 2
    echo "== $name"
    make --no-print-directory -j2 "$@" || { echo "FAILED $name"; failed=$((failed + 1)); }
    took "$name" "$share" $((SECONDS - start))
}

# beside NAME COMMAND...: a suite that keeps one CPU busy, beside another one that does. `joined` waits for it.
beside() {
    local log=$build/tests/$1.log start=$SECONDS
    shift
    mkdir -p "$build/tests"
    { "$@" >"$log" 2>&1; echo "$? $((SECONDS - start))" >"$log.ended"; } &
}
joined() { # NAME SHARE
    local status seconds
    wait
    echo "== $1, beside the last one"
    cat "$build/tests/$1.log"
    read -r status seconds <"$build/tests/$1.log.ended"
    count "$1" "$2" "$status" "$seconds"
}

count() { # NAME SHARE STATUS SECONDS: adds up what the suite's log says
    local name=$1 share=$2 status=$3 seconds=$4 counts
    counts=$(grep -oE '[0-9]+ passed, [0-9]+ failed' "$build/tests/$name.log" | tail -n 1)
    if [ -z "$counts" ] || { [ "$status" != 0 ] && [[ $counts == *" 0 failed" ]]; }; then
        echo "FAILED suite $name: exit status $status"
        counts="${counts%% *}"; counts="${counts:-0} passed, 1 failed"
    fi
    passed=$((passed + ${counts%% *}))
    counts=${counts#*, }
    failed=$((failed + ${counts%% *}))
    took "$name" "$share" "$seconds"
}

took() { # NAME SHARE SECONDS
    echo "-- $1: $3 s of $2 s"
    [ "$3" -le "$2" ] || echo "warning: suite $1 took $3 s, its share is $2 s"
}

# catch BINARY [ARGS...]: a Catch2 binary, with its closing words in this runner's form.
catch() {
    local out=$build/tests/$(basename "$1").catch status total bad
    "$@" 2>&1 | tee "$out"
    status=${PIPESTATUS[0]}
    total=$(sed -nE 's/^All tests passed \(.* in ([0-9]+) test cases?\)$/\1/p; s/^test cases: +([0-9]+) .*/\1/p' "$out" | tail -n 1)
    bad=$(sed -nE 's/^test cases: .* ([0-9]+) failed.*/\1/p' "$out" | tail -n 1)
    [ "$status" = 0 ] || bad=${bad:-1}
    echo "$(basename "$1"): $((${total:-0} - ${bad:-0})) passed, ${bad:-0} failed"
    return "$status"
}

fuzzers() { built fuzzers 240 fuzzers; }
build_all() { built build 240 tests; }

case $tier in
test)
    build_all
    suite layout 5 tests/layout.sh "$build"
    suite man 5 tests/man/man.sh "$build"
    suite completion 3 tests/completion/completion.sh "$build"
    suite model 20 tests/model/run.sh "$build" test
    beside fuzz tests/fuzz/run.sh "$build" 20 wire
    suite unit 90 catch "$build/tests/unit"
    joined fuzz 25
    suite mutants 60 tests/mutants/run.py "$build"
    beside decoder "$build/tests/decoder"
    suite host-tools 30 catch "$build/tests/host-tools"
    joined decoder 30
    suite costs 40 tests/bench/costs.py "$build" --short
    suite export 60 tests/export/run.sh "$build"
    suite integration 700 tests/qemu/run.sh --tier test
    ;;
nightly)
    build_all
    built 'each file by itself' 600 UNITS=files BUILD=build/files host-tools
    suite model 900 tests/model/run.sh "$build" nightly
    suite decoder 600 "$build/tests/decoder" 100000000
    MMIOSCOPE_SEEDS=50 suite unit 1800 catch "$build/tests/unit"
    MMIOSCOPE_SEEDS=10 suite host-tools 900 catch "$build/tests/host-tools"
    suite mutants 40 tests/mutants/run.py "$build"
    fuzzers
    suite fuzz 250 tests/fuzz/run.sh "$build" 20
    suite integration 10000 tests/qemu/run.sh --tier nightly
    ;;
fuzz)
    fuzzers
    suite fuzz 6000 tests/fuzz/run.sh "$build" "${FUZZ_SECONDS:-600}"
    ;;
soak)
    build_all
    suite soak $((SOAK_MINUTES * 60 + 300)) tests/soak.sh "$SOAK_MINUTES"
    ;;
prove)
    contrib/install-packages.sh tests/prove/packages.txt || exit 1
    built build 60 test-guests pc-log call-log
    suite prove 900 tests/prove/prove.sh "$build"
    ;;
bench)
    built build 240 host-tools host-bench
    suite costs 600 tests/bench/costs.py "$build"
    suite host-bench 60 tests/bench/host.sh "$build"
    suite bench-capture 120 tests/bench/capture.sh "$build"
    suite bench-exports 2400 tests/bench/exports.sh "$build"
    suite bench 300 tests/bench.sh "$build"
    ;;
*)
    echo "tests/run.sh: no tier '$tier'; there are: test, fuzz, nightly, soak, prove, bench" >&2
    exit 2
    ;;
esac

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
