# The PC of every access, compared with those logged by a plugin in QEMU (pc_log.c).
# shellcheck shell=bash disable=SC2154

# The trace equals QEMU's own log, and at least LEAST of its PCs were compared with those of the plugin.
verified_with_pcs() { # LEAST
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" --pc-log "$out/pc.log" >"$out/verify" 2>&1 || true
    has verify '^verify: [0-9]+ events compared, 0 differences$' "$(tail -n 1 "$out/verify") (see $out/verify)"
    has verify '^verify: [0-9]+ PCs compared, 0 differences$' "$(grep PCs "$out/verify") (see $out/verify)"
    [ "$(sed -n 's/^verify: \([0-9]*\) PCs.*/\1/p' "$out/verify")" -ge "$1" ] || fail "few PCs: $(grep PCs "$out/verify")"
}

# pcs LEAST STEPS ARGUMENT...: Linux; the PCs of at least LEAST accesses are compared.
pcs() {
    local least=$1 steps=$2 arguments
    shift 2
    mapfile -t arguments < <(pc_log_arguments)
    run_linux "$steps" --no-print --trace all --access-log "$out/access.log" "${arguments[@]}" "$@"
    complete
    verified_with_pcs "$least"
    rm -f "$out/pc.log"
}

# pcs_of GUEST LEAST ARGUMENT...: the same for a bare-metal guest.
pcs_of() {
    local guest=$1 least=$2 arguments
    shift 2
    mapfile -t arguments < <(pc_log_arguments)
    run_bare "$guest" --trace all --access-log "$out/access.log" "${arguments[@]}" "$@"
    complete
    verified_with_pcs "$least"
    rm -f "$out/pc.log"
}

# linux.sh's verify-notices is a boot of Linux with all PCs compared.
add test pcs-forms 10 pcs_of forms 1000
add nightly pcs-linux-all-shadow 120 pcs 300000 ""
add nightly pcs-forms-emulation 10 pcs_of forms 300 --engine emulation # what it leaves to the other engine
add nightly pcs-virt 60 virt pcs 10000 mmioscope.steps=none
add nightly pcs-hammer 60 pcs_of hammer 100000
