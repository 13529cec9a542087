# Parsers of what others hand over, under libFuzzer with ASan and UBSan: `make fuzz`, and shortly `make test`.

FUZZ_CXX ?= clang++
FUZZ_FLAGS := -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all

FUZZ_TARGETS := device_tree trace_file access_log wire requests
FUZZ_SOURCES_trace_file := $(wildcard host-tools/lib/*.cpp)
FUZZ_SOURCES_wire := $(FUZZ_SOURCES_trace_file)
FUZZ_SOURCES_access_log := $(FUZZ_SOURCES_trace_file) $(wildcard host-tools/verify/*.cpp)
FUZZ_SOURCES_device_tree := $(wildcard hyp/dt/*.cpp) hyp/trace/region_map.cpp
FUZZ_SOURCES_requests := $(HYP_SOURCES) hyp/board/vexpress_a15.cpp $(wildcard tests/sim/*.cpp)
# Two kinds of objects: `requests` runs in the simulated machine, whose port/ comes before the hypervisor's own.
FUZZ_OBJECTS = $(patsubst %.cpp,$(BUILD)/fuzz/$(if $(filter requests,$1),simulated,plain)/%.o,tests/fuzz/$1.cpp $(FUZZ_SOURCES_$1))
FUZZ_PLAIN_OBJECTS := $(sort $(foreach t,$(filter-out requests,$(FUZZ_TARGETS)),$(call FUZZ_OBJECTS,$t)))
FUZZ_SIMULATED_OBJECTS := $(call FUZZ_OBJECTS,requests)

.PHONY: fuzzers
fuzzers: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%)
# All but the one that takes a minute to build.
tests: $(addprefix $(BUILD)/fuzz/,$(filter-out requests,$(FUZZ_TARGETS)))

.SECONDEXPANSION:
$(FUZZ_TARGETS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $$(call FUZZ_OBJECTS,$$*)
	@echo "  $@"
	@$(FUZZ_CXX) $(FUZZ_FLAGS) -fsanitize=fuzzer -o "$@" $^ -lfdt -lfmt -lz -lpthread

$(FUZZ_PLAIN_OBJECTS): $(BUILD)/fuzz/plain/%.o: %.cpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(FUZZ_CXX) -Ihyp -Ihost-tools -Itests $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o "$@" "$<"

$(FUZZ_SIMULATED_OBJECTS): $(BUILD)/fuzz/simulated/%.o: %.cpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(FUZZ_CXX) -Itests/sim/include -Ihyp -Itests $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o "$@" "$<"

-include $(FUZZ_PLAIN_OBJECTS:.o=.d) $(FUZZ_SIMULATED_OBJECTS:.o=.d)
