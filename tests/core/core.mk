# The core linked without its services (hyp/hyp.mk says how), for tests/qemu/cases/core.sh.

tests: $(BUILD)/tests/core/hyp-88000000.elf

# With a page that one CPU has at a time.
ONE_CPUS_PAGE_OBJECTS := $(filter-out $(BUILD)/obj/target/hyp/services/services.o,$(HYP_OBJECTS)) \
    $(BUILD)/obj/target/tests/core/one_cpus_page.o
$(BUILD)/obj/target/tests/core/one_cpus_page.o: HYP_FLAGS += -Itests
tests: $(BUILD)/tests/core/one-cpus-page-88000000.elf
$(BUILD)/tests/core/one-cpus-page-%.elf: $(ONE_CPUS_PAGE_OBJECTS) linker/hyp.ld
	@$(link_hypervisor)
.SECONDARY: $(ONE_CPUS_PAGE_OBJECTS)
-include $(BUILD)/obj/target/tests/core/one_cpus_page.d

# Each return to the guest executes CLREX, as hardware may: QEMU's monitor survives a trap (A3.4.5).
CLREX_OBJECTS := $(filter-out %/vectors.o,$(HYP_OBJECTS)) $(BUILD)/obj/target/tests/core/vectors-clrex.o
$(BUILD)/obj/target/tests/core/vectors-clrex.o: hyp/core/entry/vectors.S hyp/core/entry/fast_path.S $(HYP_OFFSETS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HYP_CXX) -march=armv7ve -marm $(HYP_DEFINES) $(HYP_INCLUDES) '-Deret=clrex; eret' -c $< -o $@
tests: $(BUILD)/tests/core/clrex-88000000.elf $(BUILD)/tests/core/clrex-48000000.elf
$(BUILD)/tests/core/clrex-%.elf: $(CLREX_OBJECTS) linker/hyp.ld
	@$(link_hypervisor)
