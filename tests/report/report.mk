# The page that run.mjs opens in a browser. Included from tests/tests.mk; host-tools/report/report.mk has the rule.
tests: $(REPORT_PAGE)
