# Kernel modules for a RAM disk. Sourced, with $root, the RAM disk's folder, $tree, the kernel's modules, and die.
# shellcheck shell=sh disable=SC2154

# add STEP MODULE...: copy modules and, first, what they depend on (read from the modules
# themselves, so that kmod is not needed), and note the order for init.
add() {
    list=$root/lib/modules/$1; shift
    touch "$list"
    for module; do add_one "$module"; done
}

add_one() {
    # '-' and '_' are the same in a module's name, but not in its file's.
    set -- "$1" "$(find "$tree" -name "$(echo "$1" | sed 's/[-_]/[-_]/g').ko*")"
    if [ -z "$2" ]; then
        grep -q "/$1\.ko\$" "$tree/modules.builtin" && return
        die "module $1 is neither in $tree nor built in"
    fi
    xz -dcf "$2" > "$root/lib/modules/$1.ko" # Debian 13 packs them; what is not packed stays as it is
    for needed in $(tr '\0' '\n' < "$root/lib/modules/$1.ko" | sed -n 's/^depends=//p' | tr , ' '); do
        add_one "$needed"
    done
    grep -qx "$1.ko" "$list" && return
    echo "$1.ko" >> "$list"
}
