# Parsers of what others hand over, under libFuzzer with ASan and UBSan: `make fuzz`, and shortly `make test`.

FUZZ_CXX ?= clang++
FUZZ_FLAGS := -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
# The simulation's port/ comes before the hypervisor's own.
FUZZ_CPPFLAGS := -Itests/sim/include -Ihyp -Ihost-tools -Itests

FUZZ_TARGETS := device_tree trace_file access_log wire requests
FUZZ_SOURCES_device_tree := $(wildcard hyp/dt/*.cpp) hyp/trace/region_map.cpp
FUZZ_SOURCES_trace_file := $(wildcard host-tools/lib/*.cpp)
FUZZ_SOURCES_wire := $(FUZZ_SOURCES_trace_file)
FUZZ_SOURCES_access_log := $(FUZZ_SOURCES_trace_file) $(wildcard host-tools/verify/*.cpp)
FUZZ_SOURCES_requests := $(HYP_SOURCES) hyp/board/vexpress_a15.cpp $(wildcard tests/sim/*.cpp)
FUZZ_OBJECTS = $(patsubst %.cpp,$(BUILD)/fuzz/%.o,tests/fuzz/$1.cpp $(FUZZ_SOURCES_$1))
FUZZ_ALL_OBJECTS := $(sort $(foreach t,$(FUZZ_TARGETS),$(call FUZZ_OBJECTS,$t)))

.PHONY: fuzzers
fuzzers: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%)
tests: $(BUILD)/fuzz/wire

.SECONDEXPANSION:
$(FUZZ_TARGETS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $$(call FUZZ_OBJECTS,$$*)
	@echo "  $@"
	@$(FUZZ_CXX) $(FUZZ_FLAGS) -fsanitize=fuzzer -o "$@" $^ -lfdt -lfmt -lz -lpthread

$(FUZZ_ALL_OBJECTS): $(BUILD)/fuzz/%.o: %.cpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(FUZZ_CXX) $(FUZZ_CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o "$@" "$<"

-include $(FUZZ_ALL_OBJECTS:.o=.d)
