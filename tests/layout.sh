#!/bin/sh
# Checks that the tree is as its documents say. Usage: tests/layout.sh BUILD
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

# hyp/README.md: a folder includes only what stands on a lower floor, or itself. The services stand on the start, and
# that on the core.
floor() {
    case $1 in
    abi | base | entry) echo 0 ;;
    arch | board) echo 1 ;;
    port) echo 2 ;;
    guest | trace) echo 3 ;;
    mm | dev) echo 4 ;;
    machine) echo 5 ;;
    engine) echo 6 ;;
    trap) echo 7 ;;
    bringup) echo 8 ;;
    dt) echo 9 ;;
    start) echo 10 ;;
    reading) echo 11 ;;
    integrity | black_box | choice | task_names | stacks | stream | keeping) echo 12 ;;
    changing) echo 13 ;;
    moving) echo 14 ;;
    probes | watching) echo 15 ;;
    control) echo 16 ;;
    unprotect) echo 17 ;;
    *) echo 99 ;;
    esac
}
climbing() { # TREE FLOOR: the includes of folders of TREE that are not of a lower floor, by the function FLOOR
    grep -rno '#include "[a-z0-9_]*/' "$1"/*/ --include='*.hpp' --include='*.cpp' |
        sed 's|^'"$1"'/\([a-z0-9_]*\)/[^:]*:[0-9]*:#include "\([a-z0-9_]*\)/|\1 \2 &|' | sort -u |
        while read -r from to where; do
            [ "$from" = "$to" ] || [ "$("$2" "$from")" -gt "$("$2" "$to")" ] || echo "$where"
        done
}
result "hyp/abi includes only itself" "$(grep -rn '#include "' hyp/abi | grep -v '"abi/')"
for storey in core start services; do
    result "folders of hyp/$storey/ include only lower floors" "$(climbing "hyp/$storey" floor)"
done
result "the core includes nothing of the start" \
    "$(grep -rnE '#include "(start|dt)/' hyp/core)"
result "core and start include nothing of the services" \
    "$(grep -rnE "#include \"($(ls hyp/services | grep -v '[.]' | paste -sd'|'))/|services\.hpp" hyp/core hyp/start boot)"
result "only the doctor includes the doctor" "$(grep -rn '#include "doctor/' hyp boot host-tools | grep -v '^hyp/doctor/')"

# docs/porting.md. The bus of vexpress, which is QEMU's, is in dt/board.cpp.
devices=$(sed -n '/machine_devices\[\] = {/,/^};/s/^ *{"[a-z]*,\([a-z0-9]*\)[^"]*", \([a-z0-9_]*\), .*/\1 \2/p' hyp/core/board/board.cpp)
result "only board/board.cpp names the devices that start CPUs or end the machine" "$([ -n "$devices" ] || echo 'none is found'
    echo "$devices" | while read -r device _; do
        grep -rnE "\"[a-z]*,$device" hyp boot --include='*.[chS]pp' --include='*.S' |
            grep -vE '^hyp/core/board/board.cpp|arm,vexpress"'
    done)"
result "a board takes at most 25 lines of board/board.cpp" "$(echo "$devices" | while read -r _ function; do
    lines=$(sed -n "/^BoardEvent $function(/,/^}/p" hyp/core/board/board.cpp | grep -cv '^ *//')
    [ "$lines" -gt 0 ] && [ "$lines" -le 25 ] || echo "$function: $lines"
done)"

# host-tools/README.md, "The rooms", has the same: | floor | `room/` |.
room_floor() {
    case $1 in abi | mmioscope | board | dt) echo -1 ;; *) grep "^$1 " "$rooms" | cut -d' ' -f2 ;; esac
}
rooms=$(mktemp) || exit 1
disassembly=$(mktemp) || exit 1
functions=$(mktemp) || exit 1
trap 'rm -f "$rooms" "$disassembly" "$functions"' EXIT
awk -F '|' '/^\| *[0-9]* *\| `[a-z]+\/`/ {
    if ($2 ~ /[0-9]/) floor = $2 + 0
    split($3, name, "[`/]"); print name[2], floor
}' host-tools/README.md > "$rooms"
result "rooms of host-tools/ include only lower floors" "$(climbing host-tools room_floor)"
result "each folder of host-tools/ with code is a room of host-tools/README.md" \
    "$(for folder in host-tools/*/; do
        room=$(basename "$folder")
        [ "$room" = devices ] || grep -q "^$room " "$rooms" || echo "$room"
    done)"

# A step of a tour names a function of its file; in hyp/TOUR.md its last column is a label or macro of the fast path.
wrong_steps() { # FOLDER
    sed -n 's/^| [0-9]* | `\([^`]*\)` | `\([^`]*\)` .*/\1 \2/p' "$1/TOUR.md" | {
        steps=0
        while read -r file function; do
            steps=$((steps + 1))
            grep -vE '^ *//|;$' "$1/$file" | grep -qE "(^|[ *])$function[(:]" || echo "$file $function"
        done
        [ $steps = 12 ] || echo "$steps steps"
    }
}
result "each step of host-tools/TOUR.md is a function of its file" "$(wrong_steps host-tools)"
result "each step of hyp/TOUR.md is a function of its file, and part of the fast path" "$(wrong_steps hyp
    sed -n 's/^| [0-9]* .* | `\([^`|]*\)` |$/\1/p' hyp/TOUR.md | {
        steps=0
        while read -r label; do
            steps=$((steps + 1))
            grep -qE "^$label:|[.]macro $label( |\$)|entry +$label( |\$)" hyp/core/entry/fast_path.S || echo "$label"
        done
        [ $steps = 12 ] || echo "$steps steps of the fast path"
    })"

# What CI allows to grow only on purpose: tests/sizes.txt. Lines are those with code.
result "no part has more files or lines of code than tests/sizes.txt says" \
    "$(grep -v '^#' tests/sizes.txt | while read -r part files lines; do
        now=$(find $part -name '*.[ch]pp' -o -name '*.S' | wc -l)
        code=$(find $part -name '*.[ch]pp' -exec cat {} + -o -name '*.S' -exec cat {} + | grep -cvE '^ *(//.*)?$')
        [ "$now" -le "$files" ] && [ "$code" -le "$lines" ] || echo "$part: $now files, $code lines"
    done)"

# Namespaces differ where C++ or a compiler has taken the word. What all rooms use is in mmioscope itself, and
# everything about the content of a trace is in `trace`, in any room.
namespace_of() {
    case $1 in
    system | include) echo mmioscope ;;
    records | file) echo mmioscope::trace ;;
    export | import) echo "mmioscope::${1}ing" ;;
    linux) echo mmioscope::linux_guest ;;
    *) echo "mmioscope::$1" ;;
    esac
}
result "the namespace of a room of host-tools/ is its name" \
    "$(grep -rnoE '^namespace mmioscope[a-z_:]*' host-tools/*/ --include='*.hpp' --include='*.cpp' |
        while IFS=: read -r file line text; do
            own=$(namespace_of "$(echo "$file" | cut -d/ -f2)")
            [ "$file" != host-tools/reading/trace_file.cpp ] || own=mmioscope # of include/
            case ${text#namespace }:: in "$own"::*) ;; *) echo "$file:$line: $text" ;; esac
        done)"

# An error of writing a message must not end the program, and an output has one way of being made.
result "messages of host-tools/ and guest-linux/ go through system/message.hpp" \
    "$(grep -rnE 'fmt::print\((stderr|$)|[fv]*printf\(stderr|std::cerr|perror\(' host-tools guest-linux --include='*.hpp' --include='*.cpp')"
result "only system/ creates files in host-tools/ and guest-linux/" \
    "$(grep -rnE 'O_CREAT|ofstream|fopen\([^)]*"[wa]' host-tools guest-linux --include='*.hpp' --include='*.cpp' | grep -v '^host-tools/system/')"
result "only system/escape.cpp escapes text of JSON, CSV and HTML" \
    "$(grep -rnE '&lt;|&quot;|\\\\u\{:04x|\\\\ufffd' host-tools --include='*.hpp' --include='*.cpp' | grep -v '^host-tools/system/escape.cpp')"

result "assembly only in hyp/core/port, hyp/core/entry and boot" \
    "$(grep -rnE '\basm\b' hyp boot --include='*.hpp' --include='*.cpp' | grep -vE '^hyp/core/port/|^boot/offsets.cpp:')"

result "the guest's memory is read by read_guest_memory() alone while the guest runs" \
    "$(grep -rn 'memory_at<' hyp/core/trap hyp/core/engine hyp/core/guest hyp/services --include='*.[ch]pp' |
        grep -vE '^hyp/core/trap/translate.cpp:|Owner>|Descriptor>|^hyp/services/(integrity|black_box|moving|probes)/')"

result "no conditional compilation in hyp/ and boot/" \
    "$(grep -rnE '^ *#if' hyp boot --include='*.hpp' --include='*.cpp' --include='*.S')"

# plan/ is the exception: it has the hypervisor's own code read a tree.
result "host tools include only hyp/abi" \
    "$(grep -rnE '#include "(arch|base|board|dev|dt|engine|entry|guest|machine|mm|port|start|trace|trap|black_box|changing|choice|integrity|probes|stream|task_names|unprotect)/' \
        host-tools --include='*.hpp' --include='*.cpp' |
        while IFS=: read -r file line text; do
            header=$(echo "$text" | sed 's/.*"\(.*\)".*/\1/')
            case $file,$header in host-tools/plan/*,board/* | host-tools/plan/*,dt/*) continue ;; esac
            [ -f "host-tools/$header" ] || [ -f "$(dirname "$file")/$header" ] || echo "$file:$line:$text"
        done)"

# A board of `run` is a row in host-tools/run/board.cpp, and an image of hyp/hyp.mk 128 MiB above its memory's start.
rows_of_boards=$(sed -n 's/^ *[.]name = "\(.*\)",/\1/p' host-tools/run/board.cpp | sort)
result "hyp/hyp.mk has exactly the images of the boards in host-tools/run/board.cpp" \
    "$({ sed -n "s/^ *[.]ram_base = \(0[0-9a-fx']*\),.*/\1/p" host-tools/run/board.cpp | tr -d "'" | sort -u |
        while read -r ram; do printf '%08x\n' $((ram + (128 << 20))); done
        sed -n 's/^HYP_IMAGE_BASES := //p' hyp/hyp.mk | tr ' ' '\n'; } | sort | uniq -c | awk '$1 != 2')"
result "a board has its name in no other source of host-tools/" \
    "$(grep -rnFw "$(echo "$rows_of_boards" | sed 's/.*/"&"/')" host-tools --include='*.hpp' --include='*.cpp' |
        grep -v '^host-tools/run/board.cpp:')"

# Lines of a disassembly with an instruction of VFP or NEON other than a read (VMOV and VMRS to core registers)
# in hyp/core/port/vector.cpp.
vector_use() {
    awk -F '\t' '
        /^[0-9a-f]+ <.*>:$/ { port = /<mmioscope::port::vector_[a-z]+\(/; next }
        $3 !~ /^(v|fld|fst)/ { next }
        port && $3 == "vmov" && $4 ~ /^(r[0-9]+|ip|lr|fp|sl), (r[0-9]+|ip|lr|fp|sl), d[0-9]+/ { next }
        port && $3 == "vmrs" && $4 ~ /^(r[0-9]+|ip|lr|fp|sl), / { next }
        { print }'
}
# What C++ takes from the C library before the MMU is on: all of it aligned, as boot/start.S has every emulator check.
# The library's memcpy is not, so the image has its own.
aligned='memchr memcmp memmove memset strcmp strcspn strlen strncmp strncpy strspn'
of_library() { # IMAGE
    arm-none-eabi-nm --defined-only "$1" | awk '$2 == "T" && $3 !~ /^_/ { print $3 }' | grep -Fxf "$functions" | grep -Fxv memcpy
}
# Functions of a disassembly that store exclusively under a condition and never clear the monitor, or that jump to where
# the fast path does: after the load alone it would be left to the guest (ARM ARM A3.4.5).
left_monitors() {
    awk -F '\t' '
        function told() { if (tries && !clears) print name }
        /^[0-9a-f]+ <.*>:$/ { told(); name = $0; tries = clears = 0; next }
        $3 ~ /^strex(eq|ne)/ { tries++ }
        $3 == "clrex" || $4 ~ /<not_taken>/ { clears++ }
        END { told() }'
}
# In a disassembly: functions that turn the MMU on (HSCTLR) without invalidating the stack in the caches before that, or
# that use memory in between; a first use of a stack before it is invalidated; the absence of any function that does it
# right.
stale_stacks() {
    awk -F '\t' '
        /^[0-9a-f]+ <.*>:$/ { name = $0; forgot = between = 0; next }
        $3 == "mcr" && $4 ~ /cr7, cr6, \{1\}/ { forgot = 1; between = 0; if (name ~ /<set_stack>/) entry = 1; next }
        $3 ~ /^(v?ld|v?st|push|pop|bl?x?$)/ && $3 !~ /^b(lo|cc|ne)$/ { between = 1 }
        $3 == "mcr" && $4 ~ /^15, 4, .*cr1, cr0, \{0\}/ && name !~ /wait_outside_coherency|<set_vectors>/ {
            if (!forgot || between) print name
            found = 1
        }
        END { if (!found || !entry) print "the caches are not made to forget the stack" }'
}
arm-none-eabi-nm -g --defined-only "$(arm-none-eabi-gcc -march=armv7ve -mthumb -mgeneral-regs-only -print-file-name=libc.a)" \
    2>/dev/null | awk '$2 == "T" { print $3 }' > "$functions"
for image in "$build"/hyp-*.elf; do
    name=$(basename "$image")
    arm-none-eabi-objdump -dC "$image" > "$disassembly" || exit 1
    result "$name reads no line of a stack that was written behind the caches" \
        "$(stale_stacks < "$disassembly")"
    result "$name takes from the C library only what accesses memory aligned" \
        "$(of_library "$image" | grep -Fxv "$(echo "$aligned" | tr ' ' '\n')")"
    result "$name leaves no monitor of its own LDREX to the guest" \
        "$(left_monitors < "$disassembly")"
    result "$name uses no VFP or NEON register, but to read it in port::vector_*" \
        "$(vector_use < "$disassembly")"
    result "$name has no segment both writable and executable" \
        "$(arm-none-eabi-readelf -lW "$image" | grep -E 'LOAD.* (RWE|WE) ')"
done

# Each image, with its board's own object, depends on the headers: what make would build if one had changed.
result "a changed header makes anew each board's object that includes it" \
    "$(for source in hyp/core/board/*.cpp; do
        object=$build/obj/target/${source%.cpp}.o
        MAKEFLAGS='' make -n --no-print-directory -W hyp/core/board/board.hpp BUILD="$build" "$object" 2>/dev/null |
            grep -qF -- "-c $source " || echo "$object"
    done)"

# guest-linux/boards, from which `make demo` takes what it gives to `mmioscope run`.
demo() { make -n --no-print-directory MAKE=: BUILD="$build" demo BOARD="$1" 2>&1; }
result "make demo gives each board of guest-linux/boards its tree, console, CPUs, steps and card" \
    "$(grep -v '^#' guest-linux/boards | while read -r board cpus tree console steps _; do
        said=$(demo "$board")
        for word in "--board $board " "--cpus $cpus " "console=$console " "mmioscope.steps=$steps'"; do
            echo "$said" | grep -qF -e "$word" || echo "$board: $word is missing"
        done
        [ "$(echo "$said" | grep -o -e '--dtb [^ ]*')" = "$([ "$tree" = none ] || echo "--dtb $build/guest/$tree.dtb")" ] || echo "$board: --dtb"
        [ "$tree" = none ] || grep -q "^boards=.*[\" ]$tree[\" ]" guest-linux/fetch.sh || echo "$board: fetch.sh has no $tree"
        [ "$(echo "$said" | grep -c -e --sd)" = "$(echo ",$steps," | grep -c ,sd,)" ] || echo "$board: --sd"
        for step in $(echo "$steps" | tr , ' '); do grep -q "^step_$step()" guest-linux/init || echo "$board: step $step"; done
    done
    [ "$(grep -vc '^#' guest-linux/boards)" -ge 10 ] || echo 'fewer than ten boards')"
result "make demo refuses an unknown board, and lists them, before it does anything else" \
    "$(make --no-print-directory MAKE=: BUILD="$build" demo BOARD=nosuch 2>&1 | head -n 1 |
        grep -vE '^Makefile:[0-9]+: [*]+ demo: BOARD=nosuch is none of: vexpress-a15 virt .* fuji-bmc[.]  Stop[.]$')"

result "no file of one machine, host or kernel, and no package of others, is tracked" \
    "$(git ls-files | grep -E '(vmlinuz|\.dtb|\.img|\.deb|busybox)$|(^|/)node_modules/')"

echo "layout: $passed passed, $failed failed"
[ "$failed" = 0 ]
