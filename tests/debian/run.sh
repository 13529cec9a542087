#!/bin/bash
# What a newcomer does on a bare Debian: `make demo` and `make test`, in a folder that debootstrap fills, for each release.
# Usage: tests/debian/run.sh BUILD [RELEASE[:STEP]...], as root; default: both steps, `demo` and `test`, on bookworm and
# trixie. It tests the commit, not changes that are in no commit, and leaves BUILD/tests/debian/RELEASE-STEP.log.
set -u
build=$1 passed=0 failed=0
shift
steps=("$@")
[ $# -gt 0 ] || steps=({bookworm,trixie}:{demo,test})
logs=$build/tests/debian
root='' child=''
trap '[ -z "$child" ] || { kill "$child" 2>/dev/null; wait "$child"; }; [ -z "$root" ] || rm -rf --one-file-system "$root"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# bare RELEASE: the folder `root`, with what `make demo` needs, and how this host reaches the network.
bare() {
    local mirror
    mirror=$(guest-linux/mirror.sh)
    [ -n "$mirror" ] || { echo 'set MMIOSCOPE_MIRROR=URL'; return 1; }
    debootstrap --variant=minbase --include=git,make,ca-certificates \
        --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$1" "$root" "$mirror" || return 1
    apt-config dump | grep -E '^Acquire::(https?|Check-[A-Za-z-]*)(::| )' >"$root/etc/apt/apt.conf.d/99host"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/host-ca.crt"
    echo '127.0.0.1 localhost' >"$root/etc/hosts" # an installer writes it, debootstrap does not
    git clone -q . "$root/root/mmioscope"
}

# inside SECONDS COMMAND...: runs it in `root`. Its mounts and processes end with it. A shell is process 1, because it waits
# for those that lost their parents.
inside() {
    local seconds=$1
    shift
    # shellcheck disable=SC2016 # for the inner shells
    timeout --kill-after=10 "$seconds" unshare --mount --pid --fork --kill-child sh -euc '
        mount -t proc proc "$0/proc"
        mount -t sysfs -o ro sysfs "$0/sys"
        mount -t tmpfs tmpfs "$0/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=666 devpts "$0/dev/pts"
        exec chroot "$0" "$@"' "$root" \
        env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 NODE_EXTRA_CA_CERTS=/etc/host-ca.crt \
        ${registry:+npm_config_registry="$registry"} sh -c '"$@"; exit $?' sh "$@" &
    child=$!
    wait "$child"
    local status=$?
    child=''
    return $status
}

# step RELEASE STEP SECONDS PATTERN: a line of what `make STEP` prints must match.
step() {
    local log=$logs/$1-$2.log start=$SECONDS status line
    inside "$3" make -C /root/mmioscope "$2" >"$log" 2>&1 </dev/null
    status=$?
    line=$(grep -E "^$4" "$log" | tail -n 1)
    if [ "$status" = 0 ] && [ -n "$line" ]; then
        passed=$((passed + 1))
        echo "ok $1-$2 ($((SECONDS - start)) s): $line; $(inside 60 qemu-system-arm --version | head -n 1)"
    else
        failed=$((failed + 1))
        tail -n 20 "$log"
        echo "FAILED $1-$2: exit status $status ($log)"
    fi
}

[ "$(id -u)" = 0 ] || { echo 'FAILED debian: debootstrap and chroot need root'; exit 1; }
contrib/install-packages.sh tests/debian/packages.txt || exit 1
mkdir -p "$logs"
registry=$(npm config get registry 2>/dev/null)
for release in $(printf '%s\n' "${steps[@]%%:*}" | uniq); do
    root=$(mktemp -d "$logs/$release.XXXX") && root=$(realpath "$root") && chmod 755 "$root" || exit 1
    if bare "$release" >"$logs/$release.log" 2>&1; then
        for one in "${steps[@]}"; do
            case $one in
            "$release:demo") step "$release" demo 3600 'complete: [1-9][0-9]* events, 0 lost' ;;
            "$release:test") step "$release" test 7200 '[1-9][0-9]* passed, 0 failed$' ;;
            esac
        done
    else
        failed=$((failed + 1))
        tail -n 5 "$logs/$release.log"
        echo "FAILED $release: no bare Debian ($logs/$release.log)"
    fi
    rm -rf --one-file-system "$root"
    root=
done
echo "debian: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
