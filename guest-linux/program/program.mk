# mmioscope-guest: a static program for the guest, from its own sources, the host tools' and the hypervisor's.
# Included by guest.mk.

guest_program := $(BUILD)/guest-program/mmioscope-guest
GUEST_PROGRAM_CXX ?= arm-linux-gnueabihf-g++
# The headers of include/ come before those of the host tools that they stand in for.
guest_program_flags := -I. -Iguest-linux/program/include -Iguest-linux/program -Ihyp -Ihost-tools -Ihost-tools/include -Ihyp/core -Ihyp/start -Ihyp/services -isystem $(BUILD)/libfdt -DFMT_HEADER_ONLY \
    -std=c++20 -Os -ffunction-sections -fdata-sections -Wall -Wextra -Wconversion -Wno-psabi -Werror
# In a few units, like the host tools (UNITS).
guest_program_part_program := $(sort $(wildcard guest-linux/program/*.cpp))
guest_program_part_trace := \
    $(addprefix host-tools/rings/,area.cpp merge.cpp) \
    $(addprefix host-tools/file/,file_writer.cpp index.cpp read_back.cpp unfinished.cpp) \
    $(addprefix host-tools/records/,groups.cpp losses.cpp summary.cpp record_text.cpp verdict.cpp module_mark.cpp) \
    $(addprefix host-tools/tree/,device_names.cpp device_tree.cpp) host-tools/wire/stream_head.cpp
guest_program_part_control := \
    $(addprefix host-tools/system/,escape.cpp message.cpp signals.cpp file_descriptor.cpp units.cpp) \
    host-tools/cli/program.cpp host-tools/symbols/module_files.cpp $(addprefix host-tools/control/,requests.cpp steering.cpp) \
    $(addprefix host-tools/wire/,address.cpp socket.cpp)
guest_program_part_hyp := \
    $(addprefix hyp/services/stream/,description.cpp frame_sender.cpp record_frame.cpp folder.cpp) \
    $(addprefix hyp/,start/crc32.cpp start/dt/tree.cpp start/dt/regions.cpp)
guest_program_parts := program trace control hyp
guest_program_units_rooms := $(guest_program_parts:%=$(BUILD)/generated/guest-program/%.cpp)
guest_program_units_files := $(foreach part,$(guest_program_parts),$(guest_program_part_$(part)))
guest_program_objects := $(patsubst %.cpp,$(BUILD)/guest-program/%.o,$(guest_program_units_$(UNITS)))

.PHONY: guest-program
guest-program: $(guest_program)

# The linker's only warning is from the C library, about names that a static program looks up (README.md).
$(guest_program): $(guest_program_objects) $(BUILD)/libfdt/libfdt.a
	@echo "  $@"
	@$(GUEST_PROGRAM_CXX) -static -s -Wl,--gc-sections -o "$@" $^ 2>"$@.log" || { cat "$@.log" >&2; false; }

$(guest_program_units_rooms): $(BUILD)/generated/guest-program/%.cpp: FORCE
	@mkdir -p "$(@D)"
	@for file in $(guest_program_part_$*); do echo "#include \"$$file\""; done > $@.new
	@$(move_if_changed)

$(BUILD)/guest-program/%.o: %.cpp | $(BUILD)/libfdt/libfdt.h
	@mkdir -p "$(@D)"
	@echo "  $< (guest)"
	@$(GUEST_PROGRAM_CXX) $(guest_program_flags) -MMD -MP -c -o $@ $<

-include $(guest_program_objects:.o=.d)
