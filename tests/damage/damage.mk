# every-byte: a recorded stream, damaged everywhere. Included from tests/tests.mk; host.mk has the rules.

DAMAGE_OBJECTS := $(patsubst %.cpp,$(BUILD)/host/%.o,tests/damage/every_byte.cpp \
    $(wildcard host-tools/lib/*.cpp))

tests: $(BUILD)/tests/every-byte

$(BUILD)/tests/every-byte: $(DAMAGE_OBJECTS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

-include $(DAMAGE_OBJECTS:.o=.d)
