# The page of `mmioscope open`, host-tools/page/page.html: checked and bundled from app/ by npm packages of pinned versions.
# It is compiled into mmioscope, and kept in the repository, so that a build needs no npm. Included from install.mk.

page_app := $(BUILD)/page/app

.PHONY: page
page: $(BUILD)/page/page.html
	@cmp -s $< host-tools/page/page.html || { cp $< host-tools/page/page.html; echo '  host-tools/page/page.html'; }

$(page_app)/node_modules: host-tools/page/app/package.json host-tools/page/app/package-lock.json
	$(npm_ci)

$(BUILD)/page/page.html: $(page_app)/node_modules $(shell find host-tools/page/app -name node_modules -prune -o -type f -print)
	@rm -rf $(page_app)/src # what is no source any more
	@cp -R $(filter-out host-tools/page/app/node_modules,$(wildcard host-tools/page/app/*)) $(page_app)
	@echo "  $@"
	@cd $(page_app) && node_modules/.bin/tsc && node_modules/.bin/eslint src
	@node $(page_app)/build.mjs $@
