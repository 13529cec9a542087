# Records that own the ones behind them (hyp/abi/payload.hpp): a test's service (tests/payload/) gives the stores of two CPUs
# a payload that follows from the stored value, and a judge compares each byte, whatever is lost.
# shellcheck shell=bash disable=SC2154

judged() { # [--whole] TRACE: with the judge's line in $out/judged
    "$build/tests/payload-judge" "$@" >"$out/judged" || fail "$(head -n 1 "$out/judged")"
}
# Of the payloads in the last judged trace, how many were WHAT: whole, or without some part.
judged_count() { grep -oE "[0-9]+ (payloads )?$1" "$out/judged" | grep -oE '^[0-9]+'; }

payloads() { # ENGINE POLICY ARGUMENT...: the guest, in smallest rings
    run_bare payloads --cpus 2 --hypervisor "$build/tests/payload/hyp-88000000.elf" --engine "$1" --policy "$2" \
        --area-size 512K "${@:3}"
}

pid_of_reader() { pid=$(cat "$out/reader.pid" 2>/dev/null) && [ -n "$pid" ]; }
# Half of the time nobody reads, until the run ends: the rings are full at any place of a group.
read_now_and_then() {
    until_true 20 pid_of_reader || fail "no reader: $(tail -n 1 "$out/stderr")"
    while kill -STOP "$pid" 2>/dev/null; do
        sleep 0.1
        kill -CONT "$pid"
        sleep 0.1
    done
}

# A loss is a loss of whole groups under drop, none under stall, and of any part under flight; `check` says so.
as_policy_says() { # POLICY
    local words
    "$mmioscope" check "$out/trace.mmio" >"$out/check" || true
    case $1 in
    stall)
        complete
        has check ': sound: '
        "$mmioscope" print --limit 2000 "$out/trace.mmio" >"$out/print" 2>/dev/null || fail "print: exit status $?"
        has print ' cpu[01] payload of [0-9]+ at 0: ([0-9a-f]{2})+$'
        judged --whole "$out/trace.mmio"
        ;;
    drop)
        exits_with 1
        has check ': lossy: '
        judged --whole "$out/trace.mmio"
        ;;
    flight)
        exits_with 1
        has check ': lossy: '
        judged "$out/trace.mmio"
        words=$(($(judged_count 'without their beginning') + $(judged_count 'without a piece between') +
            $(judged_count 'without their end')))
        [ "$words" = 0 ] || has check "[0-9]+ payloads lack a part, the first at record [0-9]+"
        ;;
    esac
}

payload_over_memory() { # ENGINE POLICY
    if [ "$2" = stall ]; then
        payloads "$1" "$2"
    else
        # shellcheck disable=SC2016 # for the other shell
        printf '#!/bin/sh\necho $$ >"$0.pid"\nexec "%s" "$@"\n' "$mmioscope" >"$out/reader"
        chmod +x "$out/reader"
        rm -f "$out/reader.pid"
        (mmioscope=$out/reader; payloads "$1" "$2"; exit "$status") &
        read_now_and_then
        status=0
        wait $! || status=$?
    fi
    as_policy_says "$2"
}

# Two readers of the same rings get the same records, bit by bit; a damaged wire lacks parts of groups.
payload_over_stream() { # ENGINE POLICY
    local size at
    if [ "$2" != stall ]; then
        payloads "$1" "$2" --stream serial2
        as_policy_says "$2"
        return
    fi
    payloads "$1" "$2" --stream serial2 --stream-file "$out/wire" --stream-beside --stream-quantum 0
    as_policy_says "$2"
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 ||
        fail "record: $(tail -n 1 "$out/recorded")"
    "$build/tests/same-records" "$out/trace.mmio" "$out/recorded.mmio" >"$out/same" || fail "$(cat "$out/same")"
    "$build/tests/every-byte" "$out/wire" >"$out/damages" 2>&1 || fail "$(head -n 1 "$out/damages")"
    size=$(stat -c %s "$out/wire")
    for ((at = 1; at < 50; ++at)); do
        printf '\125' | dd of="$out/wire" bs=1 seek=$((size * at / 50)) conv=notrunc 2>/dev/null
    done
    status=0
    "$mmioscope" record "$out/wire" -o "$out/damaged.mmio" >"$out/recorded" 2>&1 || status=$?
    exits_with 1
    judged "$out/damaged.mmio"
    [ "$(judged_count 'without their beginning')" -gt 0 ] && [ "$(judged_count 'without their end')" -gt 0 ] ||
        fail "no group lacks its beginning, or its end: $(cat "$out/judged")"
    "$mmioscope" check "$out/damaged.mmio" >"$out/check" || true
    has check "[0-9]+ payloads lack a part, the first at record [0-9]+"
    has check ': lossy: '
}

payload_with() { # POLICY ENGINE...
    local engine policy=$1
    shift
    for engine; do
        payload_over_memory "$engine" "$policy"
        payload_over_stream "$engine" "$policy"
    done
}

add test payload-drop 40 payload_with drop emulation shadow
add test payload-stall 40 payload_with stall shadow
add nightly payload-stall-emulation 40 payload_with stall emulation
add test payload-flight 40 payload_with flight emulation shadow
