#!/bin/bash
# Runs the suites of one tier and adds up their results. Usage: tests/run.sh test|fuzz|nightly|...
# Prints the seconds of CPU time of each suite, warns when one takes more than its share, repeats what failed, and ends with
# the line "N passed, N failed". Exit status 0 only if something passed and nothing failed. nightly takes hours, and
# continues where it stopped: what has passed for this commit is kept in build/nightly/COMMIT/. SUITES='diff polls' in the
# environment runs only these.
set -u
cd "$(dirname "$0")/.." || exit 1
tier=${1:-test}
build=build
lanes=() # PIDs of what runs beside
results=$build/tests/results   # a line for each suite: passed, failed
failures=$build/tests/failures # what failed, as the suites said it
mkdir -p "$build/tests"
: >"$results"
: >"$failures"
trap 'kill $(jobs -p) 2>/dev/null' EXIT
SOAK_MINUTES=${SOAK_MINUTES:-60}
export XDG_CACHE_HOME=$PWD/$build/tests/cache # of mmioscope run, not the user's

wanted() { [ -z "${SUITES-}" ] || [[ " $SUITES " == *" $1 "* ]]; } # SUITE

spend() { # sets `spent` to the seconds of CPU time that this shell's children have taken, and theirs
    local fields
    read -ra fields <"/proc/$BASHPID/stat" # proc(5): cutime and cstime, in hundredths
    spent=$(((fields[15] + fields[16]) / 100))
}

# suite NAME SHARE-IN-SECONDS COMMAND...: the command's last line "... N passed, N failed" counts. Without one, or with
# an exit status that contradicts it, the suite itself has failed.
suite() {
    local name=$1 share=$2 start=$SECONDS before spent
    spend
    before=$spent
    shift 2
    wanted "$name" || return 0
    if [ -n "$kept" ] && [ -s "$kept/$name" ]; then
        echo "== $name: passed on $(date -r "$kept/$name" '+%F %R'), $(awk '{ print $1 }' "$kept/$name") passed"
        cat "$kept/$name" >>"$results"
        return
    fi
    echo "== $name"
    "$@" 2>&1 | tee "$build/tests/$name.log"
    count "$name" "${PIPESTATUS[0]}"
    took
}

# failed WHAT: one failure outside a suite's own tests.
failed() {
    echo "FAILED $1" | tee -a "$failures"
    echo 0 1 >>"$results"
}

# built NAME SHARE TARGET...: builds what suites need. It passes nothing, and fails if the build fails.
built() {
    local name=$1 share=$2 start=$SECONDS before spent
    spend
    before=$spent
    shift 2
    echo "== $name"
    make --no-print-directory -j2 "$@" || failed "build of $name"
    took
}

# beside COMMAND...: runs these, as many at a time as there are CPUs, when a CPU has nothing else to do; QEMU's cases leave
# half of the time of two. `joined` waits for them, and prints their output.
beside() {
    local command cpu n=0
    rm -f "$build"/tests/beside.*.log
    exec 3< <(printf '%s\n' "$@") 4>"$build/tests/beside.lock"
    for ((cpu = 0; cpu < $(nproc); ++cpu)); do
        {
            chrt --idle --pid 0 "$BASHPID"
            while flock 4 && read -r command <&3; do
                flock -u 4
                eval "$command" >"$build/tests/beside.$BASHPID.$((++n)).log" 2>&1 3<&- 4>&-
            done
            true
        } &
        lanes+=($!)
    done
    exec 3<&- 4>&-
}
joined() {
    local pid
    for pid in "${lanes[@]}"; do
        wait "$pid" || failed "what runs beside: killed"
        cat "$build/tests/beside.$pid".*.log
    done
}

count() { # NAME STATUS: adds up what the suite's log says
    local name=$1 status=$2 counts
    counts=$(grep -oE '[0-9]+ passed, [0-9]+ failed' "$build/tests/$name.log" | tail -n 1)
    if [ -z "$counts" ] || { [ "$status" != 0 ] && [[ $counts == *" 0 failed" ]]; }; then
        echo "FAILED suite $name: exit status $status" | tee -a "$failures"
        counts="${counts%% *}"; counts="${counts:-0} passed, 1 failed"
    fi
    grep -E '^FAILED |  FAILED: ' "$build/tests/$name.log" >>"$failures"
    counts=$(sed -E 's/([0-9]+) passed, ([0-9]+) failed/\1 \2/' <<<"$counts")
    echo "$counts" >>"$results"
    [ -z "$kept" ] || [[ $counts != *" 0" ]] || echo "$counts" >"$kept/$name"
}

took() { # what `suite` and `built` have noted
    spend
    echo "-- $name: $((spent - before)) s of $share s, in $((SECONDS - start)) s"
    [ $((spent - before)) -le "$share" ] || echo "warning: suite $name took $((spent - before)) s of CPU time, its share is $share s"
}

# catch BINARY [ARGS...]: runs a Catch2 binary, with its summary in this runner's format.
catch() {
    local out=$build/tests/${1##*/}.catch status total bad
    "$@" 2>&1 | tee "$out"
    status=${PIPESTATUS[0]}
    total=$(sed -nE 's/^All tests passed \(.* in ([0-9]+) test cases?\)$/\1/p; s/^test cases: +([0-9]+) .*/\1/p' "$out" | tail -n 1)
    bad=$(sed -nE 's/^test cases: .* ([0-9]+) failed.*/\1/p' "$out" | tail -n 1)
    # Without a summary it was ended by a signal or a sanitizer.
    [ -n "$total" ] || total=1 bad=1
    [ "$status" = 0 ] || bad=${bad:-1}
    # A test case's name stands between two lines of dashes, in front of what failed in it.
    awk -v suite="${1##*/}" '/^---+$/ { inside = !inside; if (inside && getline > 0) name = $0; next }
        /: FAILED:$/ { print "FAILED " suite ": " name " (" $1 ")" }' "$out"
    echo "${1##*/}: $((total - ${bad:-0})) passed, ${bad:-0} failed"
    return "$status"
}

# Results from here on are kept by commit; a tree with changes has none.
kept=
keep_results() {
    commit=$(git rev-parse HEAD 2>/dev/null) && [ -z "$(git status --porcelain)" ] || return 0
    kept=$build/nightly/$commit
    mkdir -p "$kept"
    date '+%F %R' >>"$kept/sittings"
}

fuzzers() { ! wanted fuzz || built fuzzers 240 fuzzers; }
build_all() { built build 1000 tests; }

# What diff must find at least, of each class of faults; of the made-up boots' writes more are data.
made_shares=value=0.9,register=0.95,swap=0.5,drop=0.9,drop-event=0.7
real_shares=value=0.9,register=0.95,swap=0.85,drop=0.95,drop-event=0.85
# Of ten faults in modules; some change nothing, because the register holds the same value.
module_shares=named=0.8,first=0.7,few=0.8

loops_in_made_boots() { # COUNT
    tests/diff/made_boots.py "$build" "$build/tests/polls" 4
    tests/polls/judge.py "$build" "$build"/tests/polls/*.mmio --per-trace 5 --loops "$1" --seed "$(git rev-parse HEAD 2>/dev/null)"
}

# In the boots of the suite before.
faults_to_be_advised() {
    tests/advise/judge.py "$build" "$build"/tests/polls/*.mmio --ends 40 --loops 40 --seed "$(git rev-parse HEAD 2>/dev/null)"
}

case $tier in
test)
    build_all
    # The longest first.
    beside 'MMIOSCOPE_SEEDS=0.5 suite host-tools 160 catch "$build/tests/host-tools"' \
        'MMIOSCOPE_SEEDS=0.25 suite unit 100 catch "$build/tests/unit"' \
        'suite mutants 120 tests/mutants/run.py "$build" --short' \
        'suite model 120 tests/model/run.sh "$build" test' \
        'suite costs 60 tests/bench/costs.py "$build" --short' \
        'suite export 60 tests/export/run.sh "$build"' \
        'suite decoder 30 "$build/tests/decoder"' \
        'suite plan 30 tests/plan/trees.py "$build"' \
        'suite svd 5 tests/svd/svd.py "$build"'
    suite layout 12 tests/layout.sh "$build"
    suite man 10 tests/man/man.sh "$build"
    suite completion 3 tests/completion/completion.sh "$build"
    suite readme 3 tests/readme/run.py "$build"
    suite commands 15 tests/commands/run.py "$build"
    suite page 60 node tests/page/run.mjs "$build" 1000000
    suite filters 15 node tests/page/filters.mjs "$build"
    suite diff 60 tests/diff/judge.py "$build" "$build/tests/diff" --made 12 --faults 20 --need "$made_shares"
    suite polls 15 loops_in_made_boots 200
    suite advise 20 faults_to_be_advised
    suite fleet 20 tests/fleet/run.py "$build"
    suite hyp-costs 60 tests/bench/hyp_costs.py "$build" --short
    suite integration 700 tests/qemu/run.sh --tier test
    joined
    ;;
nightly)
    keep_results
    build_all
    ! wanted files || built files 900 UNITS=files BUILD=build/files host-tools guest-program build/files/tests/host-tools build/files/tests/unit
    suite model 900 tests/model/run.sh "$build" nightly
    suite decoder 600 "$build/tests/decoder" 100000000
    MMIOSCOPE_SEEDS=5 suite unit 900 catch "$build/tests/unit"
    ! wanted unit-seeds || built unsanitized 240 UNIT_SANITIZERS= BUILD=build/unsanitized build/unsanitized/tests/unit
    MMIOSCOPE_SEEDS=50 suite unit-seeds 1200 catch build/unsanitized/tests/unit
    MMIOSCOPE_SEEDS=10 suite host-tools 900 catch "$build/tests/host-tools"
    suite new-kind 900 tests/host-tools/new_kind.sh "$build"
    suite mutants 600 tests/mutants/run.py "$build"
    fuzzers
    suite fuzz 250 tests/fuzz/run.sh "$build" 20
    suite integration 10000 tests/qemu/run.sh --tier nightly ${kept:+--kept "$kept/integration.cases"}
    # Fresh boots each night, and faults that the commit draws.
    suite diff 7200 tests/diff/judge.py "$build" "$build/tests/diff-boots/$(git rev-parse HEAD)" --record 60 --faults 100 --tell \
        --seed "$(git rev-parse HEAD)" --need "$real_shares"
    ! wanted real-changes || built guest-trixie 120 guest-trixie
    suite real-changes 1800 tests/diff/real_changes.py "$build" "$build/tests/diff-boots/$(git rev-parse HEAD)" --tell \
        --seed "$(git rev-parse HEAD)" --need "$module_shares"
    suite polls 300 tests/polls/judge.py "$build" "$build/tests/diff-boots/$(git rev-parse HEAD)"/*.mmio --loops 2000 --tell \
        --seed "$(git rev-parse HEAD)"
    suite advise 600 tests/advise/judge.py "$build" "$build/tests/diff-boots/$(git rev-parse HEAD)"/*.mmio --ends 200 --loops 300 \
        --faults 100 --tell --seed "$(git rev-parse HEAD)"
    suite fleet 300 tests/fleet/run.py "$build" 500
    suite page 240 node tests/page/run.mjs "$build" 10100000
    suite filters 60 node tests/page/filters.mjs "$build" 200000
    suite regs 60 tests/regs/judge.py "$build" "$build/tests/diff-boots/$(git rev-parse HEAD)"/*.mmio --tell
    suite score 60 tests/regs/score.py "$build" "$build/tests/diff-boots/$(git rev-parse HEAD)"/{1,2}.mmio \
        mmc=0.96 serial0=0.96 sysreg=0.96 ethernet=0.8
    suite debian 14400 tests/debian/run.sh "$build"
    [ -z "$kept" ] || echo "nightly of $commit: $(wc -l <"$kept/sittings") sittings since $(head -n 1 "$kept/sittings")"
    ;;
matrix)
    keep_results
    build_all
    cases=${kept:+$kept/matrix.cases}
    suite matrix 2400 tests/qemu/run.sh --tier matrix ${cases:+--kept "$cases"}
    tests/qemu/matrix.py "$build" "${cases:-$build/tests/qemu/results}" docs/boards.md || failed "table of the matrix"
    ;;
fuzz)
    fuzzers
    suite fuzz 6000 tests/fuzz/run.sh "$build" "${FUZZ_SECONDS:-600}"
    ;;
soak)
    build_all
    suite costs 1800 tests/bench/costs.py "$build" --long
    suite soak $((SOAK_MINUTES * 60 + 300)) tests/soak.sh "$SOAK_MINUTES"
    ;;
prove)
    contrib/install-packages.sh tests/prove/packages.txt || exit 1
    built build 60 test-guests pc-log call-log
    suite prove 900 tests/prove/prove.sh "$build"
    ;;
bench)
    built build 240 host-tools host-bench test-guests hyp-count guest-count
    suite costs 600 tests/bench/costs.py "$build"
    suite host-bench 60 tests/bench/host.sh "$build"
    suite bench-capture 120 tests/bench/capture.sh "$build"
    suite bench-exports 2400 tests/bench/exports.sh "$build"
    suite hyp-costs 300 tests/bench/hyp_costs.py "$build"
    suite guest-costs 240 tests/bench/guest_costs.py "$build"
    ;;
*)
    echo "tests/run.sh: no tier '$tier'; there are: test, fuzz, nightly, matrix, soak, prove, bench" >&2
    exit 2
    ;;
esac

cat "$failures"
read -r passed failed < <(awk '{ passed += $1; failed += $2 } END { print passed + 0, failed + 0 }' "$results")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
