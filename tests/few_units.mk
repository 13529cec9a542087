# Tests in a few units: most of a test's time is the headers' and the templates'. In a unit what stands behind a file's
# #includes lies in a namespace of its own, so that two files may call their helpers alike; a file stays in its unit
# whatever others come. UNITS=files: each by itself. Included from the top Makefile, in front of those who use it.

# "3:FILE" of each: a hash of the name says the unit.
test_unit_places = $(shell printf '%s\n' $(2) | awk -v count=$(1) \
    'BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i } \
    { name = $$0; sub(/.*\//, "", name); hash = 0; \
      for (i = 1; i <= length(name); i++) hash = (hash * 31 + code[substr(name, i, 1)]) % 65521; \
      print hash % count + 1 ":" $$0 }')
# $(eval $(call test_units,NAME,COUNT,FILES)) says how they are made; test_units_of_NAME is what to compile.
define test_units
test_unit_places_$(1) := $(call test_unit_places,$(2),$(3))
test_unit_files_$(1) := $(patsubst %,$(BUILD)/generated/tests/$(1)/%.cpp,$(shell seq $(2)))
test_units_of_$(1) := $(if $(filter files,$(UNITS)),$(3),$$(test_unit_files_$(1)))
$$(test_unit_files_$(1)): $(BUILD)/generated/tests/$(1)/%.cpp: FORCE
	@mkdir -p $$(@D)
	@awk -f tests/few_units.awk $$(patsubst $$*:%,%,$$(filter $$*:%,$$(test_unit_places_$(1)))) > $$@.new
	@$$(move_if_changed)
endef
