# The guest of tests/qemu/cases/transparency.sh: the Linux guest's RAM disk, followed by an init and a probe of its own,
# and the loader that starts the same kernel without the hypervisor.

transparency_out := $(BUILD)/tests/transparency
transparency_boards := vexpress-a15 virt
RAM_vexpress-a15 := 0x80000000
RAM_virt := 0x40000000
PROBE_CC ?= arm-linux-gnueabihf-gcc
PROBE_FLAGS := -std=gnu11 -O1 -marm -static -s -Wall -Wextra -Werror

tests: $(transparency_out)/overlay.img $(foreach b,$(transparency_boards),$(transparency_out)/loader-$(b).elf)
tests: $(transparency_out)/from_flash.bin $(BUILD)/guest-u-boot/manifest.txt

$(transparency_out)/probe: $(wildcard tests/transparency/*.c) tests/transparency/probe.h tests/transparency/targets.S
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(PROBE_CC) $(PROBE_FLAGS) -o $@ $(filter-out %.h,$^)

# A kernel unpacks consecutive archives.
$(transparency_out)/overlay.img: $(transparency_out)/probe tests/transparency/init
	@rm -rf "$(@D)/root" && mkdir -p "$(@D)/root/bin"
	@install -m 755 $(transparency_out)/probe "$(@D)/root/bin/probe"
	@install -m 755 tests/transparency/init "$(@D)/root/transparency"
	@cd "$(@D)/root" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -9n > ../overlay.img

# It is at the hypervisor's address (host-tools/run/board.cpp), which the guest's tree leaves out.
define transparency_loader
$(transparency_out)/loader-$(1).elf: tests/transparency/loader.S
	@mkdir -p "$$(@D)"
	@echo "  $$@"
	@arm-none-eabi-gcc -nostdlib -Wa,--defsym,RAM_BASE=$(RAM_$(1)) \
	    -Wl,-Ttext=$$$$(printf '0x%x' $$$$(($(RAM_$(1)) + 0x8000000))) -o $$@ $$<
endef
$(foreach b,$(transparency_boards),$(eval $(call transparency_loader,$(b))))

# For virt: the same kernel again, a RAM disk for it, and a program that starts it.
tests: $(transparency_out)/kexec.img
$(transparency_out)/kexec: tests/transparency/kexec/kexec.c
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(PROBE_CC) $(PROBE_FLAGS) -o $@ $<

$(transparency_out)/kexec.img: $(transparency_out)/kexec tests/transparency/kexec/second-start tests/transparency/kexec/kexec-traced \
		$(BUILD)/guest/vmlinuz
	@rm -rf "$(@D)/second" "$(@D)/again" && mkdir -p "$(@D)/second/bin" "$(@D)/again/bin"
	@install -m 755 $(BUILD)/guest/busybox "$(@D)/second/bin/busybox"
	@ln -s busybox "$(@D)/second/bin/sh"
	@install -m 755 tests/transparency/kexec/second-start "$(@D)/second/second-start"
	@cd "$(@D)/second" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -9n > ../again/second.img
	@install -m 755 $(transparency_out)/kexec "$(@D)/again/bin/kexec"
	@install -m 755 tests/transparency/kexec/kexec-traced "$(@D)/again/kexec-traced"
	@install -m 644 $(BUILD)/guest/vmlinuz "$(@D)/again/vmlinuz"
	@cd "$(@D)/again" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -1n > ../kexec.img

$(transparency_out)/from_flash.elf: tests/transparency/from_flash.S
	@mkdir -p "$(@D)"
	@arm-none-eabi-gcc -nostdlib -Wl,-Ttext=0x43000000 -o $@ $<

$(transparency_out)/from_flash.bin: $(transparency_out)/from_flash.elf
	@arm-none-eabi-objcopy -O binary $< $@

$(BUILD)/guest-u-boot/manifest.txt: guest-linux/fetch.sh
	guest-linux/fetch.sh '$(BUILD)' u-boot
