# The guest of tests/qemu/cases/transparency.sh: the Linux guest's RAM disk with an init and a probe of its own
# behind it, and the loader that starts the same kernel without the hypervisor.

transparency_out := $(BUILD)/tests/transparency
PROBE_CC ?= arm-linux-gnueabihf-gcc
PROBE_FLAGS := -std=gnu11 -O1 -marm -static -s -Wall -Wextra -Werror

tests: $(transparency_out)/overlay.img $(transparency_out)/loader.elf

$(transparency_out)/probe: $(wildcard tests/transparency/*.c) tests/transparency/probe.h tests/transparency/targets.S
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(PROBE_CC) $(PROBE_FLAGS) -o $@ $(filter-out %.h,$^)

# A kernel unpacks one archive behind the other.
$(transparency_out)/overlay.img: $(transparency_out)/probe tests/transparency/init
	@rm -rf "$(@D)/root" && mkdir -p "$(@D)/root/bin"
	@install -m 755 $(transparency_out)/probe "$(@D)/root/bin/probe"
	@install -m 755 tests/transparency/init "$(@D)/root/transparency"
	@cd "$(@D)/root" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -9n > ../overlay.img

# Where the hypervisor would be (host-tools/run/board.cpp), which the guest's tree leaves out.
$(transparency_out)/loader.elf: tests/transparency/loader.S
	@mkdir -p "$(@D)"
	@echo "  $@"
	@arm-none-eabi-gcc -nostdlib -Wl,-Ttext=0x88000000 -o $@ $<
