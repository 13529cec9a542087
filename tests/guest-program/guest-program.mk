# The guest of tests/qemu/cases/guest_program.sh: the Linux guest's RAM disk, followed by an init of its own.
guest_program_test := $(BUILD)/tests/guest-program
tests: $(guest_program_test)/overlay.img $(BUILD)/guest/initrd.img

$(guest_program_test)/take: tests/guest-program/take.c
	@mkdir -p "$(@D)"
	@echo "  $@"
	@arm-linux-gnueabihf-gcc -std=gnu11 -O1 -static -s -Wall -Wextra -Werror -o $@ $<

# A kernel unpacks consecutive archives.
$(guest_program_test)/overlay.img: tests/guest-program/overlay.sh guest-linux/modules.sh tests/guest-program/init \
		$(guest_program_test)/take $(BUILD)/guest/manifest.txt
	tests/guest-program/overlay.sh '$(BUILD)/guest' $@ tests/guest-program/init $(guest_program_test)/take
