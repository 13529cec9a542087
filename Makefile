# mmioscope. `make help` lists what there is to make; each folder's *.mk says how.

# Relative, so that the checkout may stand in a path with spaces.
BUILD := build
# One unit for each room, and few for the tests, since most of the compiler's time is the headers. UNITS=files: file by
# file, as a newcomer includes them (make nightly).
UNITS ?= rooms
BOARD ?= vexpress-a15
# Arguments of `mmioscope run` for `make demo`: make demo ARGS="--engine emulation"
ARGS ?=
# uart: the trace of `make demo` comes over a UART of the board instead of shared memory
STREAM ?=

.PHONY: all help setup hyp demo man install uninstall test fuzz nightly soak prove bench clean distclean
.DELETE_ON_ERROR:
all: hyp host-tools
	@:

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
	    printf '  make %-10s %s\n' "$$name" "$$text"; done

# $@.new becomes $@; if it is the same, nothing is made anew that is made of it.
move_if_changed = if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

include tests/few_units.mk
include hyp/hyp.mk
include guest-linux/guest.mk
include host-tools/host.mk
include tests/tests.mk

setup: ## install the Debian packages that building, the demo and the tests need
	@contrib/install-packages.sh */packages.txt

hyp: $(foreach b,$(HYP_BOARDS),$(BUILD)/hyp-$(b).elf) ## build the hypervisor for every board

man: ## make the manual pages, in build/man/

install: ## install mmioscope, the hypervisor and the library below DESTDIR and PREFIX (/usr/local)
uninstall: ## remove what install installed there

demo: ## boot stock Debian on two CPUs, every device traced, and print what it does
	@[ -x $(BUILD)/mmioscope ] || echo 'The first time takes some 3 minutes on 2 CPUs, a download of 330 MB, and 2 GB of disk.'
	@contrib/install-packages.sh hyp/packages.txt guest-linux/packages.txt host-tools/packages.txt
	@$(MAKE) --no-print-directory -j2 guest all
	@$(BUILD)/mmioscope run --board $(BOARD) $(DEMO_ARGS) $(DEMO_STREAM_$(STREAM)) $(ARGS)

DEMO_ARGS = --kernel $(BUILD)/guest/vmlinuz --dtb $(BUILD)/guest/vexpress-v2p-ca15-tc1.dtb \
    --initrd $(BUILD)/guest/initrd.img --sd $(BUILD)/guest/sd.img \
    --append 'console=ttyAMA0 panic=-1' --expect 'mmioscope-guest: done' \
    --output $(BUILD)/demo.mmio --console-log $(BUILD)/demo-console.log --time-limit 300
DEMO_STREAM_uart = --stream serial2 --policy stall

# The tiers, by what they take: minutes, an hour of random input, an hour of long proofs, SOAK_MINUTES
# (60) of the hard cases over and over, ten minutes of comparisons, minutes of instruction counts.
test: ## everything CI checks
fuzz: ## the parsers against random input, FUZZ_SECONDS (600) each
nightly: ## the long versions of the proofs, about four hours; goes on where it stopped, at the same commit
soak: ## the contended and dense cases for SOAK_MINUTES (60)
prove: ## the engines and the baseline that loses events, against QEMU's own log: table and plot
bench: ## what tracing and the host tools cost, in instructions, and an event the host tools, in time
test fuzz nightly soak prove bench: setup
	@$(MAKE) --no-print-directory -j2 guest all
	@tests/run.sh $@

clean: ## remove what was built, keep what was downloaded
	@find $(BUILD) -mindepth 1 -maxdepth 1 ! -name cache -exec rm -rf {} +

distclean: ## remove everything that git does not know
	@rm -rf $(BUILD)
