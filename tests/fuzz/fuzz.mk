# Parsers of what others hand over, under libFuzzer with ASan and UBSan: `make fuzz`.

FUZZ_CXX ?= clang++
FUZZ_FLAGS := -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -Ihyp -Ihost-tools -Itests

FUZZ_TARGETS := device_tree trace_file access_log wire
FUZZ_SOURCES_device_tree = $(wildcard hyp/dt/*.cpp) hyp/trace/region_map.cpp
FUZZ_SOURCES_trace_file = $(wildcard host-tools/lib/*.cpp)
FUZZ_SOURCES_wire = $(wildcard host-tools/lib/*.cpp)
FUZZ_SOURCES_access_log = $(wildcard host-tools/lib/*.cpp host-tools/verify/*.cpp)

.PHONY: fuzzers
fuzzers: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%)

.SECONDEXPANSION:
$(BUILD)/fuzz/%: tests/fuzz/%.cpp $$(FUZZ_SOURCES_$$*)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(FUZZ_CXX) $(FUZZ_FLAGS) $(filter %.cpp,$^) -lfdt -lfmt -lz -lpthread -o $@
