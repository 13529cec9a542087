# What one event costs the host tools, by Google Benchmark: build/tests/host-bench. Each tests/bench/*.cpp is part of it.

HOST_BENCH_SOURCES := $(sort $(wildcard tests/bench/*.cpp))
HOST_BENCH_OBJECTS := $(HOST_BENCH_SOURCES:%.cpp=$(BUILD)/host/%.o)

.PHONY: host-bench
host-bench: $(BUILD)/tests/host-bench $(BUILD)/tests/make-trace

$(BUILD)/tests/host-bench: $(HOST_BENCH_OBJECTS) $(HOST_LIB_SOURCES:%.cpp=$(BUILD)/host/%.o)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ -lbenchmark_main -lbenchmark $(HOST_LIBS)

-include $(HOST_BENCH_OBJECTS:.o=.d)
