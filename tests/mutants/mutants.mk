# The protocol's tests without sanitizers, with all mutants in one binary: tests/mutants/run.py writes the sources, and
# selects the mutant of each run. Included from tests/tests.mk, after hyp/hyp.mk.

mutant_tree := $(BUILD)/mutants/tree
MUTANT_FLAGS := -std=c++20 -O1 -Wall -Wextra -Wno-psabi $(GCC_MEMORY)
MUTANT_CPPFLAGS := -iquote $(mutant_tree) -iquote . -Itests/sim/include $(HYP_INCLUDES:-I%=-I$(mutant_tree)/%) -Itests -I$(BUILD)/generated/tests/sim -include tests/mutants/switch.hpp
# Tests of the protocol that lie with others of their folder.
MUTANT_TESTS_BESIDE := tests/unit/control/switching_test.cpp tests/unit/control/command_test.cpp \
    tests/unit/control/trigger_test.cpp tests/unit/control/filter_test.cpp tests/unit/engine/access_test.cpp \
    tests/unit/engine/ending_test.cpp tests/unit/engine/exclusive_test.cpp tests/unit/engine/hooks_test.cpp tests/unit/engine/walk_test.cpp \
    tests/unit/engine/keeping_test.cpp tests/unit/engine/native_test.cpp tests/unit/engine/no_breakpoints_test.cpp \
    tests/unit/engine/own_exclusives_test.cpp \
    tests/unit/engine/repeated_load_test.cpp tests/unit/engine/rewritten_test.cpp tests/unit/engine/thumb_test.cpp \
    tests/unit/engine/waiting_test.cpp tests/unit/engine/watchpoint_test.cpp tests/unit/machine/debug_unit_test.cpp \
    tests/unit/sim/refuse_test.cpp tests/unit/start/boot_code_test.cpp \
    tests/unit/stream/shared_line_test.cpp tests/unit/stream/stream_test.cpp \
    tests/unit/stream/start_and_panic_test.cpp tests/unit/trap/power_test.cpp \
    tests/unit/task_names/task_name_test.cpp tests/unit/trap/fetch_test.cpp
$(eval $(call test_units,mutants,4,$(sort $(wildcard tests/unit/protocol/*.cpp) $(MUTANT_TESTS_BESIDE))))
MUTANT_SOURCES := $(SIM_UNITS) $(test_units_of_mutants)
MUTANT_OBJECTS := $(patsubst %.cpp,$(BUILD)/mutants/%.o,$(MUTANT_SOURCES))

.PHONY: mutants
mutants: $(BUILD)/mutants/protocol
tests: mutants

# Catch2's own code comes from the unit tests.
$(BUILD)/mutants/protocol: $(MUTANT_OBJECTS) $(BUILD)/unit/tests/unit/main.o
	@echo "  $@"
	@$(UNIT_CXX) -o "$@" $^ -lfdt $(CATCH_LIBS)

# Sources that are unchanged in the new tree stay, and are not compiled again.
mutant_files := $(shell find hyp -name '*.cpp' -o -name '*.hpp')
$(mutant_tree)/written: tests/mutants/run.py $(mutant_files)
	@tests/mutants/run.py --write $(mutant_tree)
	@touch "$@"
$(mutant_files:%=$(mutant_tree)/%): $(mutant_tree)/written ;

compile_mutants = mkdir -p "$(@D)" && echo "  $< (mutants)" && \
    $(UNIT_CXX) $(MUTANT_CPPFLAGS) $(MUTANT_FLAGS) -MMD -MP -c -o "$@" $<
$(BUILD)/mutants/hyp/%.o: $(mutant_tree)/hyp/%.cpp
	@$(compile_mutants)
$(BUILD)/mutants/%.o: %.cpp | $(mutant_tree)/written
	@$(compile_mutants)

MUTANT_PCH := $(BUILD)/mutants/pch/catch.hpp.gch
$(MUTANT_PCH): tests/catch_2_or_3.hpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@echo '#include <$(<F)>' > "$(basename $@)"
	@$(UNIT_CXX) -I$(<D) $(MUTANT_FLAGS) -x c++-header -o "$@" "$(basename $@)"
MUTANT_TEST_OBJECTS := $(test_units_of_mutants:%.cpp=$(BUILD)/mutants/%.o)
$(MUTANT_TEST_OBJECTS): $(MUTANT_PCH)
$(MUTANT_TEST_OBJECTS): MUTANT_CPPFLAGS += -include $(basename $(MUTANT_PCH))

-include $(MUTANT_OBJECTS:.o=.d)
