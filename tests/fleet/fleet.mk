# DuckDB, for run.py. Included from tests/tests.mk; contrib/fleet/fleet.mk has the rule.
tests: $(FLEET)
