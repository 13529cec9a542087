# `mmioscope polls` on boots of kernels other than 6.1, with their modules.
# shellcheck shell=bash disable=SC2154

# All loops that it shows were labelled by hand, and most of them wait; of loops that are put into the trace it finds most.
polls_judged() { # GUEST
    run_linux '' --no-print --kernel "$1/vmlinuz" --initrd "$1/initrd.img"
    complete
    [ "$(events_of mmc@50000 reads)" -ge 262144 ] || fail "the card was not read"
    tests/polls/judge.py "$build" "$out/trace.mmio" --loops 100 --tell >"$out/judge" || fail "judge: $(xargs <"$out/judge")"
    advised
}

for suite in bullseye trixie; do # 5.10 and 6.12
    add nightly polls-$suite 60 with_guest $suite polls_judged
done
