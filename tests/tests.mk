# What the tests need built. tests/run.sh runs them.

include tests/unit.mk
include tests/integration.mk
include tests/fuzz/fuzz.mk

.PHONY: tests
tests: $(BUILD)/tests/unit $(BUILD)/tests/host-tools $(BUILD)/tests/mutate-trace test-guests
