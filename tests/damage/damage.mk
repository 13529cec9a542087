# every-byte: damages a recorded stream everywhere; -sanitized is ten times slower, and detects every access out of
# bounds. short-capture: damages its beginning. Included from tests/tests.mk; host.mk has the rules.

DAMAGE_SOURCES := tests/damage/every_byte.cpp $(HOST_FILE_SOURCES)
DAMAGE_OBJECTS := $(BUILD)/host/tests/damage/every_byte.o $(BUILD)/host/tests/damage/short_capture.o
DAMAGE_SANITIZED_OBJECTS := $(DAMAGE_SOURCES:%.cpp=$(BUILD)/host-sanitized/%.o)

tests: $(BUILD)/tests/every-byte $(BUILD)/tests/every-byte-sanitized $(BUILD)/tests/short-capture

$(BUILD)/tests/every-byte: $(BUILD)/host/tests/damage/every_byte.o $(HOST_LIBRARY)
$(BUILD)/tests/short-capture: $(BUILD)/host/tests/damage/short_capture.o $(HOST_LIBRARY)
$(BUILD)/tests/every-byte $(BUILD)/tests/short-capture:
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

$(BUILD)/tests/every-byte-sanitized: $(DAMAGE_SANITIZED_OBJECTS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -fsanitize=address,undefined -o "$@" $^ $(HOST_LIBS)

-include $(DAMAGE_OBJECTS:.o=.d) $(DAMAGE_SANITIZED_OBJECTS:.o=.d)
