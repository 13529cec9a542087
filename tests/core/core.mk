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
