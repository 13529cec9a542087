# Runs cases in parallel, one for each CPU, for scripts that source this. `begin COMMAND...` starts one as soon as a CPU
# is free, `ended` waits for all. The output of each one is printed as a whole, in the order in which they were begun;
# `passed` and `failed` count by exit status.
# shellcheck shell=bash
passed=0 failed=0 begun=0 told=0
cpus=$(nproc)
said=$(mktemp -d)
set -m # each is a process group of its own: what ends this ends what they started
# shellcheck disable=SC2154 # a variable of its own
trap 'for pid in $(jobs -p); do kill -- "-$pid"; done 2>/dev/null; rm -rf "$said"' EXIT

begin() {
    while [ "$(jobs -rp | wc -l)" -ge "$cpus" ]; do
        wait -n
        tell
    done
    { "$@" >"$said/$begun" 2>&1 </dev/null; echo $? >"$said/$begun.status"; } &
    begun=$((begun + 1))
}

tell() { # of those that have ended, up to the first one that has not
    while [ -s "$said/$told.status" ]; do
        cat "$said/$told"
        if [ "$(cat "$said/$told.status")" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
        told=$((told + 1))
    done
}

ended() {
    wait
    tell
    failed=$((failed + begun - told)) # those that left no status
}
