# Plug-ins for tests: the example, built as by a user, and some that must be refused.

PLUGIN_SOURCES := $(sort $(wildcard tests/plugin/*.cpp))
PLUGIN_LIBRARIES := $(PLUGIN_SOURCES:tests/plugin/%.cpp=$(BUILD)/tests/plugins/%.so)

tests: $(PLUGIN_LIBRARIES) $(BUILD)/tests/plugins/example.so

$(PLUGIN_LIBRARIES): $(BUILD)/tests/plugins/%.so: tests/plugin/%.cpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(HOST_CXX) $(HOST_CPPFLAGS) $(HOST_CXXFLAGS) -shared -fPIC -MMD -MP -MF "$(@:.so=.d)" -o "$@" "$<"

$(BUILD)/tests/plugins/example.so: contrib/plugin-example/example.cpp contrib/plugin-example/Makefile \
                                   $(wildcard host-tools/include/mmioscope/*.hpp) hyp/abi/record.hpp
	@mkdir -p "$(@D)"
	@echo "  $@"
	@$(MAKE) --no-print-directory -s -B -f contrib/plugin-example/Makefile OUT="$@" \
	    CPPFLAGS="-Ihost-tools/include -Ihyp" CXX="$(HOST_CXX)"

-include $(PLUGIN_LIBRARIES:.so=.d)
