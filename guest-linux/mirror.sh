#!/bin/sh
# Prints the URL of a Debian mirror: MMIOSCOPE_MIRROR, or the one that this host uses. Before the host's first
# "apt-get update" there is no release info to tell Debian from other archives; then the address has to.
[ -z "${MMIOSCOPE_MIRROR-}" ] || { echo "$MMIOSCOPE_MIRROR"; exit; }
for info in --release-info --no-release-info; do
    apt-get indextargets $info --format '$(ORIGIN) $(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null
done | awk '$2 == "main" && $3 !~ /[-\/]/ && ($1 == "Debian" || $1 ~ /^\$/ && $4 ~ /debian/) { print $4; exit }'
