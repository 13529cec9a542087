# The guest of tests/qemu/cases/tasks.sh: the Linux guest's RAM disk, followed by an init of its own.

linux_out := $(BUILD)/tests/linux

tests: $(linux_out)/overlay.img

$(linux_out)/user-mode: tests/linux/user_mode.c
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(PROBE_CC) $(PROBE_FLAGS) -o $@ $< -lpthread

# A kernel unpacks consecutive archives.
$(linux_out)/overlay.img: tests/linux/init tests/linux/actor $(linux_out)/user-mode
	@rm -rf "$(@D)/root" && mkdir -p "$(@D)/root/actors" "$(@D)/root/bin"
	@echo "  $@"
	@install -m 755 tests/linux/init "$(@D)/root/tasks"
	@install -m 755 $(linux_out)/user-mode "$(@D)/root/bin/user-mode"
	@for name in actor-one actor-two actor-three first-name second-name; do \
	    install -m 755 tests/linux/actor "$(@D)/root/actors/$$name"; done
	@cd "$(@D)/root" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -9n > ../overlay.img

# The tasks, modules and callers of a trace's accesses.
LINUX_TOOLS := whose_events modules_of callers_of
LINUX_TOOLS_OBJECTS := $(LINUX_TOOLS:%=$(BUILD)/host/tests/linux/%.o)
tests: $(LINUX_TOOLS_OBJECTS:.o=)
$(LINUX_TOOLS_OBJECTS:.o=): %: %.o $(HOST_LIBRARY)
	@echo "  $@"
	@$(HOST_CXX) -o $@ $^ $(HOST_LIBS)
-include $(LINUX_TOOLS_OBJECTS:.o=.d)
