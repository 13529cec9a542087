# The hypervisor's own faults: a debugger damages it while it runs, and the result is one readable report.
# shellcheck shell=bash disable=SC2154,SC2034

# Differences between boards: hammer's traced page, the first byte of the hypervisor's addresses and of the guest's, and
# the destination of the report: the hypervisor's own UART, or the guest's console.
board_facts() {
    case $board in
    vexpress-a15) traced=clcd@1f0000 page=1c1f02 base=88 entry=8300 report=hypervisor
        of_board=(--dtb "$board_tree" --hyp-log "$out/hypervisor") ;;
    virt) traced=intc@8000000 page=080004 base=48 entry=4300 report=console of_board=() ;;
    orangepi-pc) traced=interrupt-controller@1c81000 page=01c814 base=48 entry=4300 report=hypervisor
        of_board=(--dtb "$board_tree" --hyp-log "$out/hypervisor") ;;
    esac
}

# damaged KIND GUEST ARGUMENT...: $pid is mmioscope's, $status its exit status. On the slow path each trap passes the
# checks on the way back; otherwise two CPUs might finish before the debugger catches one there.
damaged() {
    board_facts
    under_debugger
    "$mmioscope" run --bare --board "$board" "${of_board[@]}" --kernel "$build/tests/guest/$board/$2.bin" --no-net \
        --no-print --trace "$traced" --slow-path --time-limit 30 -o "$out/trace.mmio" --console-log "$out/console" \
        "${debugged[@]}" "${@:3}" >"$out/stdout" 2>"$out/stderr" &
    pid=$!
    python3 tests/qemu/damage.py "$1" "$board" "$out/gdb" "$build" "$out/$report" $pid 2>"$out/debugger" ||
        fail "$(tail -n 1 "$out/debugger")"
    status=0
    wait $pid || status=$?
}

once() { # PATTERN
    [ "$(grep -Ec -- "$1" "$out/$report")" = 1 ] || fail "the report does not have exactly one line like: $1"
}

# One report, with the words WHAT; all CPUs have stopped; the run ends with it.
reported() { # WHAT
    exits_with 1
    once '^mmioscope: stop: '
    once "^mmioscope: stop: $1"
    has "$report" '^HSR=0x[0-9a-f]{8}  HDFAR=0x[0-9a-f]{8}  HIFAR=0x[0-9a-f]{8}  HPFAR='
    has "$report" "^VTTBR=0x10000${base}0[0-9a-f]{5}  HCR=0x0008[02]003  HDCR="
    has stderr '^mmioscope: stop: '
    has stdout '^incomplete: .*the hypervisor stopped(,|$)'
}
whole() {
    once '^mmioscope: end of report'
    [ "$(tail -n 1 "$out/$report" | tr -d '\r')" = 'mmioscope: end of report' ] || fail "something follows the report"
}
with_records() {
    for age in 0 1 2 3 4 5 6 7; do once "^record -$age: type 1 [RW]4 pa=0x${page}[0-9a-f]{2} value=0x[0-9a-f]{8} pc=0x$entry"; done
}

# fault KIND WHAT LINE...: two busy CPUs; the report also has these lines.
fault() {
    damaged "$1" hammer
    reported "$2"
    whole
    with_records
    shift 2
    for line in "$@"; do once "$line"; done
}

address_of() {
    board_facts
    arm-none-eabi-nm "$build/hyp-${base}000000.elf" | sed -n "s/^\([0-9a-f]*\) [tT] $1\$/\1/p"
}
in_code() { # KIND WHAT HSR OFFSET LINE...: the first instructions of the trap handler are others; PC is at OFFSET
    local pc
    pc=$(printf '%08x' $((0x$(address_of mmioscope_guest_trap) + $4)))
    fault "$1" "$2" "pc=0x$pc " "^HSR=0x$3 " 'changed: text 0x[48]80[012][0-9a-f]{4}\+0x1000' "${@:5}"
}

# The last records are at the fault, so the report ends there, and says so.
fault_in_report() {
    damaged area hammer
    reported 'data abort'
    whole
    once "^mmioscope: a fault in the report, pc=0x${base}0[01]"
}
# The report of a failed check begins without an exception, but the fault in it still ends it.
fault_in_report_of_check() { # KIND
    damaged "$1" hammer
    reported 'unexpected value of VTTBR'
    whole
    once "^checked before pc=0x${base}0[01]"
    once "^mmioscope: a fault in the report, pc=0x${base}0[01]"
}
# The area cannot be marked, which comes first: the report is whole all the same.
report_without_mark() {
    damaged check-area hammer
    reported 'unexpected value of VTTBR'
    whole
    once "^checked before pc=0x${base}0[01]"
}
# The first instruction of the report faults: one line and the registers have all there is.
fault_before_report() {
    damaged entry hammer
    exits_with 1
    once "^mmioscope: stop: a fault in the report, pc=0x$(address_of mmioscope_hyp_fault)"
    once '^mmioscope: stop: '
    has "$report" '^HSR=0x[0-9a-f]{8}  HDFAR='
    whole
}
# Before the machine exists: HTPIDR is 0 and the MMU off.
fault_at_start() {
    damaged start hammer
    exits_with 1
    once '^mmioscope: stop: '
    once '^mmioscope: stop: undefined instruction on CPU [01]'
    once "pc=0x$(address_of mmioscope_start) "
    whole
}
# Only the first line can be printed.
fault_in_printing() {
    damaged printing hammer
    exits_with 1
    once '^mmioscope: stop: undefined instruction on CPU [01]'
    once '^mmioscope: a fault in the report, pc=$'
    [ "$(grep -c 'mmioscope: ' "$out/$report")" = 3 ] || fail "there is more"
}

# An unused bit changes: found when the guest switches the board off.
changed() { # KIND GUEST RANGE
    damaged "$1" "$2"
    reported "the hypervisor's memory was changed"
    whole
    once "^mmioscope: changed: $3"
}

# The guest neither starts a CPU nor ends the machine: it sleeps, which traps only with a stream, and then makes a
# request.
looked() { # GOT-SO-FAR AND-NO-FURTHER ARGUMENT...
    damaged text looks "${@:3}"
    reported "the hypervisor's memory was changed"
    whole
    once '^mmioscope: changed: text 0x880[012][0-9a-f]{4}\+0x1000'
    [ -z "$1" ] || has console "^looks: $1"
    has_not console "^looks: $2"
}

missing_page() {
    damaged missing hammer
    reported "a page is missing in the guest's table"
    whole
    once "^mmioscope: changed: tables 0x$base"
}

add test fault-undefined 3 in_code undefined 'undefined instruction' 00000000 0
add test fault-svc 3 in_code svc SVC '44000000' 2
add nightly fault-hvc 3 in_code hvc HVC '4a000000' 4
add nightly fault-bkpt 3 in_code bkpt 'prefetch abort' '86000022' 0
add test fault-jump 3 fault jump 'prefetch abort' 'pc=0x70000000 ' '^HSR=0x8[46]00000[0-9a-f] .*HIFAR=0x70000000 '
add test fault-load 3 in_code load 'data abort' '9[45][0-9a-f]{2}000[0-9a-f]' 4 'HDFAR=0x70000000 '
add test fault-irq 3 fault irq 'IRQ' '^mmioscope: unchanged: text'
add test fault-fiq 3 fault fiq 'FIQ' '^mmioscope: unchanged: text'
add test fault-overflow 3 in_code overflow 'stack overflow' '9400004[0-9a-f]' 0 '  HDFAR=0x88[0-9a-f]{3}fe0 '
add test fault-check 3 fault check 'unexpected value of VTTBR' '^checked before pc=0x[48]80[01]' '^mmioscope: unchanged: text'
add test fault-class 3 fault class 'unexpected exception class' '^checked before pc=0x[48]80[01]' '^mmioscope: unchanged: text'
add test fault-cpu1 3 fault cpu1 'data abort on CPU 1' '^mmioscope: unchanged: text'
add test fault-both 3 fault both 'undefined instruction'
add test fault-in-report 3 fault_in_report
add test fault-in-report-of-check 3 fault_in_report_of_check check-report
add test fault-in-mark-of-check 3 report_without_mark
add test fault-before-report 3 fault_before_report
add test fault-at-start 3 fault_at_start
add test virt-fault-at-start 3 virt fault_at_start
add nightly fault-in-printing 3 fault_in_printing
add test changed-text 3 changed text straddle 'text 0x880[012][0-9a-f]{4}\+0x1000'
add nightly changed-constants 3 changed constants straddle 'constants 0x880[0-2][0-9a-f]{4}\+0x1000'
add test changed-tables 3 changed tables straddle 'tables 0x88[0-9a-f]{6}\+0x(1000|fe0)'
add test changed-description 3 changed description straddle 'description 0x880[0-9a-f]{5}\+0x[0-9a-f]+'
add nightly changed-code-page 3 changed code-page hammer 'tables 0x88[0-9a-f]{6}\+0x(1000|fe0)'
add test changed-at-request 3 looked idled asked
add test changed-at-idle 3 looked '' idled --stream serial2
add test missing-page 3 missing_page

add test virt-fault-undefined 3 virt in_code undefined 'undefined instruction' 00000000 0
add test virt-fault-overflow 3 virt in_code overflow 'stack overflow' '9400004[0-9a-f]' 0 '  HDFAR=0x48[0-9a-f]{3}fe0 '
add test virt-fault-check 3 virt fault check 'unexpected value of VTTBR' '^checked before pc=0x480[01]' '^mmioscope: unchanged: text'
add test virt-fault-both 3 virt fault both 'undefined instruction'
add test virt-changed-text 3 virt changed text calls 'text 0x480[012][0-9a-f]{4}\+0x1000'
add test virt-changed-tables 3 virt changed tables calls 'tables 0x48[0-9a-f]{6}\+0x(1000|fe0)'
add nightly virt-fault-load 3 virt in_code load 'data abort' '9[45][0-9a-f]{2}000[0-9a-f]' 4 'HDFAR=0x70000000 '
add nightly virt-fault-in-report 3 virt fault_in_report
add nightly virt-fault-in-report-of-check 3 virt fault_in_report_of_check check-report
add nightly virt-fault-before-report 3 virt fault_before_report
