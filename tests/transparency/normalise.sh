# What is allowed to differ between a run with the hypervisor and one without. Nothing else is.
# shellcheck shell=bash disable=SC2034 # used where this is read in

# Kernel arguments of both runs, which fix what a boot leaves to chance:
#   printk.time=0             time stamps, different in any two boots
#   initramfs_async=0         work in the background, whose messages come between any two others
#   deferred_probe_timeout=0  messages that come ten seconds after the boot, whatever happens then
#   audit=0                   a message of a kernel thread, in any place, with a time stamp
#   panic=-1                  a panic ends the run at once
settled='printk.time=0 initramfs_async=0 deferred_probe_timeout=0 audit=0 panic=-1'

# Lines that are left out or cut:
#   rtc-pl031 ... setting system clock to    the time of day
#   hrtimer: interrupt took N ns             how long the host let a CPU wait; often it says nothing
#   random: ...                              when the kernel has gathered enough entropy
#   *pgd=, *pmd= of an Unhandled fault       the pages where the kernel keeps its translation tables
#   Time: 12:00:NN                           how long ago U-Boot's clock was set to noon
#   stop autoboot: ... 0                     a space behind it, if U-Boot was counting when the key came, not about to
#   mmioscope: virt, ...                     the hypervisor's own first line, where it shares the board's one UART
normalise() { # FILE
    sed -E -e 's/\r$//' \
        -e 's/^(rtc-pl031 .* setting system clock to) .*/\1 (time)/' \
        -e '/^hrtimer: interrupt took [0-9]+ ns$/d' \
        -e '/^random: /d' \
        -e 's/\*(pgd|pmd)=[0-9a-f]+/*\1=(page)/g' \
        -e 's/(Time: 12:00:)[0-5][0-9]$/\1(seconds)/' \
        -e 's/(stop autoboot: .* 0) $/\1/' \
        -e '/^mmioscope: virt, [0-9]+ CPUs, [a-z]+ engine$/d' "$1"
}
