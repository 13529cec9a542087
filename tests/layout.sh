#!/bin/sh
# The tree is built as its documents say. Usage: tests/layout.sh BUILD
set -u
build=$1
passed=0 failed=0

result() { # NAME OFFENCES
    if [ -z "$2" ]; then
        passed=$((passed + 1)); echo "ok layout: $1"
    else
        failed=$((failed + 1)); echo "FAILED layout: $1"; echo "$2" | sed 's/^/    /' | head -n 10
    fi
}

# hyp/README.md, "The rooms": a folder includes only what stands on a lower floor, or itself.
floor() {
    case $1 in
    abi | base | entry) echo 0 ;;
    arch | board) echo 1 ;;
    port) echo 2 ;;
    guest | trace) echo 3 ;;
    mm | dev) echo 4 ;;
    dt | stream) echo 5 ;;
    machine) echo 6 ;;
    engine) echo 7 ;;
    control) echo 8 ;;
    trap) echo 9 ;;
    *) echo 99 ;;
    esac
}
climbing() {
    grep -rno '#include "[a-z0-9_]*/' hyp/*/ --include='*.hpp' --include='*.cpp' |
        sed 's|^hyp/\([a-z0-9]*\)/[^:]*:[0-9]*:#include "\([a-z0-9_]*\)/|\1 \2 &|' | sort -u |
        while read -r from to where; do
            [ "$from" = "$to" ] || [ "$(floor "$from")" -gt "$(floor "$to")" ] || echo "$where"
        done
}
result "folders of hyp/ include only lower floors" "$(climbing)"

result "assembly only in hyp/port, hyp/entry and boot" \
    "$(grep -rnE '\basm\b' hyp boot --include='*.hpp' --include='*.cpp' | grep -v '^hyp/port/')"

result "no conditional compilation in hyp/ and boot/" \
    "$(grep -rnE '^ *#if' hyp boot --include='*.hpp' --include='*.cpp' --include='*.S')"

result "host tools include only hyp/abi" \
    "$(grep -rnE '#include "(arch|base|board|dev|dt|engine|entry|guest|machine|mm|port|stream|trace|trap)/' \
        host-tools --include='*.hpp' --include='*.cpp' |
        while IFS=: read -r file line text; do
            header=$(echo "$text" | sed 's/.*"\(.*\)".*/\1/')
            [ -f "host-tools/$header" ] || [ -f "$(dirname "$file")/$header" ] || echo "$file:$line:$text"
        done)"

# Who finds something out describes it as a table, so tables know nobody: but what is plain text, which knows nobody, too.
result "host-tools/table/ and lib/plain_text.hpp include nothing else of the host tools" \
    "$(grep -nE '#include "' host-tools/table/* host-tools/lib/plain_text.hpp | grep -vE '"(table/[a-z]+|lib/plain_text)\.hpp"')"

# Lines of a disassembly with an instruction of VFP or NEON other than a read (VMOV and VMRS to core registers)
# in hyp/port/vector.cpp.
vector_use() {
    awk -F '\t' '
        /^[0-9a-f]+ <.*>:$/ { port = /<mmioscope::port::vector_[a-z]+\(/; next }
        $3 !~ /^(v|fld|fst)/ { next }
        port && $3 == "vmov" && $4 ~ /^(r[0-9]+|ip|lr|fp|sl), (r[0-9]+|ip|lr|fp|sl), d[0-9]+/ { next }
        port && $3 == "vmrs" && $4 ~ /^(r[0-9]+|ip|lr|fp|sl), / { next }
        { print }'
}
for image in "$build"/hyp-*.elf; do
    name=$(basename "$image")
    result "$name uses no VFP or NEON register, but to read it in port::vector_*" \
        "$(arm-none-eabi-objdump -dC "$image" | vector_use)"
    result "$name has no segment both writable and executable" \
        "$(arm-none-eabi-readelf -lW "$image" | grep -E 'LOAD.* (RWE|WE) ')"
done

result "no file of one machine, host or kernel is tracked" \
    "$(git ls-files | grep -E '(vmlinuz|\.dtb|\.img|\.deb|busybox)$')"

echo "layout: $passed passed, $failed failed"
[ "$failed" = 0 ]
