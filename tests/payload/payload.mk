# A hypervisor with one service more, which gives stores of a guest a payload (abi/payload.hpp), and the judge of its
# traces, for tests/qemu/cases/payload.sh. Included from tests/tests.mk.

PAYLOAD_IMAGE := $(BUILD)/tests/payload/hyp-88000000.elf
PAYLOAD_JUDGE := $(BUILD)/host/tests/payload/judge.o
PAYLOAD_OBJECTS := $(filter-out $(BUILD)/obj/target/hyp/services/services.o,$(HYP_OBJECTS)) \
    $(BUILD)/obj/target/tests/payload/service.o

tests: $(PAYLOAD_IMAGE) $(BUILD)/tests/payload-judge
$(BUILD)/tests/payload/hyp-%.elf: $(PAYLOAD_OBJECTS) linker/hyp.ld
	@$(link_hypervisor)

$(BUILD)/tests/payload-judge: $(PAYLOAD_JUDGE) $(HOST_LIBRARY)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o "$@" $^ $(HOST_LIBS)

.SECONDARY: $(PAYLOAD_OBJECTS)
-include $(PAYLOAD_JUDGE:.o=.d) $(PAYLOAD_OBJECTS:.o=.d)
