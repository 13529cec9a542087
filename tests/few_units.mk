# Tests in a few units, because most of a test's compile time is for headers and templates. In a unit the code after a
# file's #includes is in its own namespace, so that two files may have helpers of the same name. A file stays in its
# unit when others are added. UNITS=files: each file separately. Included from the top Makefile, before its users.

# "3:FILE" for each: a hash of the name selects the unit.
test_unit_places = $(shell printf '%s\n' $(2) | awk -v count=$(1) \
    'BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i } \
    { name = $$0; sub(/.*\//, "", name); hash = 0; \
      for (i = 1; i <= length(name); i++) hash = (hash * 31 + code[substr(name, i, 1)]) % 65521; \
      print hash % count + 1 ":" $$0 }')
# $(eval $(call test_units,NAME,COUNT,FILES)) defines the rules; test_units_of_NAME is what to compile.
define test_units
test_unit_places_$(1) := $(call test_unit_places,$(2),$(3))
test_unit_files_$(1) := $(patsubst %,$(BUILD)/generated/tests/$(1)/%.cpp,$(shell seq $(2)))
test_units_of_$(1) := $(if $(filter files,$(UNITS)),$(3),$$(test_unit_files_$(1)))
$$(test_unit_files_$(1)): $(BUILD)/generated/tests/$(1)/%.cpp: FORCE
	@mkdir -p $$(@D)
	@awk -f tests/few_units.awk $$(patsubst $$*:%,%,$$(filter $$*:%,$$(test_unit_places_$(1)))) > $$@.new
	@$$(move_if_changed)
endef

# $(call write_unit,FILES): the recipe of a source that includes them.
define write_unit
@mkdir -p $(@D)
@printf '#include "%s"\n' $(1) > $@.new
@$(move_if_changed)
endef
