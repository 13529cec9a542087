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

# The self-test with a UART given by hand, of each model: NAME-EARLY_UART, where its registers are on the board that the
# case starts.
DOCTOR_UARTS := pl011-48000000=pl011,0x9000000 uart8250-48000000=uart8250,mmio32,0x1c28000 imx-88000000=ec_imx6q,0x30860000

define doctor_with_uart
tests: $(BUILD)/tests/doctor/$(1).elf
$(BUILD)/tests/doctor/$(1).o: boot/boot.cpp hyp/start/early_uart.hpp hyp/hyp.mk
	@mkdir -p "$$(@D)"
	@$(HYP_CXX) $(HYP_FLAGS) -Os -I. -DEARLY_UART='"$(2)"' -MMD -MP -c $$< -o $$@
$(BUILD)/tests/doctor/$(1).elf: $(BUILD)/tests/doctor/$(word 1,$(subst -, ,$(1)))-%.elf: $(BUILD)/tests/doctor/$(1).o \
    $(filter-out $(BUILD)/obj/target/boot/boot.o,$(HYP_DOCTOR_OBJECTS)) linker/hyp.ld
	@$$(link_hypervisor)
-include $(BUILD)/tests/doctor/$(1).d
endef
$(foreach u,$(DOCTOR_UARTS),$(eval $(call doctor_with_uart,$(word 1,$(subst =, ,$(u))),$(word 2,$(subst =, ,$(u))))))
