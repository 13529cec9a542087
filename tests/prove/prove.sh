#!/bin/bash
# The experiment: the same guests under the baseline, which opens a page to all CPUs while one of them accesses it (like
# Linux mmiotrace), and under both engines, each compared with QEMU's own log of the run.
#
#   tests/prove/prove.sh BUILD [contention|drivers|boot...]
#
# Prints a table, and writes it to BUILD/prove/ (table.txt, results.tsv, missed.svg). Exit status 0 only if the engines
# do not differ from the log, and the baseline misses nothing on one CPU and much under contention: otherwise the
# experiment would show nothing. QEMU's log has no PCs: those of the shadow engine's rows are compared with a plugin's
# log (for a plugin, emulated accesses are not instructions of the guest; tests/instructions checks their PCs).
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:?usage: prove.sh BUILD [guest...]}
shift
guests=" ${*:-contention drivers boot} "
[[ $build = /* ]] || build=$PWD/$build
result=$build/prove
# shellcheck source=tests/qemu/lib.sh
source tests/qemu/lib.sh
accesses=${PROVE_ACCESSES:-200000} # of the contended page, by all CPUs
sd_copies=${PROVE_SD_COPIES:-8}    # of 1 MiB on the card, four bytes at a time

# The guests. Each runs on CPUS CPUs with the ARGUMENT...s that select the engine.
contention() { # CPUS ARGUMENT...
    # shellcheck disable=SC2034 # run_bare uses it
    local cpus=$1 board=virt
    shift
    # shellcheck disable=SC2046 # words
    run_bare hammer $(hammer_of $((accesses / cpus)) "$cpus") "$@"
}
drivers() { # CPUS ARGUMENT...
    local cpus=$1 copies=$sd_copies
    shift
    [ "$cpus" != 1 ] || copies=0
    run_linux "mmioscope.steps=all mmioscope.sd_copies=$copies" --no-print --cpus "$cpus" \
        --time-limit 900 "$@"
}
boot() { # CPUS ARGUMENT...
    # shellcheck disable=SC2034
    local cpus=$1 board=virt
    shift
    run_linux mmioscope.steps=none --no-print --cpus "$cpus" "$@"
}

# One row: runs it, compares it, prints it, judges it. A row of results.tsv: guest, CPUs, engine, and the numbers of the
# table.
row() { # GUEST CPUS ENGINE
    local guest_name=$1 cpus=$2 engine=$3 line pcs=- plugin=()
    out=$result/$1-$2-$3
    rm -rf "$out"
    mkdir -p "$out"
    [ "$engine" != shadow ] || mapfile -t plugin < <(pc_log_arguments)
    "$guest_name" "$cpus" --engine "$engine" --trace all --policy stall --access-log "$out/access.log" "${plugin[@]}"
    "$mmioscope" verify --counts "$out/trace.mmio" "$out/access.log" >"$out/counts" 2>"$out/verify" || true
    "$mmioscope" print --summary --shares "$out/trace.mmio" >"$out/summary" 2>&1 || true
    line=$(awk -v guest="$guest_name" -v cpus="$cpus" -v engine="$engine" '{
        for (i = 1; i < NF; i += 2) n[$i] = $(i + 1)
        other = n["extra"] + n["size"] + n["direction"] + n["address"] + n["unreadable"]
        OFS = "\t"
        print guest, cpus, engine, n["log"], n["trace"], n["missing"], n["order"], n["cpu"], n["value"], other
    }' "$out/counts")
    [ -n "$line" ] || line="$guest_name	$cpus	$engine	0	0	0	0	0	0	0"
    [ "$engine" != shadow ] || pcs=$(wrong_pcs)
    line+=$'\t'$pcs
    echo "$line" >>"$result/results.tsv"
    show "$line" | tee -a "$result/table.txt"
    judge "$line"
    [ "$guest_name $cpus" != "drivers 2" ] || share_of_fifo "$out/trace.mmio" >"$out/fifo"
    rm -f "$out/trace.mmio" "$out/access.log" "$out/pc.log"
}

wrong_pcs() { # a number, or none
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" --pc-log "$out/pc.log" >"$out/verify-pcs" 2>&1 || true
    sed -nE 's/^verify: [1-9][0-9]* PCs compared, ([0-9]+) difference.*/\1/p' "$out/verify-pcs" | grep . || echo none
}

show() { # ROW
    local guest_name cpus engine log logged missed order cpu value other pc percent
    IFS=$'\t' read -r guest_name cpus engine log logged missed order cpu value other pc <<<"$1"
    percent=$(awk -v m="$missed" -v l="$log" 'BEGIN { printf "%.1f", l ? 100 * m / l : 0 }')
    printf '%-11s %4s  %-10s %10s %10s %10s %7s %10s %9s %11s %6s %8s\n' "$guest_name" "$cpus" "$engine" "$log" \
        "$logged" "$missed" "$percent%" "$order" "$cpu" "$value" "$other" "$pc"
}

passed=0 failed=0
judge() { # ROW
    local guest_name cpus engine log logged missed order cpu value other pc why=
    IFS=$'\t' read -r guest_name cpus engine log logged missed order cpu value other pc <<<"$1"
    if [ "$log" = 0 ] || ! said_done; then
        why="the run failed: $(last_words)"
    elif [ "$engine" != unprotect ]; then
        [ $((missed + order + cpu + value + other)) = 0 ] || why="differs from QEMU's log: $(cat "$out/counts")"
        [ "$pc" = 0 ] || [ "$engine-$pc" = emulation-- ] || why="PCs: $(tail -n 2 "$out/verify-pcs" | head -n 1)"
        grep -q '^complete: ' "$out/stdout" || why="$(tail -n 1 "$out/stdout")"
    elif [ "$guest_name" = contention ]; then
        if [ "$cpus" = 1 ]; then [ "$missed" = 0 ] || why="the baseline misses events without contention"
        else [ $((missed * 3)) -gt "$log" ] || why="the baseline misses less than a third: this shows little"; fi
    fi
    if [ -z "$why" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED $guest_name $cpus $engine: $why"
    fi
}
said_done() { grep -Eq '^(guest|mmioscope-guest): done' "$out/console"; }

rm -rf "$result"
mkdir -p "$result"
printf '%-11s %4s  %-10s %10s %10s %10s %7s %10s %9s %11s %6s %8s\n' guest CPUs engine "QEMU's log" trace missed "" \
    misordered "wrong CPU" "wrong value" other "wrong PC" | tee "$result/table.txt"
rows() { # GUEST CPUS...
    local guest_name=$1 cpus engine
    shift
    [[ $guests == *" $guest_name "* ]] || return
    for cpus in "$@"; do
        for engine in unprotect shadow emulation; do row "$guest_name" "$cpus" $engine; done
    done
}
rows contention 1 2 4
rows drivers 1 2
rows boot 4
echo
grep -h -m 1 '^device .* longest pause' "$result"/contention-4-shadow/summary 2>/dev/null | tee "$result/shares.txt"
for engine in shadow emulation; do
    [ ! -d "$result/contention-4-$engine" ] || sed -n "s/^intc@.* [0-9.]*% .*/& $engine/p" \
        "$result/contention-4-$engine/summary" | tee -a "$result/shares.txt"
    [ ! -f "$result/drivers-2-$engine/fifo" ] ||
        echo "drivers, 2 CPUs, $engine: $(cat "$result/drivers-2-$engine/fifo")" | tee -a "$result/shares.txt"
done
gnuplot -e "results='$result/results.tsv'; plot_file='$result/missed.svg'" tests/prove/missed.gnuplot ||
    { failed=$((failed + 1)); echo "FAILED plot"; }
echo "table, results and plot: $result"
echo "prove: $passed passed, $failed failed"
[ "$failed" = 0 ]
