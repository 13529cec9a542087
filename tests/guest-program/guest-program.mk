# The guest of tests/qemu/cases/guest_program.sh: the Linux guest's RAM disk with an init of its own behind it.
guest_program_test := $(BUILD)/tests/guest-program
tests: $(guest_program_test)/overlay.img $(BUILD)/guest/initrd.img

$(guest_program_test)/take: tests/guest-program/take.c
	@mkdir -p "$(@D)"
	@echo "  $@"
	@arm-linux-gnueabihf-gcc -std=gnu11 -O1 -static -s -Wall -Wextra -Werror -o $@ $<

# A kernel unpacks one archive behind the other.
$(guest_program_test)/overlay.img: tests/guest-program/init $(guest_program_test)/take
	@rm -rf "$(@D)/root" && mkdir -p "$(@D)/root/bin"
	@install -m 755 $< "$(@D)/root/guest-program"
	@install -m 755 $(guest_program_test)/take "$(@D)/root/bin/take"
	@cd "$(@D)/root" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -9n > ../overlay.img
