# The generated cases, and the guest that runs them. Included from the top Makefile, which sets BUILD.
#   CASES_FLAGS   options of generate.py: --seed N --extra N --few N --crossings N --only TEXT --without TEXT --show

CASES_FLAGS ?=
GUEST_AS ?= arm-none-eabi-as
cases_board := $(BUILD)/tests/guest/vexpress-a15
cases_out := $(BUILD)/tests/instructions
cases_objects := $(addprefix $(cases_out)/,guest.o pages.o run_case.o cases.o)

.PHONY: cases-flags
tests: $(cases_board)/instructions.bin

$(cases_out)/%.o: tests/instructions/%.cpp $(wildcard tests/instructions/*.hpp) tests/guest/platform.hpp \
    tests/guest/vexpress-a15/board.hpp
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(GUEST_CXX) $(GUEST_FLAGS) -Itests/guest -Itests/guest/vexpress-a15 -c $< -o $@

$(cases_out)/%.o: tests/instructions/%.S
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(GUEST_CXX) -march=armv7ve -c $< -o $@

# Rebuilt if the options have changed.
$(cases_out)/flags: cases-flags
	@mkdir -p "$(@D)"
	@echo '$(CASES_FLAGS)' | cmp -s - $@ || echo '$(CASES_FLAGS)' > $@

$(cases_out)/cases.S: $(cases_out)/flags $(wildcard tests/instructions/*.py)
	@echo "  tests/instructions/generate.py"
	@python3 -B tests/instructions/generate.py $@ $(@:.S=.tsv) $(CASES_FLAGS)

# The assembler's encodings; they must have a case for each row of the manual's tables.
$(cases_out)/cases.o: $(cases_out)/cases.S
	@$(GUEST_AS) -mno-warn-deprecated $< -o $@
	@$(GUEST_OBJCOPY) -O binary -j .rodata.cases $@ $(@:.o=.bin)
	@python3 -B tests/instructions/coverage.py $(@:.o=.bin) > $(@:.o=.rows) || \
	    $(if $(findstring --only,$(CASES_FLAGS)),:,{ cat $(@:.o=.rows); exit 1; })

$(cases_board)/instructions.elf: $(cases_objects) $(addprefix $(cases_board)/,start.o pen.o platform.o board.o) \
    tests/guest/guest.ld
	@$(GUEST_CXX) $(GUEST_FLAGS) -nostdlib -static -Wl,--no-warn-mismatch -Wl,-z,noexecstack \
	    -Wl,--defsym=RAM_BASE=$(TEST_GUEST_RAM_vexpress-a15) -T tests/guest/guest.ld \
	    $(filter %.o,$^) -lc -lgcc -o $@
