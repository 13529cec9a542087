# long-trace: traces for tests, of any length. Included from tests/tests.mk; host.mk has the rules.

LONG_TRACE_OBJECTS := $(patsubst %.cpp,$(BUILD)/host/%.o,tests/reading/long_trace.cpp \
                        $(addprefix host-tools/lib/,file_writer.cpp index_builder.cpp follow.cpp file_descriptor.cpp))

tests: $(BUILD)/tests/long-trace $(BUILD)/libmmioscope.a

$(BUILD)/tests/long-trace: $(LONG_TRACE_OBJECTS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

-include $(LONG_TRACE_OBJECTS:.o=.d)
