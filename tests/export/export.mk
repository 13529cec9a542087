# make-trace: makes traces of any length with a bit of everything, for the exports' real consumers (run.sh). Included
# from tests/tests.mk; host.mk has the rules.

EXPORT_MAKE_SOURCES := tests/export/make_trace.cpp
EXPORT_MAKE_OBJECTS := $(EXPORT_MAKE_SOURCES:%.cpp=$(BUILD)/host/%.o)

tests: $(BUILD)/tests/make-trace

$(BUILD)/tests/make-trace: $(EXPORT_MAKE_OBJECTS) $(HOST_LIBRARY)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

-include $(EXPORT_MAKE_OBJECTS:.o=.d)
