# The guest: a stock Debian kernel with its device tree, an initial RAM disk, an SD card.
# Included by the top Makefile; alone: make -f guest-linux/guest.mk BUILD=build guest

BUILD ?= build
# MiB of data that the guest reads from its SD card.
SD_MIB ?= 1

guest_out := $(BUILD)/guest

include guest-linux/program/program.mk

.PHONY: guest guest-always
guest: $(guest_out)/vmlinuz $(guest_out)/initrd.img $(guest_out)/sd.img
	@:

# The device trees that fetch.sh lists.
guest_trees := $(shell sed -n 's/^boards="\(.*\)"$$/\1/p' guest-linux/fetch.sh)
# One run makes all of these.
$(guest_out)/vmlinuz $(guest_out)/vmlinuz.sha256 $(guest_trees:%=$(guest_out)/%.dtb) \
$(guest_out)/busybox $(guest_out)/release $(guest_out)/manifest.txt \
$(BUILD)/libfdt/libfdt.h $(BUILD)/libfdt/libfdt.a &: guest-linux/fetch.sh
	guest-linux/fetch.sh '$(BUILD)'

$(guest_out)/initrd.img: guest-linux/initramfs.sh guest-linux/modules.sh guest-linux/init $(guest_program) $(guest_out)/manifest.txt
	guest-linux/initramfs.sh '$(guest_out)' guest-linux/init $(guest_program)

# Debian's other kernel for such boards: short descriptors instead of the large physical address extension. And the
# kernels of other Debian releases, 5.10 and 6.12, and the one with PREEMPT_RT.
guest_others := armmp bullseye trixie rt
.PHONY: $(guest_others:%=guest-%)
$(guest_others:%=guest-%): guest-%: $(guest_out)-%/initrd.img
	@:

$(guest_others:%=$(guest_out)-%/manifest.txt): $(guest_out)-%/manifest.txt: guest-linux/fetch.sh
	guest-linux/fetch.sh '$(BUILD)' $*

$(guest_others:%=$(guest_out)-%/initrd.img): $(guest_out)-%/initrd.img: guest-linux/initramfs.sh guest-linux/modules.sh guest-linux/init \
    $(guest_program) $(guest_out)-%/manifest.txt
	guest-linux/initramfs.sh '$(guest_out)-$*' guest-linux/init $(guest_program)

$(guest_out)/sd.img: guest-linux/sdcard.sh
	@mkdir -p '$(@D)'
	guest-linux/sdcard.sh '$(guest_out)' '$(SD_MIB)'
	@echo '$(SD_MIB)' > '$(guest_out)/sd.mib'

# If the size has changed, build the card again.
ifneq ($(SD_MIB),$(shell cat '$(guest_out)/sd.mib' 2>/dev/null))
$(guest_out)/sd.img: guest-always
endif
