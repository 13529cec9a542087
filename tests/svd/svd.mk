# svd-dump prints the registers of SVD files, for svd.py.
$(BUILD)/tests/svd-dump: $(BUILD)/host/tests/svd/dump.o $(HOST_LIBRARY)
	@mkdir -p $(@D)
	@echo "  $@"
	@$(HOST_CXX) -o $@ $^ $(HOST_LIBS)
tests: $(BUILD)/tests/svd-dump
-include $(BUILD)/host/tests/svd/dump.d
