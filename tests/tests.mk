# What the tests need built. tests/run.sh runs them.

include tests/unit.mk $(wildcard tests/*/*.mk) tests/integration.mk

.PHONY: tests
tests: $(BUILD)/tests/unit $(BUILD)/tests/host-tools $(BUILD)/tests/mutate-trace $(BUILD)/tests/same-records $(BUILD)/tests/named-code $(BUILD)/tests/seed-fault $(BUILD)/tests/inject-loops $(BUILD)/tests/trace-of-text man test-guests
