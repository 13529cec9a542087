# What the tests of the page need. Included from tests/tests.mk; host-tools/page/page.mk has the page's rule.
tests: $(BUILD)/page/page.html $(BUILD)/tests/choose

$(BUILD)/tests/choose: tests/page/choose.cpp $(HOST_LIBRARY)
	@mkdir -p $(@D)
	@echo "  $@"
	@$(HOST_CXX) $(HOST_CPPFLAGS) $(HOST_CXXFLAGS) -o $@ $^ $(HOST_LIBS)
