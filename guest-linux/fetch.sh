#!/bin/sh
# Fetch the guest from Debian and unpack it, as an ordinary user and without touching the
# host's own apt and dpkg state.  See README.md, "Fetching".
#
#   fetch.sh BUILD_DIR [armmp-lpae|armmp|rt|u-boot|bullseye|trixie]
#
#   armmp-lpae        that kernel and all that goes with it, to BUILD_DIR/guest (the default)
#   armmp             the other kernel, to BUILD_DIR/guest-armmp
#   u-boot            firmware: U-Boot for QEMU's boards virt and orangepi-pc, EDK2 for virt, to BUILD_DIR/guest-u-boot
#   rt                the rt-armmp kernel, to BUILD_DIR/guest-rt
#   bullseye, trixie  the armmp-lpae kernel of that suite, to BUILD_DIR/guest-SUITE
#   MMIOSCOPE_MIRROR  a Debian mirror's URL   (default: the one this host uses)
#   MMIOSCOPE_CACHE   verified downloads      (default: BUILD_DIR/cache)
set -eu
umask 022

build=${1:?usage: fetch.sh BUILD_DIR [armmp-lpae|armmp|u-boot]}
what=${2:-armmp-lpae}
cache=${MMIOSCOPE_CACHE:-$build/cache}
suffix=-$what suite=bookworm flavour=armmp-lpae
case $what in
armmp-lpae) suffix='' roles='kernel busybox libfdt' ;;
armmp) roles='kernel busybox' flavour=armmp ;;
u-boot) roles='uboot sunxi efi' ;;
rt) roles='kernel busybox' flavour=rt-armmp ;;
bullseye|trixie) roles='kernel busybox' suite=$what ;;
*) echo "guest-linux/fetch.sh: unknown argument '$what'" >&2; exit 2 ;;
esac
guest=$build/guest$suffix
lock=$cache/lock$suffix.txt    # one line per file: role package version sha256 file
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# Those that `mmioscope run` knows, and others of QEMU's. guest.mk reads this line.
boards="vexpress-v2p-ca15-tc1 sun8i-h3-orangepi-pc imx7d-sdb aspeed-ast2600-evb bcm2836-rpi-2-b ecx-2000 imx6ul-14x14-evk aspeed-bmc-ibm-rainier aspeed-bmc-facebook-fuji"

say() { printf 'guest: %s\n' "$*" >&2; }
die() { printf 'guest-linux/fetch.sh: %s\n' "$*" >&2; exit 1; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"; rm -f "$cache/.partial.$$" "$cache/.lock.$$"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- cache: a file is named by its SHA256, so its name says what it has to contain ---------

cached() {
    [ -f "$cache/$1" ] || return 1
    [ "$(sha256sum < "$cache/$1")" = "$1  -" ] && return 0
    say "cached $2 is damaged, dropping it"
    rm -f "$cache/$1"
    return 1
}

cache_complete() {
    [ -f "$lock" ] || return 1
    for role in $roles; do
        grep -q "^$role " "$lock" || return 1
    done
    while read -r _ _ _ sum file; do
        cached "$sum" "$file" || return 1
    done < "$lock"
}

# --- apt: a root of its own, with no packages installed and armhf as its architecture ------

private_apt() {
    [ -r "$keyring" ] || die "$keyring is missing: install debian-archive-keyring"
    mirror=$("$(dirname "$0")/mirror.sh")
    [ -n "$mirror" ] || die "this host names no Debian mirror: set MMIOSCOPE_MIRROR=URL"

    apt=$tmp/apt
    mkdir -p "$apt/etc/apt.conf.d" "$apt/etc/preferences.d" "$apt/etc/sources.list.d" \
             "$apt/state/lists/partial" "$apt/cache/archives/partial" "$tmp/in"
    : > "$apt/state/status"
    {
        # How the host reaches the network (proxies and the like).
        apt-config dump | grep -E '^Acquire::https?(::| )' || :
        cat <<-CONF
		Dir::State "$apt/state";
		Dir::State::status "$apt/state/status";
		Dir::Cache "$apt/cache";
		Dir::Cache::pkgcache "";
		Dir::Cache::srcpkgcache "";
		Dir::Etc "$apt/etc";
		APT::Architecture "armhf";
		APT::Architectures { "armhf"; };
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Acquire::Retries "1";
		Acquire::http::Timeout "20";
		Acquire::https::Timeout "20";
		CONF
    } > "$apt/apt.conf"
    cat > "$apt/etc/sources.list.d/debian.sources" <<-SOURCES
	Types: deb
	URIs: $mirror
	Suites: $suite
	Components: main
	Signed-By: $keyring
	SOURCES
    export APT_CONFIG="$apt/apt.conf"
}

apt_get() { (cd "$tmp/in" && timeout --foreground 900 apt-get -qq "$@" 2>>"$tmp/log"); }

no_network() {
    why=$(grep -m1 '^[EW]:' "$tmp/log" | cut -c1-200 || :)
    die "cannot get $1 and the cache ($cache) is not complete; connect to a Debian mirror" \
        "(MMIOSCOPE_MIRROR=URL) or point MMIOSCOPE_CACHE at a filled cache${why:+; apt: $why}"
}

# get ROLE PACKAGE APT-COMMAND...: have one file in the cache and its line in the new lock
get() {
    role=$1 package=$2; shift 2
    # apt prints: 'uri' file size SHA256:sum, taken from the signed index
    set -- "$(apt_get --print-uris "$@" "$package" | grep "^'")" "$@"
    [ -n "$1" ] || return 1
    line=$1; shift
    file=$(echo "$line" | cut -d' ' -f2)
    sum=${line##*SHA256:}
    version=$(echo "$file" | sed 's/^[^_]*_//; s/_[^_]*$//; s/%3a/:/')
    if ! cached "$sum" "$file"; then
        say "fetching $file ($(echo "$line" | cut -d' ' -f3) bytes)"
        apt_get "$@" "$package" >&2 || return 1
        # apt has checked the file; it enters the cache whole or not at all.
        cp "$tmp/in/$file" "$cache/.partial.$$"
        [ "$(sha256sum < "$cache/.partial.$$")" = "$sum  -" ] || die "$file does not match its SHA256"
        mv "$cache/.partial.$$" "$cache/$sum"
    fi
    echo "$role $package $version $sum $file" >> "$tmp/lock"
}

package_of() {
    case $1 in
    kernel) apt-cache depends --important "linux-image-$flavour" 2>>"$tmp/log" |
        sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' ;;
    busybox) echo busybox-static ;;
    # For the hypervisor: the archive of the same architecture (hyp/hyp.mk says what is done to it).
    libfdt) echo libfdt-dev ;;
    uboot) echo u-boot-qemu ;;
    sunxi) echo u-boot-sunxi ;;
    efi) echo qemu-efi-arm ;;
    esac
}

fetch() {
    mkdir -p "$cache"
    private_apt
    say "reading the package index of $suite"
    apt_get update >/dev/null || no_network "the package index"
    for role in $roles; do
        package=$(package_of "$role")
        [ -n "$package" ] || no_network "the package index"
        get "$role" "$package" download || no_network "$package"
    done
    mv "$tmp/lock" "$cache/.lock.$$"
    mv "$cache/.lock.$$" "$lock"
}

# --- unpack -------------------------------------------------------------------------------

entry() {   # ROLE -> package, version, sum, file
    read -r _ package version sum file <<-LINE
	$(grep "^$1 " "$lock")
	LINE
}

# Say what was used, down to the bytes, so that the kernel can be shown to be the distribution's.
record() { echo "$1: $package $version, $file, sha256 $sum" >> "$tmp/manifest"; }

# unpack_ROLE: from $tmp/ROLE, where the package is unpacked, to where it belongs; $files says what
# the manifest names.

unpack_kernel() {
    release=${package#linux-image-}
    image=boot/vmlinuz-$release
    dtbs=usr/lib/linux-image-$release
    dpkg-deb --ctrl-tarfile "$cache/$sum" | tar -xO ./md5sums > "$tmp/md5sums"
    grep "  $image\$" "$tmp/md5sums" > "$tmp/wanted"
    trees=
    for board in $boards; do # an older kernel has not all of them
        grep "  $dtbs/$board.dtb\$" "$tmp/md5sums" >> "$tmp/wanted" && trees="$trees $board.dtb"
    done
    (cd "$tmp/kernel" && md5sum --quiet -c "$tmp/wanted") || die "$file is not what its own md5sums say"
    install -m 644 "$tmp/kernel/$image" "$guest/vmlinuz"
    for tree in $trees; do install -m 644 "$tmp/kernel/$dtbs/$tree" "$guest/$tree"; done
    rm -rf "$guest/modules"
    mkdir -p "$guest/modules/lib"
    cp -R "$tmp/kernel/lib/modules" "$guest/modules/lib/modules"
    echo "$release" > "$guest/release"
    (cd "$guest" && sha256sum vmlinuz > vmlinuz.sha256)
    files="$files$trees vmlinuz"
}

unpack_busybox() {
    install -m 755 "$tmp/busybox/bin/busybox" "$guest/busybox"
    files="$files busybox"
}

unpack_libfdt() {
    rm -rf "$build/libfdt"
    mkdir -p "$build/libfdt"
    find "$tmp/libfdt" \( -name '*.h' -o -name libfdt.a \) -exec cp {} "$build/libfdt/" \;
}

unpack_uboot() {
    install -m 644 "$tmp/uboot/usr/lib/u-boot/qemu_arm/u-boot.bin" "$guest/u-boot.bin"
    files="$files u-boot.bin"
}

unpack_sunxi() { # with PSCI firmware; of a board of the same family as orangepi-pc, which it boots, too
    install -m 644 "$tmp/sunxi/usr/lib/u-boot/nanopi_neo/u-boot-sunxi-with-spl.bin" "$guest/u-boot-sunxi.bin"
    files="$files u-boot-sunxi.bin"
}

unpack_efi() { # EDK2 for virt; its flash is 64 MiB, most of them empty
    cp --sparse=always "$tmp/efi/usr/share/AAVMF/AAVMF32_CODE.fd" "$guest/edk2.fd"
    files="$files edk2.fd"
}

unpack() {
    mkdir -p "$guest"
    rm -f "$guest/manifest.txt"     # comes last: while it is missing, make runs this again
    files=
    for role in $roles; do
        entry "$role"; record "$role"
        say "unpacking $package $version"
        mkdir -p "$tmp/$role"
        dpkg-deb -x "$cache/$sum" "$tmp/$role"
        # Debian 13 has in /usr what was in / before.
        for folder in bin lib; do [ -e "$tmp/$role/$folder" ] || ln -s "usr/$folder" "$tmp/$role/$folder"; done
        "unpack_$role"
    done
    (cd "$guest" && for f in $files; do
        echo "file: $f, sha256 $(sha256sum < "$f" | cut -d' ' -f1)"; done) >> "$tmp/manifest"
    cp "$tmp/manifest" "$guest/manifest.txt"
}

cache_complete || fetch
unpack
