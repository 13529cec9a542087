# The cost of an event in the host tools: build/tests/host-bench, with Google Benchmark, consists of all
# tests/bench/*.cpp except those that are programs: build/tests/make-cost-trace makes the traces for costs.py,
# build/tests/capture records for capture.sh.

COST_TRACE_SOURCES := tests/bench/make_cost_trace.cpp tests/bench/made_trace.cpp
CAPTURE_SOURCES := tests/bench/capture.cpp
HOST_BENCH_SOURCES := $(filter-out tests/bench/make_cost_trace.cpp $(CAPTURE_SOURCES),$(sort $(wildcard tests/bench/*.cpp)))
HOST_BENCH_OBJECTS := $(HOST_BENCH_SOURCES:%.cpp=$(BUILD)/host/%.o)
COST_TRACE_OBJECTS := $(COST_TRACE_SOURCES:%.cpp=$(BUILD)/host/%.o)
CAPTURE_OBJECTS := $(CAPTURE_SOURCES:%.cpp=$(BUILD)/host/%.o)

.PHONY: host-bench
host-bench: $(BUILD)/tests/host-bench $(BUILD)/tests/capture $(BUILD)/tests/make-trace $(BUILD)/tests/make-cost-trace

tests: $(BUILD)/mmioscope $(BUILD)/tests/make-cost-trace

$(BUILD)/tests/host-bench: $(HOST_BENCH_OBJECTS) $(HOST_LIBRARY)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ -lbenchmark_main -lbenchmark $(HOST_LIBS)

$(BUILD)/tests/make-cost-trace: $(COST_TRACE_OBJECTS) $(HOST_LIBRARY)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

$(BUILD)/tests/capture: $(CAPTURE_OBJECTS) $(HOST_LIBRARY)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

-include $(HOST_BENCH_OBJECTS:.o=.d) $(COST_TRACE_OBJECTS:.o=.d) $(CAPTURE_OBJECTS:.o=.d)
