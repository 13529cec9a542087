# Bare-metal guests (tests/guest/) and the integration tests that run QEMU (tests/qemu/). Included from
# the top Makefile, which sets BUILD.

GUEST_CXX ?= arm-none-eabi-g++
GUEST_OBJCOPY ?= arm-none-eabi-objcopy
GUEST_FLAGS := -std=c++20 -march=armv7ve -marm -mgeneral-regs-only -mno-unaligned-access -ffreestanding \
    -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-toplevel-reorder -masm-syntax-unified -O2 -g -Wall -Wextra -Wconversion \
    -Werror

# A guest is tests/guest/NAME.cpp, built for each board that it is listed for: build/tests/guest/BOARD/NAME.bin.
TEST_GUESTS_vexpress-a15 := hammer payloads binary forms beats exclusives outside tables neighbours straddle rewritten steps ends hostile reach switching control_noise snapshots looks costs page_costs timer sharing alarms forged endrace moves watched
TEST_GUESTS_virt := hammer binary ends dma calls hostile reach endrace fetches moves
TEST_GUESTS_orangepi-pc := hammer numbers uarts clocks overruns
TEST_GUEST_RAM_vexpress-a15 := 0x80000000
TEST_GUEST_RAM_virt := 0x40000000
TEST_GUEST_RAM_orangepi-pc := 0x40000000
# How the board starts and ends CPUs, and where they wait.
TEST_GUEST_POWER_vexpress-a15 := board.o pen.o
TEST_GUEST_POWER_virt := psci/power.o psci/pen.o
TEST_GUEST_POWER_orangepi-pc := psci/power.o psci/pen.o
TEST_GUEST_BOARDS := vexpress-a15 virt orangepi-pc
test_guest_out := $(BUILD)/tests/guest

.PHONY: test-guests test-integration
test-guests: $(foreach b,$(TEST_GUEST_BOARDS),$(foreach g,$(TEST_GUESTS_$(b)),$(test_guest_out)/$(b)/$(g).bin))

# REPLAY=FILE: the steps that guest `replay` plays, printed by `mmioscope gen` (tests/qemu/cases/gen.sh).
define test_guest_rules
test_guest_shared_$(1) := $(addprefix $(test_guest_out)/$(1)/,start.o run_form.o platform.o $(TEST_GUEST_POWER_$(1)))

$(test_guest_out)/$(1)/%.o: tests/guest/%.cpp tests/guest/platform.hpp tests/guest/psci.hpp tests/guest/$(1)/board.hpp
	@mkdir -p "$$(@D)"
	@echo "  $$<"
	@$(GUEST_CXX) $(GUEST_FLAGS) -Itests/guest -Itests/guest/$(1) $(HYP_INCLUDES) $$(REPLAY:%=-include %) -c $$< -o $$@

$(test_guest_out)/$(1)/%.o: tests/guest/$(1)/%.cpp tests/guest/platform.hpp tests/guest/psci.hpp tests/guest/$(1)/board.hpp
	@mkdir -p "$$(@D)"
	@echo "  $$<"
	@$(GUEST_CXX) $(GUEST_FLAGS) -Itests/guest -Itests/guest/$(1) -c $$< -o $$@

$(test_guest_out)/$(1)/%.o: tests/guest/%.S
	@mkdir -p "$$(@D)"
	@echo "  $$<"
	@$(GUEST_CXX) -march=armv7ve -c $$< -o $$@

$(test_guest_out)/$(1)/%.o: tests/guest/$(1)/%.S
	@mkdir -p "$$(@D)"
	@echo "  $$<"
	@$(GUEST_CXX) -march=armv7ve -c $$< -o $$@

# The ELF file runs without a hypervisor (-kernel), the raw binary with it.
$(test_guest_out)/$(1)/%.elf: $(test_guest_out)/$(1)/%.o $$(test_guest_shared_$(1)) tests/guest/guest.ld
	@$(GUEST_CXX) $(GUEST_FLAGS) -nostdlib -static -Wl,--no-warn-mismatch -Wl,-z,noexecstack \
	    -Wl,--defsym=RAM_BASE=$(TEST_GUEST_RAM_$(1)) -T tests/guest/guest.ld \
	    $$(filter %.o,$$^) -lc -lgcc -o $$@

.SECONDARY: $$(test_guest_shared_$(1)) $(foreach g,$(TEST_GUESTS_$(1)),$(test_guest_out)/$(1)/$(g).o \
    $(test_guest_out)/$(1)/$(g).elf)
endef
$(foreach b,$(TEST_GUEST_BOARDS),$(eval $(call test_guest_rules,$(b))))

$(test_guest_out)/%.bin: $(test_guest_out)/%.elf
	@$(GUEST_OBJCOPY) -O binary $< $@

test-integration: test-guests
	@tests/qemu/run.sh

