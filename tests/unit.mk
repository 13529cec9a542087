# The hypervisor's own sources, compiled for the host from the same list, with a simulated machine. Included from the
# top Makefile, after hyp/hyp.mk, which sets HYP_SOURCES.

BUILD ?= build

UNIT_CXX ?= g++
# Without them the same tests take an eighth of the time: make nightly runs fifty seeds so, and five with them.
UNIT_SANITIZERS ?= -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
UNIT_FLAGS := -std=c++20 -O1 $(DEBUG) -Wall -Wextra -Werror -Wno-psabi $(UNIT_SANITIZERS) $(GCC_MEMORY)
# The simulation's port/ comes before the hypervisor's own.
UNIT_CPPFLAGS := -iquote . -Itests/sim/include $(HYP_INCLUDES) -Itests -I$(BUILD)/generated/tests/sim
# A unit for each folder of the hypervisor's sources and of the simulation. Those of SIM_ALONE have names of their own
# that others of their folder have, too, or wait for something generated. UNITS=files: each file separately.
SIM_ALONE := hyp/core/arch/% %_line.cpp tests/sim/hyp_code.cpp tests/sim/boot_code.cpp
SIM_SOURCES := $(HYP_SOURCES) $(sort $(wildcard tests/sim/*.cpp))
SIM_TOGETHER := $(if $(filter files,$(UNITS)),,$(filter-out $(SIM_ALONE),$(SIM_SOURCES)))
SIM_FOLDERS := $(patsubst %/,$(BUILD)/generated/folders/%.cpp,$(sort $(dir $(SIM_TOGETHER))))
SIM_UNITS := $(SIM_FOLDERS) $(filter-out $(SIM_TOGETHER),$(SIM_SOURCES))
$(SIM_FOLDERS): $(BUILD)/generated/folders/%.cpp: FORCE
	$(call write_unit,$(filter-out $(SIM_ALONE),$(wildcard $*/*.cpp)))
$(eval $(call test_units,unit,9,$(sort $(wildcard tests/unit/*/*.cpp))))
UNIT_SOURCES := $(SIM_UNITS) $(addprefix hyp/doctor/,doctor.cpp entry_checks.cpp trial_checks.cpp) \
    $(wildcard tests/unit/*.cpp) $(test_units_of_unit)
# The fuzzers' functions for the same sources, and their inputs in tests/fuzz/corpus/.
UNIT_REPLAYED := requests device_tree
UNIT_REPLAYED_OBJECTS := $(UNIT_REPLAYED:%=$(BUILD)/unit/tests/fuzz/%.o)
UNIT_OBJECTS := $(patsubst %.cpp,$(BUILD)/unit/%.o,$(UNIT_SOURCES)) $(UNIT_REPLAYED_OBJECTS)
$(UNIT_REPLAYED_OBJECTS): UNIT_CPPFLAGS += -DLLVMFuzzerTestOneInput=fuzz_$(notdir $(basename $@))

.PHONY: test-unit
test-unit: $(BUILD)/tests/unit ## test the hypervisor's sources in a simulated machine
	"$(BUILD)/tests/unit"

$(BUILD)/tests/unit: $(UNIT_OBJECTS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(UNIT_CXX) $(UNIT_FLAGS) -o "$@" $(filter %.o,$^) -lfdt $(CATCH_LIBS)

$(BUILD)/unit/%.o: %.cpp
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(UNIT_CXX) $(UNIT_CPPFLAGS) $(UNIT_FLAGS) -MMD -MP -c -o "$@" $<

# The tests themselves are not optimised, only the code they test: optimisation takes three fifths of the compiler's
# time. Nor is undefined behaviour looked for in them.
UNIT_TEST_FLAGS := $(subst -O1,-O0,$(UNIT_FLAGS)) -fno-sanitize=undefined
# Catch2's header takes longer than most tests: it is precompiled.
UNIT_PCH := $(BUILD)/unit/pch/catch.hpp.gch
$(UNIT_PCH): UNIT_FLAGS := $(UNIT_TEST_FLAGS)
$(UNIT_PCH): tests/catch_2_or_3.hpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@echo '#include <$(<F)>' > "$(basename $@)"
	@$(UNIT_CXX) -I$(<D) $(UNIT_FLAGS) -x c++-header -o "$@" "$(basename $@)"
UNIT_TEST_OBJECTS := $(test_units_of_unit:%.cpp=$(BUILD)/unit/%.o)
$(UNIT_TEST_OBJECTS): $(UNIT_PCH)
$(UNIT_TEST_OBJECTS): UNIT_FLAGS := $(UNIT_TEST_FLAGS)
$(UNIT_TEST_OBJECTS): UNIT_CPPFLAGS += -include $(basename $(UNIT_PCH))

# Catch2 2 is compiled here, and takes minutes with sanitizers, seconds without; Catch2 3 is a library.
CATCH_LIBS = $(shell pkg-config --libs catch2)
$(BUILD)/unit/tests/unit/main.o: UNIT_FLAGS := -std=c++20 -O0

-include $(UNIT_OBJECTS:.o=.d)
