# The core alone, linked without hyp/services/: it boots Debian, and the proofs of exactness hold.
# shellcheck shell=bash disable=SC2154

core_alone() { # ENGINE
    drivers --engine "$1" --hypervisor "$build/tests/core/hyp-88000000.elf"
}

add nightly core-shadow 60 on_all_cpus core_alone shadow
add test core-emulation 60 on_all_cpus core_alone emulation
