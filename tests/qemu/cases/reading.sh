# Reading traces: compressed, by ranges of time, by the user's own programs; their faults; and the installation.
# shellcheck shell=bash disable=SC2154,SC2034 # out, build: from run.sh; status: read in lib.sh

reading_trace() { "$build/tests/long-trace" "$out/trace.mmio" "${1:-100000}" "${@:2}" || fail "long-trace"; }

# reading_check STATUS PATTERN FILE...: compares the last line of `mmioscope check`, and its exit status.
reading_check() {
    local expected=$1 pattern=$2
    status=0
    shift 2
    timeout 20 "$mmioscope" check "$@" >"$out/stdout" 2>"$out/stderr" || status=$?
    exits_with "$expected"
    has stdout "$pattern"
}

# Generated and hand-made traces through check: each state has its word and its exit status.
reading_check_command() {
    reading_trace
    reading_check 0 'trace.mmio: sound: 100000 records in [0-9]+ sections, 0 lost$' "$out/trace.mmio"
    [ "$(wc -l <"$out/stdout")" = 1 ] || fail "more than the verdict"
    zstd -q "$out/trace.mmio" -o "$out/trace.zst"
    reading_check 0 'trace.zst: sound: 100000 records' "$out/trace.zst"
    head -c 3000000 "$out/trace.mmio" >"$out/cut.mmio"
    reading_check 1 'cut.mmio: cut: 46[0-9]+ records' "$out/cut.mmio"
    cp "$out/trace.mmio" "$out/flipped.mmio"
    printf x | dd of="$out/flipped.mmio" bs=1 seek=2000000 conv=notrunc status=none
    reading_check 1 'flipped.mmio: section at byte [0-9]+ \([0-9]+ bytes\) is damaged: skipped' "$out/flipped.mmio"
    has stdout 'flipped.mmio: damaged: '
    "$build/tests/mutate-trace" drop 500 "$out/trace.mmio" "$out/dropped.mmio"
    reading_check 1 'dropped.mmio: record 500: cpu 1 lacks 1 records from sequence 249 on' "$out/dropped.mmio"
    reading_check 2 'trace.mmio: sound' "$out/trace.mmio" /etc/passwd "$out/nothing-here"
    has stderr '^mmioscope: /etc/passwd: this is not an mmioscope trace file$'
    has stderr '^mmioscope: cannot read .*nothing-here'
    # For programs: unreadable files are reported only on standard error.
    reading_check 2 '^[^,]*/trace.mmio,sound,100000,[0-9]+,0,,$' --format csv "$out/trace.mmio" "$out/nothing-here" "$out/dropped.mmio"
    [ "$(head -n 1 "$out/stdout")" = file,verdict,records,sections,lost,problem,lost_others ] || fail "csv begins with $(head -n 1 "$out/stdout")"
    has stdout '^[^,]*/dropped.mmio,,,,,record 500: cpu 1 lacks 1 records from sequence 249 on,$'
    has stdout '^[^,]*/dropped.mmio,damaged,99999,[0-9]+,1,,$'
    has_not stdout nothing-here
    reading_check 1 '^\{"file":"[^"]*/cut.mmio","verdict":"cut","records":46[0-9]+,"sections":[0-9]+,"lost":0\}$' --format jsonl "$out/cut.mmio"
    has stdout '^\{"file":"[^"]*/cut.mmio","problem":"the file is cut: its end is missing"\}$'
    view_refuses '--format' check --format xml "$out/trace.mmio"
}

# The same output from a file, a compressed file, and pipes of both; a compressed file that is cut off or garbage.
reading_compressed() {
    local way
    status=0
    reading_trace
    zstd -q "$out/trace.mmio" -o "$out/trace.zst"
    "$mmioscope" print --all "$out/trace.mmio" >"$out/plain"
    "$mmioscope" print --all "$out/trace.zst" >"$out/from-file"
    "$mmioscope" print --all - <"$out/trace.zst" >"$out/from-input"
    # shellcheck disable=SC2002 # a pipe is what is tested
    cat "$out/trace.zst" | "$mmioscope" print --all - >"$out/from-pipe"
    for way in from-file from-input from-pipe; do
        cmp -s "$out/plain" "$out/$way" || fail "other output $way"
    done
    head -c 200000 "$out/trace.zst" | "$mmioscope" print --summary - >"$out/stdout" 2>"$out/stderr" || status=$?
    exits_with 1
    has stdout 'the trace is cut off$'
    { head -c 4 "$out/trace.zst"; head -c 1000 /dev/zero | tr '\0' '\377'; } >"$out/garbage.zst"
    status=0
    "$mmioscope" print "$out/garbage.zst" >"$out/stdout" 2>"$out/stderr" || status=$?
    exits_with 2
    has stderr '^mmioscope: .*garbage.zst: the compressed data is damaged: '
    [ "$(wc -l <"$out/stderr")" = 1 ] || fail "more than one line"
}

# The installed program starts a guest, using only the guest from the build; and reports where it searched.
reading_installed_run() { # ROOT
    local mmioscope=$1/usr/bin/mmioscope
    [ ! -e "$1/usr/bin/hyp-88000000.elf" ] || fail "the hypervisor is beside the program"
    run_bare neighbours
    complete
    mv "$1/usr/lib/mmioscope" "$1/usr/lib/elsewhere"
    run_bare neighbours
    exits_with 2
    has stderr "^mmioscope: there is no hyp-88000000.elf in .*/usr/bin or .*/usr/lib/mmioscope"
    mv "$1/usr/lib/elsewhere" "$1/usr/lib/mmioscope"
}

# `make install`, and a user's program compiled with pkg-config's flags.
reading_installed() {
    local root="$out/root" got way plain
    make --no-print-directory install DESTDIR="$root" PREFIX=/usr >"$out/make" 2>&1 || fail "$(tail -n 1 "$out/make")"
    plain=$(mktemp -d) # pkg-config's words are split at spaces, which the checkout's path may have
    ln -s "$(realpath "$root")" "$plain/root"
    export PKG_CONFIG_PATH=$plain/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$plain/root
    [ "$(pkg-config --modversion mmioscope)" = "$(cat VERSION)" ] || fail "mmioscope.pc has another version"
    local flags
    read -ra flags <<<"$(pkg-config --cflags --libs mmioscope)"
    cp tests/reading/first_events.cpp "$out/first_events.cpp"
    g++ -std=c++20 -O1 -Wall -Wextra -o "$out/first-events" "$out/first_events.cpp" "${flags[@]}" ||
        fail "does not compile"
    cp tests/reading/go_back.cpp "$out/go_back.cpp"
    g++ -std=c++20 -O1 -Wall -Wextra -fsanitize=address -o "$out/go-back" "$out/go_back.cpp" "${flags[@]}" ||
        fail "does not compile with a sanitizer"
    cp tests/reading/keep_all.cpp "$out/keep_all.cpp"
    [[ " ${flags[*]} " != *sqlite3* && " ${flags[*]} " != *ncurses* ]] || fail "a reader needs SQLite or ncurses"
    g++ -std=c++20 -O1 -Wall -Wextra -o "$out/keep-all" "$out/keep_all.cpp" "${flags[@]}" || fail "does not compile"
    g++ -std=c++20 -O1 -fPIC -shared -Wl,-z,defs -o "$out/keep-all.so" "$out/keep_all.cpp" "${flags[@]}" ||
        fail "is nothing for a shared library"
    rm -r "$plain"
    for way in whole old cut; do
        reading_trace 100000 ${way/whole/}
        got=$("$out/first-events" "$out/trace.mmio" 50000000 50002000)
        [ "$got" = "50000000 cpu0 serial@90000+0 c350
50001000 cpu1 mmc@50000+4 c351
made-up: 2 events, 0 losses, $([ $way != cut ] || echo 'not ')sound" ] || fail "$way: $got"
    done
    got=$("$out/first-events" "$out/trace.mmio" 50000000 50002000 'dev =~ "mmc"' | head -n 1)
    [ "$got" = "50001000 cpu1 mmc@50000+4 c351" ] || fail "with a filter: $got"
    reading_trace 100000
    "$out/keep-all" "$out/trace.mmio" >"$out/kept" || fail "keep-all: exit status $?"
    has kept '^serial@90000 '
    has kept '^100000 [0-9]+ '
    [ "$(tail -n 1 "$out/kept")" = "$("$mmioscope" print --summary "$out/trace.mmio" | tail -n 1)" ] || fail "another verdict: $(tail -n 1 "$out/kept")"
    got=$("$out/go-back" "$out/trace.mmio" 'dev =~ "mmc" && w' 2>&1) && [ "$got" != "0 events" ] || fail "going back: $got"
    got=$("$out/first-events" "$out/trace.mmio" 0 1 'dev ==' 2>&1 >/dev/null) && fail "a wrong filter was taken"
    [ "$(wc -l <<<"$got")" = 1 ] || fail "a wrong filter: $got"
    reading_installed_run "$root"
    [ -s "$root/usr/share/man/man5/mmioscope-trace.5" ] || fail "no manual page"
    make --no-print-directory uninstall DESTDIR="$root" PREFIX=/usr >"$out/make" 2>&1 || fail "$(tail -n 1 "$out/make")"
    got=$(find "$root" -type f)
    [ -z "$got" ] || fail "left behind: $got"
    [ -z "$(find "$root" -name mmioscope)" ] || fail "a folder is left behind"
}


add test reading-check 3 reading_check_command
add test reading-compressed 3 reading_compressed
add test reading-installed 12 reading_installed
