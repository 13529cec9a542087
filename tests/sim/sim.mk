# The hypervisor's assembly for the simulated machine (hyp_code.cpp), linked at the image's address there; the C++
# functions that it calls have addresses after it, where there is nothing.

sim_generated := $(BUILD)/generated/tests/sim
sim_called := --defsym=mmioscope_guest_trap=0x8201f000 --defsym=mmioscope_access_aborted=0x8201f004 \
    --defsym=mmioscope_reserve=0x8201f008

$(sim_generated)/fast_path.elf: hyp/core/entry/fast_path.S $(HYP_OFFSETS) tests/sim/sim.mk
	@mkdir -p "$(@D)"
	@$(HYP_CXX) -march=armv7ve -marm -nostdlib $(HYP_INCLUDES) -Wl,-Ttext=0x82000000 -Wl,-e,guest_trap \
	    $(sim_called:%=-Wl,%) -o "$@" $<

# What runs with the MMU off (boot_code.cpp): the start, and functions of port/ and of the C library, which are ARM code
# as in the image. Other functions that these refer to are not called.
sim_booted := $(addprefix $(BUILD)/obj/target/,hyp/core/port/wait.o boot/runtime.o)
$(sim_generated)/boot_code.elf: boot/start.S hyp/core/entry/cpu_number.S $(sim_booted) tests/sim/sim.mk
	@mkdir -p "$(@D)"
	@$(HYP_CXX) -march=armv7ve -marm -nostdlib $(HYP_DEFINES) $(HYP_INCLUDES) -Wl,-Ttext=0x88000000 \
	    -Wl,-e,_start -Wl,--unresolved-symbols=ignore-all -Wl,--no-warn-rwx-segments \
	    -Wl,--defsym=hyp_vectors=0x8a000000 -Wl,--defsym=bss_begin=0x8b000000 -Wl,--defsym=bss_end=0x8b000040 \
	    -Wl,--defsym=boot_stacks=0x8c000000 -Wl,--defsym=mmioscope_find_board=0x88f00000 \
	    -o "$@" $(filter %.S,$(word 1,$^)) $(sim_booted)

$(sim_generated)/%.inc: $(sim_generated)/%.elf
	@$(GUEST_OBJCOPY) -O binary -j .text -j .rodata $< $(@:.inc=.bin)
	@{ echo 'constexpr std::uint32_t $*_base = 0x'"$$(arm-none-eabi-objdump -h $< | awk '$$2 == ".text" { print $$4 }');"; \
	   echo 'constexpr std::uint32_t $*_words[] = {'; \
	   od -An -v -tx4 $(@:.inc=.bin) | sed 's/ \([0-9a-f]\{8\}\)/0x\1,/g'; echo '};'; \
	   echo 'constexpr Symbol $*_symbols[] = {'; \
	   arm-none-eabi-nm $< | awk '$$2 ~ /[TtRA]/ { printf "{0x%s, \"%s\"},\n", $$1, $$3 }'; echo '};'; } > $@

sim_users = $(patsubst %,$(BUILD)/%/tests/sim/$(1).o,unit mutants fuzz/simulated)
$(call sim_users,hyp_code): $(sim_generated)/fast_path.inc
$(call sim_users,boot_code): $(sim_generated)/boot_code.inc
