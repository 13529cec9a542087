# The guest of tests/qemu/cases/guest_program.sh: the Linux guest's RAM disk with an init of its own behind it.
guest_program_test := $(BUILD)/tests/guest-program
tests: $(guest_program_test)/overlay.img $(BUILD)/guest/initrd.img

# A kernel unpacks one archive behind the other.
$(guest_program_test)/overlay.img: tests/guest-program/init
	@rm -rf "$(@D)/root" && mkdir -p "$(@D)/root"
	@install -m 755 $< "$(@D)/root/guest-program"
	@cd "$(@D)/root" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -9n > ../overlay.img
