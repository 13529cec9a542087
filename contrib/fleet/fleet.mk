# build/fleet/: the scripts of contrib/fleet/ beside DuckDB from npm. Included from the Makefile.

FLEET := $(BUILD)/fleet/duckdb.mjs

fleet: $(FLEET)
	@:

$(BUILD)/fleet/node_modules: contrib/fleet/package.json contrib/fleet/package-lock.json
	$(npm_ci)

$(FLEET): $(BUILD)/fleet/node_modules $(wildcard contrib/fleet/*)
	@cp contrib/fleet/*.sh contrib/fleet/*.sql contrib/fleet/*.mjs $(@D)
	@touch $@
