# The library, and the files of `make install`. Included from host.mk.

include host-tools/page/page.mk

PREFIX ?= /usr/local
DESTDIR ?=

HOST_LIBRARY_OBJECTS := $(patsubst %.cpp,$(BUILD)/host/%.o,$(HOST_LIB_SOURCES))

$(HOST_LIBRARY): $(HOST_LIBRARY_OBJECTS)
	@echo "  $@"
	@rm -f "$@"
	@ar rcs "$@" $^

INSTALL_PUBLIC_HEADERS := $(wildcard host-tools/include/mmioscope/*.hpp)
INSTALL_ABI_HEADERS := $(wildcard hyp/abi/*.hpp)
# The options of commands, the program's commands, and the fields of events are filled in from what it prints.
MADE_MAN_PAGES := $(patsubst docs/man/%,$(BUILD)/man/%,$(wildcard docs/man/*.[157]))
INSTALL_COMPLETION := $(wildcard contrib/completion/mmioscope.bash)
INSTALL_DEVICES := $(wildcard host-tools/devices/*)

# What is installed where: pairs of a file here and a path below PREFIX, without spaces.
INSTALLED := $(BUILD)/mmioscope:bin/mmioscope $(HOST_LIBRARY):lib/libmmioscope.a \
    $(foreach b,$(HYP_IMAGE_BASES),$(BUILD)/hyp-$(b).elf:lib/mmioscope/hyp-$(b).elf) \
    $(foreach h,$(INSTALL_PUBLIC_HEADERS),$(h):include/mmioscope/$(notdir $(h))) \
    $(foreach h,$(INSTALL_ABI_HEADERS),$(h):include/mmioscope/abi/$(notdir $(h))) \
    $(foreach m,$(MADE_MAN_PAGES),$(m):share/man/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
    $(foreach c,$(INSTALL_COMPLETION),$(c):share/bash-completion/completions/mmioscope) \
    $(foreach d,$(INSTALL_DEVICES),$(d):share/mmioscope/devices/$(notdir $(d)))

$(MADE_MAN_PAGES): $(BUILD)/man/%: docs/man/% docs/man/page.awk $(BUILD)/mmioscope
	@mkdir -p $(@D)
	@echo "  $@"
	@{ $(BUILD)/mmioscope $(patsubst mmioscope-%.1,%,$(filter mmioscope-%.1,$*)) --help && \
	    $(BUILD)/mmioscope print -F help; } | awk -f docs/man/page.awk $< >$@

.PHONY: install uninstall
man: $(MADE_MAN_PAGES)

install: $(BUILD)/mmioscope $(HOST_LIBRARY) $(MADE_MAN_PAGES) hyp
	@for pair in $(INSTALLED); do \
	    from=$${pair%%:*} to="$(DESTDIR)$(PREFIX)/$${pair#*:}"; \
	    mode=644; [ "$$from" != "$(BUILD)/mmioscope" ] || mode=755; \
	    install -D -m $$mode "$$from" "$$to" || exit 1; \
	done
	@mkdir -p "$(DESTDIR)$(PREFIX)/lib/pkgconfig"
	@sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(shell cat VERSION)|; s|@LIBS@|$(HOST_READER_LIBS)|' \
	    host-tools/mmioscope.pc.in >"$(DESTDIR)$(PREFIX)/lib/pkgconfig/mmioscope.pc"

uninstall:
	@rm -f "$(DESTDIR)$(PREFIX)/lib/pkgconfig/mmioscope.pc"
	@for pair in $(INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$${pair#*:}"; done
	@for folder in include/mmioscope/abi include/mmioscope lib/mmioscope share/mmioscope/devices share/mmioscope; do \
	    [ ! -d "$(DESTDIR)$(PREFIX)/$$folder" ] || rmdir "$(DESTDIR)$(PREFIX)/$$folder"; \
	done
