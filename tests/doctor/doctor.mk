# A boot loader with faults, in front of the self-test image (tests/qemu/cases/doctor.sh): 16 MiB below it.

DOCTOR_LOADERS := 48000000 88000000

tests: $(DOCTOR_LOADERS:%=$(BUILD)/tests/doctor/loader-%.elf)
$(BUILD)/tests/doctor/loader-%.elf: tests/doctor/entry.S
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HYP_CXX) -march=armv7ve -marm -nostdlib -static -Wl,--defsym=IMAGE_BASE=0x$* -Wl,-Ttext=$$(printf '0x%x' $$((0x$* - (16 << 20)))) \
	    -Wl,-z,noexecstack -Wl,--build-id=none -Wl,-N $< -o $@

tests: $(DOCTOR_LOADERS:%=$(BUILD)/tests/doctor/image-%.bin)
$(BUILD)/tests/doctor/image-%.bin: $(BUILD)/doctor-%.elf
	@mkdir -p "$(@D)"
	@$(GUEST_OBJCOPY) -O binary $< $@
