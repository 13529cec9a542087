# Parsers of untrusted input, under libFuzzer with ASan and UBSan: `make fuzz` and `make nightly`. Each
# tests/fuzz/*.cpp is a fuzzer.

FUZZ_CXX ?= clang++
FUZZ_FLAGS := -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all

FUZZ_TARGETS := $(notdir $(basename $(sort $(wildcard tests/fuzz/*.cpp))))
# The project's sources that they need: named for these three; the others use the whole library of the host tools.
FUZZ_SOURCES_wire := $(HOST_FILE_SOURCES)
FUZZ_SOURCES_device_tree := $(wildcard hyp/start/dt/*.cpp) hyp/start/region_map.cpp \
    hyp/core/board/board.cpp hyp/core/trace/region_map.cpp \
    $(addprefix hyp/services/,stream/options.cpp task_names/offsets.cpp control/early_requests.cpp)
FUZZ_SOURCES_requests := $(HYP_SOURCES) $(wildcard tests/sim/*.cpp)
FUZZ_HOST_TARGETS := $(filter-out wire device_tree requests,$(FUZZ_TARGETS))
FUZZ_HOST_OBJECTS := $(HOST_LIB_SOURCES:%.cpp=$(BUILD)/fuzz/plain/%.o)
FUZZ_HOST_LIB := $(BUILD)/fuzz/libhost.a
# Two kinds of objects: `requests` runs in the simulated machine, whose port/ comes before the hypervisor's own.
FUZZ_OBJECTS = $(patsubst %.cpp,$(BUILD)/fuzz/$(if $(filter requests,$1),simulated,plain)/%.o,tests/fuzz/$1.cpp $(FUZZ_SOURCES_$1)) \
               $(if $(filter $1,$(FUZZ_HOST_TARGETS)),$(FUZZ_HOST_LIB))
FUZZ_PLAIN_OBJECTS := $(sort $(FUZZ_HOST_OBJECTS) \
    $(filter %.o,$(foreach t,$(filter-out requests,$(FUZZ_TARGETS)),$(call FUZZ_OBJECTS,$t))))
FUZZ_SIMULATED_OBJECTS := $(call FUZZ_OBJECTS,requests)

.PHONY: fuzzers
fuzzers: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%)

$(FUZZ_HOST_LIB): $(FUZZ_HOST_OBJECTS)
	@echo "  $@"
	@rm -f "$@"
	@$(AR) rcs "$@" $^

.SECONDEXPANSION:
$(FUZZ_TARGETS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $$(call FUZZ_OBJECTS,$$*)
	@echo "  $@"
	@$(FUZZ_CXX) $(FUZZ_FLAGS) -fsanitize=fuzzer -o "$@" $^ $(HOST_LIBS)

$(FUZZ_PLAIN_OBJECTS): $(BUILD)/fuzz/plain/%.o: %.cpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(FUZZ_CXX) $(HOST_CPPFLAGS) $(HYP_INCLUDES) -Itests $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o "$@" "$<"

$(FUZZ_SIMULATED_OBJECTS): $(BUILD)/fuzz/simulated/%.o: %.cpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(FUZZ_CXX) -Itests/sim/include $(HYP_INCLUDES) -Itests -I$(BUILD)/generated/tests/sim $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o "$@" "$<"

-include $(FUZZ_PLAIN_OBJECTS:.o=.d) $(FUZZ_SIMULATED_OBJECTS:.o=.d)
