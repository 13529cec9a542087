#!/bin/sh
# Installs the Debian packages in the given lists (one per line, `#` starts a comment; RELEASE:PACKAGE
# only on that release of Debian). If all are installed, does nothing and needs no root.
set -eu

release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
missing=
for package in $(sed 's/#.*//' "$@" | sort -u); do
    case $package in
    "$release":*) package=${package#*:} ;;
    *:*) continue ;;
    esac
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=sudo
else
    echo "packages are missing; install them as root: apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
wait=-oDPkg::Lock::Timeout=600 # for another target of make -j that installs, too
$as_root apt-get $wait update -q >/dev/null || echo "apt-get update failed; using the package lists as they are" >&2
# shellcheck disable=SC2086 # a list of words
$as_root apt-get $wait install -q -y --no-install-recommends $missing >/dev/null || {
    echo "apt-get could not install:$missing" >&2
    exit 1
}
