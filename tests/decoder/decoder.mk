# The hypervisor's decoder against binutils' disassembler. The Arm one is a library of the cross binutils, without
# headers; those of the host's binutils of the same version fit.

DECODER_CXX ?= g++
DECODER_FLAGS := -std=c++20 -O2 -g -Wall -Wextra -Werror $(HYP_INCLUDES) -Itests/decoder
DECODER_SOURCES := $(sort $(wildcard hyp/core/arch/*.cpp tests/decoder/*.cpp))
DECODER_OBJECTS := $(patsubst %.cpp,$(BUILD)/decoder/%.o,$(DECODER_SOURCES))
DECODER_LIBRARIES = $(foreach name,opcodes bfd,$(wildcard /usr/lib/*/lib$(name)-*-armhf.so))

tests: $(BUILD)/tests/decoder

$(BUILD)/tests/decoder: $(DECODER_OBJECTS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(DECODER_CXX) $(DECODER_FLAGS) -o "$@" $(DECODER_OBJECTS) $(DECODER_LIBRARIES)

$(BUILD)/decoder/%.o: %.cpp
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(DECODER_CXX) $(DECODER_FLAGS) -MMD -MP -c -o "$@" $<

-include $(DECODER_OBJECTS:.o=.d)
