# The permitted differences between a run with the hypervisor and one without. There are no others.
# shellcheck shell=bash disable=SC2034 # used where this is sourced

# Kernel arguments of both runs, which fix what would vary from boot to boot:
#   printk.time=0             time stamps, different in any two boots
#   initramfs_async=0         background work, whose messages come between any two others
#   deferred_probe_timeout=0  messages that come ten seconds after the boot, whatever happens then
#   audit=0                   a message of a kernel thread, at any place, with a time stamp
#   panic=-1                  a panic ends the run at once
settled='printk.time=0 initramfs_async=0 deferred_probe_timeout=0 audit=0 panic=-1'

# Lines that are removed or cut:
#   rtc-pl031 ... setting system clock to    the time of day
#   hrtimer: interrupt took N ns             how long the host let a CPU wait; often absent
#   Retrying again to check for CPU kill    how long the host let a CPU wait that switches itself off; often absent
#   random: ...                              when the kernel has gathered enough entropy
#   *pgd=, *pmd= of an Unhandled fault       the pages of the kernel's translation tables
#   Time: 12:00:NN                           the time since U-Boot's clock was set to noon
#   stop autoboot: ... 0                     a space after it, if U-Boot was counting when the key came, not about to
#   mmioscope: linux,dummy-virt, ...         the hypervisor's own first line, if it shares the board's one UART
normalise() { # FILE
    sed -E -e 's/\r$//' \
        -e 's/^(rtc-pl031 .* setting system clock to) .*/\1 (time)/' \
        -e '/^hrtimer: interrupt took [0-9]+ ns$/d' \
        -e '/^Retrying again to check for CPU kill$/d' \
        -e '/^random: /d' \
        -e 's/\*(pgd|pmd)=[0-9a-f]+/*\1=(page)/g' \
        -e 's/(Time: 12:00:)[0-5][0-9]$/\1(seconds)/' \
        -e 's/(stop autoboot: .* 0) $/\1/' \
        -e '/^mmioscope: linux,dummy-virt, [0-9]+ CPUs, [a-z]+ engine$/d' "$1"
}
