# The page into which `mmioscope report` puts its data: build/report/report.html, bundled from host-tools/report/page/ by
# npm packages of pinned versions. Included from install.mk.

REPORT_PAGE := $(BUILD)/report/report.html
report_page := $(BUILD)/report/page

report: $(REPORT_PAGE)
	@:

$(report_page)/node_modules: host-tools/report/page/package.json host-tools/report/page/package-lock.json
	$(npm_ci)

$(REPORT_PAGE): $(report_page)/node_modules $(wildcard host-tools/report/page/*)
	@cp host-tools/report/page/* $(report_page)
	@echo "  $@"
	@node $(report_page)/build.mjs $@
