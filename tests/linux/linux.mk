# The guest of tests/qemu/cases/tasks.sh: the Linux guest's RAM disk with an init of its own behind it.

linux_out := $(BUILD)/tests/linux

tests: $(linux_out)/overlay.img

# A kernel unpacks one archive behind the other.
$(linux_out)/overlay.img: tests/linux/init tests/linux/actor
	@rm -rf "$(@D)/root" && mkdir -p "$(@D)/root/actors"
	@echo "  $@"
	@install -m 755 tests/linux/init "$(@D)/root/tasks"
	@for name in actor-one actor-two actor-three first-name second-name; do \
	    install -m 755 tests/linux/actor "$(@D)/root/actors/$$name"; done
	@cd "$(@D)/root" && find . | cpio --quiet -o -H newc --owner=0:0 | gzip -9n > ../overlay.img

# Who made a trace's accesses.
WHOSE_EVENTS_OBJECTS := $(patsubst %.cpp,$(BUILD)/host/%.o,tests/linux/whose_events.cpp $(HOST_LIB_SOURCES))
tests: $(BUILD)/tests/whose-events
$(BUILD)/tests/whose-events: $(WHOSE_EVENTS_OBJECTS)
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) -o $@ $^ $(HOST_LIBS)
-include $(WHOSE_EVENTS_OBJECTS:.o=.d)
