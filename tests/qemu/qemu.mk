# Plugins for QEMU: one logs the PC of each device access, one the call around it, one the accesses to
# memory, one counts what probes record, and two count instructions.

QEMU_PLUGINS := pc-log call-log probe-log memory-log move-log hyp-count guest-count

.PHONY: $(QEMU_PLUGINS)
tests: $(QEMU_PLUGINS) doctor $(BUILD)/hyp-5b000000.elf $(BUILD)/hyp-9b000000.elf # 512 MiB with --place top
$(QEMU_PLUGINS): %: $(BUILD)/tests/%.so
$(BUILD)/tests/pc-log.so: tests/qemu/pc_log.c
$(BUILD)/tests/call-log.so: tests/qemu/call_log.c
$(BUILD)/tests/probe-log.so: tests/qemu/probe_log.c
$(BUILD)/tests/memory-log.so: tests/qemu/memory_log.c
$(BUILD)/tests/move-log.so: tests/qemu/move_log.c
$(BUILD)/tests/hyp-count.so: tests/bench/hyp_count.c
$(BUILD)/tests/guest-count.so: tests/bench/guest_count.c
$(QEMU_PLUGINS:%=$(BUILD)/tests/%.so): tests/qemu/qemu_plugin.h
	@mkdir -p "$(@D)"
	@echo "  $(filter %.c,$^)"
	@$(CC) -DQEMU_MAJOR=$$(qemu-system-arm --version | sed -n 's/.* version \([0-9]*\).*/\1/p') -std=c11 -O2 -Wall -Wextra -Werror -fvisibility=hidden -shared -fPIC -o $@ $(filter %.c,$^)
