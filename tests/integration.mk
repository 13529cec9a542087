# Bare-metal guests (tests/guest/) and the integration tests that run QEMU (tests/qemu/). Included from
# the top Makefile, which sets BUILD.

GUEST_CXX ?= arm-none-eabi-g++
GUEST_OBJCOPY ?= arm-none-eabi-objcopy
GUEST_FLAGS := -std=c++20 -march=armv7ve -marm -mgeneral-regs-only -mno-unaligned-access -ffreestanding \
    -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-toplevel-reorder -masm-syntax-unified -O2 -g -Wall -Wextra -Wconversion \
    -Werror

TEST_GUESTS := hammer forms outside neighbours straddle
test_guest_out := $(BUILD)/tests/guest
test_guest_shared := $(addprefix $(test_guest_out)/,start.o run_form.o platform.o)

.PHONY: test-guests test-integration
test-guests: $(foreach guest,$(TEST_GUESTS),$(test_guest_out)/$(guest).bin)

$(test_guest_out)/%.o: tests/guest/%.cpp tests/guest/platform.hpp
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(GUEST_CXX) $(GUEST_FLAGS) -c $< -o $@

$(test_guest_out)/%.o: tests/guest/%.S
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(GUEST_CXX) -march=armv7ve -c $< -o $@

# The ELF file runs without a hypervisor (-kernel), the raw binary under it.
$(test_guest_out)/%.elf: $(test_guest_out)/%.o $(test_guest_shared) tests/guest/guest.ld
	@$(GUEST_CXX) $(GUEST_FLAGS) -nostdlib -static -Wl,--no-warn-mismatch -Wl,-z,noexecstack -T tests/guest/guest.ld \
	    $(filter %.o,$^) -lc -lgcc -o $@

$(test_guest_out)/%.bin: $(test_guest_out)/%.elf
	@$(GUEST_OBJCOPY) -O binary $< $@

test-integration: test-guests
	@tests/qemu/run.sh

.SECONDARY: $(test_guest_shared) $(foreach guest,$(TEST_GUESTS),$(test_guest_out)/$(guest).o \
    $(test_guest_out)/$(guest).elf)
