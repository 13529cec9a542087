# Tests in a few units: most of a test's time is the headers' and the templates'. In a unit what stands behind a file's
# #includes lies in a namespace of its own, so that two files may call their helpers alike; a file stays in its unit
# whatever others come. UNITS=files: each by itself. Included from the top Makefile, in front of those who use it.

# $(call test_units,NAME,COUNT,FILES): the sources to compile; $(eval $(call test_unit_rules,...)): how they are made.
test_units = $(if $(filter files,$(UNITS)),$(3),$(call test_unit_files,$(1),$(2)))
test_unit_files = $(patsubst %,$(BUILD)/generated/tests/$(1)/%.cpp,$(shell seq $(2)))
# "3:FILE" of each: a hash of the name says the unit.
test_unit_places = $(shell printf '%s\n' $(2) | awk -v count=$(1) \
    'BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i } \
    { name = $$0; sub(/.*\//, "", name); hash = 0; \
      for (i = 1; i <= length(name); i++) hash = (hash * 31 + code[substr(name, i, 1)]) % 65521; \
      print hash % count + 1 ":" $$0 }')
define test_unit_rules # NAME COUNT FILES
test_unit_places_$(1) := $(call test_unit_places,$(2),$(3))
$(call test_unit_files,$(1),$(2)): $(BUILD)/generated/tests/$(1)/%.cpp: FORCE
	@mkdir -p $$(@D)
	@awk -f tests/few_units.awk $$(patsubst $$*:%,%,$$(filter $$*:%,$$(test_unit_places_$(1)))) > $$@.new
	@if cmp -s $$@.new $$@; then rm $$@.new; else mv $$@.new $$@; fi
endef
