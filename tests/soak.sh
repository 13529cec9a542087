#!/bin/bash
# Runs the longest cases once, then the contended and the dense ones over and over.
# Usage: tests/soak.sh [MINUTES], default 60. Stops at the first failure: its recording is in build/tests/qemu/.
set -u
minutes=${1:-60}
cases=(hammer-shadow hammer-emulation linux-shadow linux-emulation linux-wrap-shadow linux-wrap-emulation
    contention-shadow contention-emulation
    ends-shadow ends-emulation virt-ends-shadow virt-ends-emulation # another CPU unmaps the page, 20,000 times
    hotplug-shadow hotplug-emulation virt-hotplug-shadow virt-hotplug-emulation)
end=$((SECONDS + 60 * minutes)) rounds=0
tests/qemu/run.sh --tier soak || { echo "soak: 0 passed, 1 failed"; exit 1; }
while [ "$SECONDS" -lt "$end" ]; do
    tests/qemu/run.sh "${cases[@]}" || { echo "soak: $rounds passed, 1 failed"; exit 1; }
    rounds=$((rounds + 1))
    echo "soak: round $rounds, $(((end - SECONDS) / 60)) minutes to go"
done
echo "soak: $rounds passed, 0 failed"
