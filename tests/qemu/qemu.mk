# The plugin for QEMU that logs the PC of each device access.

.PHONY: pc-log
tests: pc-log
pc-log: $(BUILD)/tests/pc-log.so
$(BUILD)/tests/pc-log.so: tests/qemu/pc_log.c
	@mkdir -p "$(@D)"
	@echo "  $<"
	@$(CC) -std=c11 -O2 -Wall -Wextra -Werror -fvisibility=hidden -shared -fPIC -o $@ $<
