# The core linked without its services (hyp/hyp.mk says how), for tests/qemu/cases/core.sh.

tests: $(BUILD)/tests/core/hyp-88000000.elf

# Each return to the guest executes CLREX, as hardware may: QEMU's monitor survives a trap (A3.4.5).
CLREX_OBJECTS := $(filter-out %/vectors.o,$(HYP_OBJECTS)) $(BUILD)/obj/target/tests/core/vectors-clrex.o
$(BUILD)/obj/target/tests/core/vectors-clrex.o: hyp/core/entry/vectors.S hyp/core/entry/fast_path.S $(HYP_OFFSETS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HYP_CXX) -march=armv7ve -marm $(HYP_DEFINES) $(HYP_INCLUDES) '-Deret=clrex; eret' -c $< -o $@
tests: $(BUILD)/tests/core/clrex-88000000.elf $(BUILD)/tests/core/clrex-48000000.elf
$(BUILD)/tests/core/clrex-%.elf: $(CLREX_OBJECTS) linker/hyp.ld
	@$(link_hypervisor)
