# The hypervisor's assembly for the simulated machine (hyp_code.cpp), linked at the image's address there; the C++
# functions that it calls have addresses after it, where there is nothing.

sim_generated := $(BUILD)/generated/tests/sim
sim_called := --defsym=mmioscope_guest_trap=0x8201f000 --defsym=mmioscope_access_aborted=0x8201f004 \
    --defsym=mmioscope_look_ahead=0x8201f008

$(sim_generated)/fast_path.elf: hyp/core/entry/fast_path.S tests/sim/sim.mk
	@mkdir -p "$(@D)"
	@$(HYP_CXX) -march=armv7ve -marm -nostdlib -Wl,-Ttext=0x82000000 -Wl,-e,guest_trap \
	    $(sim_called:%=-Wl,%) -o "$@" $<

$(sim_generated)/fast_path.inc: $(sim_generated)/fast_path.elf
	@$(GUEST_OBJCOPY) -O binary $< $(@:.inc=.bin)
	@{ echo 'constexpr std::uint32_t fast_path_base = 0x82000000;'; \
	   echo 'constexpr std::uint32_t fast_path_words[] = {'; \
	   od -An -v -tx4 $(@:.inc=.bin) | sed 's/ \([0-9a-f]\{8\}\)/0x\1,/g'; echo '};'; \
	   echo 'constexpr Symbol fast_path_symbols[] = {'; \
	   arm-none-eabi-nm $< | awk '$$2 ~ /[TRA]/ { printf "{0x%s, \"%s\"},\n", $$1, $$3 }'; echo '};'; } > $@

sim_fast_path_users := $(patsubst %,$(BUILD)/%/tests/sim/hyp_code.o,unit mutants fuzz/simulated)
$(sim_fast_path_users): $(sim_generated)/fast_path.inc
