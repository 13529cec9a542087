# The core linked without its services (hyp/hyp.mk says how), for tests/qemu/cases/core.sh.

tests: $(BUILD)/tests/core/hyp-88000000.elf
