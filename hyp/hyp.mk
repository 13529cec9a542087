# The hypervisor. The target links all of HYP_SOURCES; the host tests (tests/) link the same files
# with their own port/.

HYP_CORE_SOURCES := $(sort $(filter-out hyp/core/port/%,$(wildcard hyp/core/*/*.cpp)))
HYP_START_SOURCES := $(sort $(wildcard hyp/start/*.cpp hyp/start/*/*.cpp))
HYP_SERVICE_SOURCES := $(sort $(wildcard hyp/services/*.cpp hyp/services/*/*.cpp))
HYP_SOURCES := $(HYP_CORE_SOURCES) $(HYP_START_SOURCES) $(HYP_SERVICE_SOURCES)
# A room is included by its name, whatever storey it is on.
HYP_INCLUDES := -Ihyp -Ihyp/core -Ihyp/start -Ihyp/services
HYP_TARGET_SOURCES := $(wildcard hyp/core/port/*.cpp) boot/boot.cpp boot/runtime.cpp
HYP_ASSEMBLY := hyp/core/entry/vectors.S hyp/core/entry/trial.S boot/start.S

HYP_CXX ?= arm-none-eabi-g++
HYP_MAX_CPUS := 8
HYP_STACK_SIZE := 16384
HYP_TABLE_POOL_SIZE := 0x180000
HYP_BOOT_TREE_OFFSET := 0xe00000
# An image for each load address: 128 MiB above the start of a board's memory.
HYP_IMAGE_BASES := 08000000 48000000 88000000
# A UART for messages before the device tree is read, and where the tree names none: pl011,0x1c090000;
# uart8250,mmio32,0x1c28000; ec_imx6q,0x30860000 (hyp/start/early_uart.hpp).
EARLY_UART ?=

# For the assembly; boot/boot.cpp asserts that C++ has the same values.
HYP_DEFINES := -DMAX_CPUS=$(HYP_MAX_CPUS) -DSTACK_SIZE=$(HYP_STACK_SIZE) \
    -DBOOT_TREE_OFFSET=$(HYP_BOOT_TREE_OFFSET)

# GCC 14 takes a constructor that it evaluates itself (FixedVector's) for an unused value. The host's build of the same
# sources warns of real ones.
HYP_FLAGS := -std=c++20 -march=armv7ve -mthumb -mgeneral-regs-only -mno-unaligned-access \
    -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit \
    $(HYP_DEFINES) -ffunction-sections -fdata-sections -O2 -g -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-psabi -Wno-unused-value \
    $(HYP_INCLUDES)

hyp_object = $(BUILD)/obj/target/$(basename $(1)).o
HYP_OBJECTS := $(foreach s,$(HYP_SOURCES) $(HYP_TARGET_SOURCES) $(HYP_ASSEMBLY),$(call hyp_object,$(s)))

# What runs once, or seldom, is compiled for size: but not what the start spends its time on.
HYP_COLD_SOURCES := $(filter-out hyp/start/dt/tree.cpp hyp/start/translation_table.cpp %/checksum.cpp,$(HYP_START_SOURCES) $(wildcard \
    hyp/services/integrity/*.cpp)) \
    $(wildcard hyp/core/bringup/*.cpp hyp/core/board/*.cpp hyp/services/control/*.cpp hyp/services/black_box/*.cpp \
    hyp/services/unprotect/*.cpp hyp/services/keeping/*.cpp hyp/services/changing/*.cpp) boot/boot.cpp \
    $(wildcard $(addprefix hyp/core/,arch/decode_[tv]*.cpp base/print.cpp dev/*.cpp engine/ending.cpp \
    engine/exclusive.cpp \
    engine/service.cpp guest/banks.cpp guest/exception.cpp \
    guest/reset.cpp machine/*.cpp mm/stage1.cpp trap/panic.cpp \
    trap/call.cpp trap/stretch.cpp)) \
    $(addprefix hyp/services/stream/,description.cpp kept_boot.cpp imx_line.cpp options.cpp \
    uart8250_line.cpp) \
    hyp/services/task_names/offsets.cpp
$(HYP_COLD_SOURCES:%.cpp=$(BUILD)/obj/target/%.o): HYP_FLAGS += -Os
# Blocks stay in the order of the source, are not scheduled before they have registers, and keep their branches: the path of
# a slow access takes 5 % fewer instructions so, the stream's loops would take 2 % more.
$(patsubst %.cpp,$(BUILD)/obj/target/%.o,$(filter-out hyp/services/stream/%,$(HYP_SOURCES))): HYP_FLAGS += \
    -fno-reorder-blocks -fno-schedule-insns -fno-if-conversion2
# ARM code: the assembly of port/ is, and the stream's loops take 7 % fewer instructions so.
HYP_ARM_SOURCES := $(wildcard hyp/core/port/*.cpp) boot/runtime.cpp hyp/start/crc32.cpp $(addprefix hyp/services/stream/,folder.cpp \
    frame_sender.cpp pl011_line.cpp record_frame.cpp ring_merge.cpp stream.cpp stream_service.cpp)
$(HYP_ARM_SOURCES:%.cpp=$(BUILD)/obj/target/%.o): HYP_FLAGS += -marm

# Its loops must not become calls of the functions that they are.
$(BUILD)/obj/target/boot/runtime.o: HYP_FLAGS += -fno-tree-loop-distribute-patterns

# Made again if EARLY_UART changes.
$(BUILD)/obj/target/boot/boot.o: HYP_FLAGS += -I. -DEARLY_UART='"$(EARLY_UART)"'
$(BUILD)/obj/target/boot/boot.o: $(BUILD)/generated/early-uart
ifneq ($(EARLY_UART),$(shell cat '$(BUILD)/generated/early-uart' 2>/dev/null))
.PHONY: $(BUILD)/generated/early-uart
endif
$(BUILD)/generated/early-uart:
	@mkdir -p "$(@D)"
	@echo '$(EARLY_UART)' > $@

$(BUILD)/obj/target/%.o: %.cpp hyp/hyp.mk
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(HYP_CXX) $(HYP_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/obj/target/%.o: %.S hyp/hyp.mk
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(HYP_CXX) -march=armv7ve -marm $(HYP_DEFINES) $(HYP_INCLUDES) -MMD -MP -c $< -o $@

# entry/fast_path.S takes its offsets from C++.
HYP_OFFSETS := $(BUILD)/generated/hyp/entry/offsets.inc
HYP_INCLUDES += -I$(BUILD)/generated/hyp
$(BUILD)/obj/target/hyp/core/entry/vectors.o: $(HYP_OFFSETS)
$(HYP_OFFSETS): boot/offsets.cpp hyp/hyp.mk
	@mkdir -p "$(@D)"
	@$(HYP_CXX) $(HYP_FLAGS) -MMD -MP -MF $(@:.inc=.d) -MT $@ -S $< -o $(@:.inc=.s)
	@grep '^[[:space:]]*\.equ' $(@:.inc=.s) > $@
-include $(HYP_OFFSETS:.inc=.d)

# The core alone: nothing of it names a service (tests/core/).
HYP_CORE_OBJECTS := $(filter-out $(HYP_SERVICE_SOURCES:%.cpp=$(BUILD)/obj/target/%.o),$(HYP_OBJECTS)) \
    $(BUILD)/obj/target/tests/core/no_services.o

$(BUILD)/hyp-%.elf: $(HYP_OBJECTS) linker/hyp.ld
	@$(link_hypervisor)
$(BUILD)/tests/core/hyp-%.elf: $(HYP_CORE_OBJECTS) linker/hyp.ld
	@$(link_hypervisor)

# The self-test image (doctor/): the core, with the doctor in place of the services.
HYP_DOCTOR_SOURCES := $(wildcard hyp/doctor/*.cpp)
HYP_DOCTOR_OBJECTS := $(filter-out $(HYP_SERVICE_SOURCES:%.cpp=$(BUILD)/obj/target/%.o),$(HYP_OBJECTS)) \
    $(HYP_DOCTOR_SOURCES:%.cpp=$(BUILD)/obj/target/%.o) $(BUILD)/obj/target/hyp/doctor/entry.o \
    $(BUILD)/obj/target/hyp/services/control/changing_pages.o $(BUILD)/obj/target/hyp/services/changing/live_tables.o
# Its report keeps the address of a console of the caller, until the next one.
$(HYP_DOCTOR_SOURCES:%.cpp=$(BUILD)/obj/target/%.o): HYP_FLAGS += -Os -Wno-dangling-pointer

$(BUILD)/doctor-%.elf: $(HYP_DOCTOR_OBJECTS) linker/hyp.ld
	@$(link_hypervisor)

link_hypervisor = mkdir -p "$(@D)" && echo "  $@" && \
	$(HYP_CXX) $(HYP_FLAGS) -nostdlib -static -Wl,--gc-sections -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack \
	    -Wl,--defsym=IMAGE_BASE=0x$* -Wl,--defsym=MAX_CPUS=$(HYP_MAX_CPUS) \
	    -Wl,--defsym=STACK_SIZE=$(HYP_STACK_SIZE) -Wl,--defsym=TABLE_POOL_SIZE=$(HYP_TABLE_POOL_SIZE) \
	    -Wl,--defsym=BOOT_TREE_OFFSET=$(HYP_BOOT_TREE_OFFSET) \
	    -T linker/hyp.ld $(filter %.o,$^) -lc -lgcc -o $@

-include $(sort $(HYP_OBJECTS:.o=.d) $(HYP_CORE_OBJECTS:.o=.d) $(HYP_DOCTOR_OBJECTS:.o=.d))

.SECONDARY: $(sort $(HYP_OBJECTS) $(HYP_CORE_OBJECTS) $(HYP_DOCTOR_OBJECTS))
