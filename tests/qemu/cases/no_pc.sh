# --no-pc: no address of code, none used by code, and no name for such an address, in any output. QEMU only makes the
# stream of a board.
# shellcheck shell=bash disable=SC2154 # out, build, mmioscope: from run.sh and lib.sh

no_pc_text() {
    cat <<'END'
about recorded-by=mmioscope run --symbols x.ko@0xbf7345ab --kernel zImage
about at-start=filter pc 0xc0512abc+0x8
about kernel=zImage
device serial0 0x1c090000 0x1000 arm,pl011
code 0xc0512300 0x100 secret_putc
code 0xc0623400 0x100 secret_write
code 0xbf734500 0x100 secret_request hidden
task 0xc1234000 1234 sh
0.1 cpu0 R2 0x1c090018 0x90 pc=0xc0512344 lr=0xc0623456 sp=0xe5f41d58 va=0xf5ab3018 task=0xc1234000
0.2 cpu1 W2 0x1c090000 0x20 pc=0xbf734568 lr=0xc0623456 sp=0xe5f41d58 va=0xf5ab3000 task=0xc1234000
0.3 cpu1 R2 0x1c090018 ? pc=0xc0512344 lr=0xc0623456 sp=0xe5f41d58 va=0xf5ab3018
0.4 cpu0 fault value=8 pa=0x1c090020 pc=0xc0512378 lr=0xc0623456 sp=0xe5f41d58 va=0xf5ab3020
0.5 cpu0 R4 0x1c090040 ? type=8 pa=0x8d51a134 pc=0xc0512378
0.6 cpu0 R2 0x1c090018 ? type=2 pc=0xc0512378 lr=0xc0623456 sp=0xe5f41d58 va=0xf5ab3018
0.7 cpu1 power value=1 pa=0x8e51a248
0.8 cpu0 configuration value=0x1000c0512300 pa=11
END
}
no_pc_words=(secret_putc secret_write secret_request hidden secret_note 0xc0512344 0xc0512378 0xbf734568 0xc0623456 0xe5f41d58
    0xf5ab3018 0xf5ab3000 0x8d51a134 0x8e51a248 0xc0512300 0xbf7345ab 0xc0512abc)

# no_pc_way NAME "WORDS that are there without the option" ARGUMENT...: replaces OUT and TRACE.
no_pc_way() {
    local name=$1 expected=$2 option output word
    shift 2
    for option in "" --no-pc; do
        output=$out/$name$option
        local arguments=("${@//TRACE/$out/trace.mmio}")
        # shellcheck disable=SC2086 # none is none
        timeout 20 "$mmioscope" "${arguments[@]//OUT/$output}" $option >"$output.said" 2>"$out/stderr" || fail "$name $option: $(last_words)"
        [ -e "$output" ] || mv "$output.said" "$output"
    done
    tests/qemu/code_in.py "$out/$name" "${no_pc_words[@]}" >"$out/found"
    for word in $expected; do has found "^$word\$" "$name has no $word"; done
    tests/qemu/code_in.py "$output" "${no_pc_words[@]}" >"$out/found"
    [ ! -s "$out/found" ] || fail "$name --no-pc has $(xargs <"$out/found")"
    [ -s "$output" ] || fail "$name --no-pc is empty"
}

no_pc() {
    no_pc_text >"$out/text"
    "$build/tests/trace-of-text" "$out/text" "$out/trace.mmio" || fail "trace-of-text failed"
    local names="secret_putc secret_write secret_request hidden"
    local addresses="0xc0512344 0xc0512378 0xbf734568 0xc0623456 0xe5f41d58 0xf5ab3018"
    "$mmioscope" note "$out/trace.mmio" 2 'secret_note' || fail "note: exit status $?"
    no_pc_way print "$names secret_note 0x8e51a248 0xc0512300" print --all TRACE
    no_pc_way raw "0xc0512344 0xbf734568" print --raw TRACE
    no_pc_way follow "$names" follow TRACE
    no_pc_way stat "$names" stat --limit 0 TRACE
    no_pc_way top "secret_putc secret_request hidden" top --once --by function TRACE
    no_pc_way advise "secret_putc" advise TRACE
    no_pc_way mappings "secret_putc 0xf5ab3000" stat --mappings TRACE
    no_pc_way print-jsonl "$names $addresses" print --format jsonl TRACE
    no_pc_way print-csv "$names $addresses" print --format csv TRACE
    no_pc_way jsonl "$names $addresses 0x8d51a134 0xbf7345ab 0xc0512abc" export --as jsonl -i TRACE -o OUT
    no_pc_way csv "$names secret_note $addresses 0x8d51a134" export --as csv -i TRACE -o OUT
    no_pc_way sqlite "$names $addresses 0x8d51a134" export --as sqlite -i TRACE -o OUT
    no_pc_way ctf "$names $addresses 0x8d51a134" export --as ctf -i TRACE -o OUT
    no_pc_way perfetto "$names 0xc0512344 0xbf734568" export --as perfetto -i TRACE -o OUT
    no_pc_way mmiotrace "0xc0512344 0xbf734568 0xf5ab3000" export --as mmiotrace -i TRACE -o OUT
    no_pc_way mmio "$addresses 0x8d51a134 0x8e51a248 0xc0512300 0xbf7345ab 0xc0512abc" export --as mmio -i TRACE -o OUT
    has jsonl--no-pc '"text:kernel":"zImage"'
    # info shows code addresses only in the recorder's own command line.
    "$mmioscope" info "$out/trace.mmio" | grep -vE '^(recorded-by|at-start) ' >"$out/info"
    has info '^kernel +zImage$'
    [ -z "$(tests/qemu/code_in.py "$out/info" "${no_pc_words[@]}")" ] || fail "info tells of code"
    no_pc_recorded
}

# What record prints while it records: names of code from a file, PCs, and a filter by PC.
no_pc_recorded() {
    run_bare neighbours --stream serial2 --stream-file "$out/wire" --at-start 'filter pc 0x82fedcb8+0x100000'
    complete
    echo '83000000 T secret_guest' >"$out/kallsyms"
    local pcs
    mapfile -t pcs < <("$mmioscope" print --all --raw "$out/trace.mmio" | grep -oE ' pc 0x83[0-9a-f]{6}' | sed 's/ pc //' | sort -u | head -n 20)
    no_pc_words=(secret_guest 0x82fedcb8 "${pcs[@]}")
    no_pc_way record "secret_guest 0x82fedcb8" record -f --all --symbols "$out/kallsyms" "$out/wire"
    no_pc_way record-raw "0x82fedcb8 ${pcs[*]}" record -f --all --raw "$out/wire"
}

add test no-pc 15 no_pc
