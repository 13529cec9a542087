# mmioscope. `make help` lists the targets; the *.mk file of each folder has its rules.

# A relative path, so that the path of the checkout may contain spaces.
BUILD := build
# The compiler spends most of its time on headers, so each room is one unit, and the tests are a few. UNITS=files
# compiles each file separately, which checks that it includes what it needs (make nightly).
UNITS ?= rooms
# KiB that GCC takes before it looks for garbage: with less, that is an eighth of its time.
GCC_MEMORY ?= --param=ggc-min-heapsize=524288
BOARD ?= vexpress-a15
# Arguments of `mmioscope run` for `make demo`: make demo ARGS="--engine emulation"
ARGS ?=
# STREAM=uart: `make demo` takes the trace from a UART of the board instead of shared memory
STREAM ?=

.PHONY: all help setup hyp doctor demo run image man page fleet install uninstall test fuzz nightly matrix soak prove bench clean distclean
.DELETE_ON_ERROR:
all: hyp host-tools
	@:

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
	    printf '  make %-10s %s\n' "$$name" "$$text"; done

# Replaces $@ by $@.new only if they differ, so that files that depend on $@ are not rebuilt without need.
move_if_changed = if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Fetches npm packages, of the versions in package-lock.json: $(@D)/node_modules from package.json and package-lock.json.
define npm_ci
	@command -v npm >/dev/null || contrib/install-packages.sh host-tools/page/packages.txt
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@echo "  $@"
	@npm ci --prefix $(@D) --silent --no-audit --no-fund
	@touch $@
endef

include tests/few_units.mk
include hyp/hyp.mk
include guest-linux/guest.mk
include host-tools/host.mk
include contrib/fleet/fleet.mk
include tests/tests.mk

setup: ## install the Debian packages for building, the demo and the tests
	@contrib/install-packages.sh */packages.txt

hyp: $(HYP_IMAGE_BASES:%=$(BUILD)/hyp-%.elf) ## build the hypervisor for every load address

doctor: $(HYP_IMAGE_BASES:%=$(BUILD)/doctor-%.elf) ## build the self-test of a board for every load address (docs/boards.md)

page: ## make the page of `mmioscope open` from its sources (npm)

fleet: ## DuckDB for the traces of many boards, in build/fleet (npm)

man: ## make the manual pages in build/man/

install: ## install mmioscope, the hypervisor and the library in DESTDIR and PREFIX (default /usr/local)
uninstall: ## remove what `make install` installed

# The row of $(BOARD) in guest-linux/boards; its words: board, CPUs, tree, console, steps, shown. Its tree's file, or nothing.
board := $(shell awk -v board='$(BOARD)' '$$1 == board' guest-linux/boards)
board_tree := $(patsubst %,$(BUILD)/guest/%.dtb,$(filter-out none,$(word 3,$(board))))

demo: ## boot stock Debian, trace every device, and print what its drivers do; BOARD=orangepi-pc and others
	@: $(if $(board),,$(error demo: BOARD=$(BOARD) is none of: $(shell awk '!/^#/ { print $$1 }' guest-linux/boards)))
	@[ -x $(BUILD)/mmioscope ] || echo 'The first build takes about 5 minutes on 2 CPUs, downloads 330 MB, and needs 2 GB of disk.'
	@contrib/install-packages.sh hyp/packages.txt guest-linux/packages.txt host-tools/packages.txt
	@$(MAKE) --no-print-directory -j2 guest all
	@began=$$(date +%s); $(BUILD)/mmioscope run --board $(BOARD) $(DEMO_ARGS) $(DEMO_STREAM_$(STREAM)) $(ARGS) && \
	if [ "$$(stat -c %Y $(BUILD)/demo.mmio 2>/dev/null || echo 0)" -ge $$began ]; then \
	    $(BUILD)/mmioscope report $(BUILD)/demo.mmio -o $(BUILD)/demo.html 2>/dev/null; echo 'as a page: $(BUILD)/demo.html'; fi && \
	printf '    $(BUILD)/mmioscope %s $(BUILD)/demo.mmio\n' advise 'stat --sort time' phases "print -F 'dev==$(word 6,$(board)) && w'"

# What is printed leaves out the interrupt controller, whose accesses are most of the first. Not all boards can switch
# themselves off.
DEMO_ARGS = --kernel $(BUILD)/guest/vmlinuz $(addprefix --dtb ,$(board_tree)) --cpus $(word 2,$(board)) \
    --initrd $(BUILD)/guest/initrd.img $(if $(findstring sd,$(word 5,$(board))),--sd $(BUILD)/guest/sd.img) \
    --append 'console=$(word 4,$(board)) panic=-1 mmioscope.steps=$(word 5,$(board))' --expect 'mmioscope-guest: done' \
    --stop-at 'System halted' --filter "dev!~'intc|interrupt-controller'" \
    --output $(BUILD)/demo.mmio --console-log $(BUILD)/demo-console.log --time-limit 300
DEMO_STREAM_uart = --stream serial2 --policy stall

run: ## trace your own kernel in QEMU: KERNEL= DTB= [INITRD= APPEND= BOARD= ARGS=]; the trace is build/run.mmio
	@[ -n '$(KERNEL)' ] || { echo 'make run: KERNEL= is missing: a zImage, or with ARGS=--bare any program' >&2; exit 2; }
	@contrib/install-packages.sh hyp/packages.txt host-tools/packages.txt
	@$(MAKE) --no-print-directory -j2 all
	@$(BUILD)/mmioscope run --board $(BOARD) --kernel '$(KERNEL)' $(if $(DTB),--dtb '$(DTB)') $(if $(INITRD),--initrd '$(INITRD)') \
	    $(if $(APPEND),--append '$(APPEND)') --output $(BUILD)/run.mmio $(ARGS)

# What U-Boot loads (contrib/u-boot/boot-files.sh): of a board's own files, DTB= and KERNEL= with MEMORY= if the tree does
# not say it, or of the guest's for one of these boards. PLACE=top: at the end of the memory. SET= is a property of /chosen.
image: ## make what U-Boot needs on a board in build/image/: BOARD=orangepi-pc, or DTB= KERNEL= [INITRD= APPEND= MEMORY= PLACE= SET=]
	@contrib/install-packages.sh hyp/packages.txt host-tools/packages.txt contrib/u-boot/packages.txt
	@$(MAKE) --no-print-directory -j2 $(if $(DTB),,guest) all
	@contrib/u-boot/boot-files.sh --build $(BUILD) --dtb $(IMAGE_DTB) --kernel $(or $(KERNEL),$(BUILD)/guest/vmlinuz) \
	    $(if $(IMAGE_INITRD),--initrd $(IMAGE_INITRD)) $(if $(IMAGE_MEMORY),--memory $(IMAGE_MEMORY)) $(if $(PLACE),--place $(PLACE)) \
	    --append '$(or $(APPEND),$(if $(DTB),,$(addprefix console=,$(word 4,$(board)))))' $(if $(SET),--set '$(SET)') $(BUILD)/image
	@ls $(BUILD)/image

IMAGE_DTB = $(or $(DTB),$(board_tree),$(error image: BOARD=$(BOARD) has no tree here; give DTB= and KERNEL=))
IMAGE_INITRD = $(or $(INITRD),$(if $(KERNEL),,$(BUILD)/guest/initrd.img))
IMAGE_MEMORY = $(or $(MEMORY),$(if $(DTB),,$(IMAGE_MEMORY_$(BOARD))))
IMAGE_MEMORY_orangepi-pc = 0x40000000+512M
IMAGE_MEMORY_raspi2b = 0x0+944M

# The tiers of the tests. `test` and `bench` take minutes, `prove` ten minutes, `fuzz` and `soak` an hour.
test: ## run all tests that CI runs, about 20 minutes on 2 CPUs
fuzz: ## run the parsers on random input, FUZZ_SECONDS each (default 600)
nightly: ## run the long versions of the proofs, about four hours, or some: SUITES='diff polls'; continues where it stopped, at the same commit
matrix: ## boot each board with each of Debian's kernels, compare with QEMU's log, and write the table in docs/boards.md
soak: ## measure memory over 100 million events, then repeat the contended and dense cases for SOAK_MINUTES (default 60)
prove: ## compare the engines, and the baseline that loses events, with QEMU's own log: table and plot
bench: ## measure what tracing and the host tools cost: instructions, and time per event
test fuzz nightly matrix soak prove bench: setup
	@$(MAKE) --no-print-directory -j2 guest all
	@tests/run.sh $@

clean: ## remove what was built, but not what was downloaded
	@find $(BUILD) -mindepth 1 -maxdepth 1 ! -name cache -exec rm -rf {} +

distclean: ## remove the build folder with all downloads
	@rm -rf $(BUILD)
