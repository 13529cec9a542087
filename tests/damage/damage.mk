# every-byte: damages a recorded stream everywhere; -sanitized is ten times slower, and detects every access out of
# bounds. Included from tests/tests.mk; host.mk has the rules.

DAMAGE_SOURCES := tests/damage/every_byte.cpp $(HOST_FILE_SOURCES)
DAMAGE_OBJECTS := $(BUILD)/host/tests/damage/every_byte.o
DAMAGE_SANITIZED_OBJECTS := $(DAMAGE_SOURCES:%.cpp=$(BUILD)/host-sanitized/%.o)

tests: $(BUILD)/tests/every-byte $(BUILD)/tests/every-byte-sanitized

$(BUILD)/tests/every-byte: $(DAMAGE_OBJECTS) $(HOST_LIBRARY)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

$(BUILD)/tests/every-byte-sanitized: $(DAMAGE_SANITIZED_OBJECTS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -fsanitize=address,undefined -o "$@" $^ $(HOST_LIBS)

-include $(DAMAGE_OBJECTS:.o=.d) $(DAMAGE_SANITIZED_OBJECTS:.o=.d)
