# long-trace: makes traces of any length for tests. Included from tests/tests.mk; host.mk has the
# rules.

LONG_TRACE_OBJECTS := $(BUILD)/host/tests/reading/long_trace.o

tests: $(BUILD)/tests/long-trace $(BUILD)/libmmioscope.a

$(BUILD)/tests/long-trace: $(LONG_TRACE_OBJECTS) $(BUILD)/libmmioscope.a
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

-include $(LONG_TRACE_OBJECTS:.o=.d)
