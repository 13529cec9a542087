# The host tools and their tests. Included from the top Makefile, which sets BUILD.

BUILD ?= build

HOST_CXX ?= g++
HOST_WARNINGS := -Wall -Wextra -Wconversion -Werror
HOST_CPPFLAGS := -Ihyp -Ihyp/core -Ihyp/start -Ihost-tools -Ihost-tools/include
# Debugging information for backtraces: more of it takes a third of the compiler's time (make DEBUG=-g has it).
DEBUG ?= -g1
# A room is a large unit, in which GCC inlines less than in small ones unless told otherwise. -fPIC: a shared library may
# have libmmioscope.a in it; without interposition that costs nothing.
HOST_CXXFLAGS := -std=c++20 -O2 -fPIC -fno-semantic-interposition --param=inline-unit-growth=400 $(DEBUG) $(HOST_WARNINGS) -Wno-psabi $(GCC_MEMORY)
# -Og: -O1 takes the compiler twice as long with the sanitizers' checks, and saves the tests a quarter of their time. GCC
# reports uninitialised variables in the sanitizers' own code.
HOST_TEST_CXXFLAGS := -std=c++20 -Og $(DEBUG) $(HOST_WARNINGS) -Wno-maybe-uninitialized -Wno-psabi \
                      -fsanitize=address,undefined \
                      -fno-sanitize-recover=all -Itests $(GCC_MEMORY)
HOST_LIBS := -lfmt -lfdt -lserialport -ldeflate -lz -lzstd -llzma -lbz2 -llz4 -ldw -lelf -lpugixml -lsqlite3 -lncursesw -lre2 -lcrypto -ldl -lpthread
# What a program that reads traces needs of them (mmioscope.pc).
HOST_READER_LIBS := $(filter-out -lserialport -lsqlite3 -lncursesw -lcrypto,$(HOST_LIBS))
# The program's own libraries are static, for a quicker start in less memory, except those that plug-ins may have, too,
# and those that tests/bench/costs.py distinguishes by name.
# Debian 13's libdw.a needs a library that is in no package (elfutils' libeu); its libre2.a some of Abseil's.
# Asked when something is linked: `make demo` may have installed pkg-config just before.
HOST_RE2 = -Wl,--start-group $(filter-out -latomic,$(sort $(filter -l%,$(shell pkg-config --static --libs re2)))) -Wl,--end-group
HOST_DW_DYNAMIC = $(shell pkg-config --atleast-version=0.191 libdw && echo yes)
HOST_DW := -ldw -lelf
HOST_TOOL_LIBS = -Wl,-Bstatic -lfdt -lserialport $(if $(HOST_DW_DYNAMIC),,$(HOST_DW)) $(HOST_RE2) -lpugixml -lsqlite3 -lncursesw \
                  -ltinfo -lz -llzma -llz4 -lbz2 -lcrypto -Wl,-Bdynamic $(if $(HOST_DW_DYNAMIC),$(HOST_DW)) -lfmt -ldeflate -lzstd -ldl -lpthread
# Fewer pages in memory: relocations take a tenth of the space, and unused code of libraries and templates is removed.
HOST_TOOL_LDFLAGS := -Wl,-z,pack-relative-relocs -Wl,--gc-sections

# The built-in descriptions of registers, as text in a source.
HOST_SHIPPED := $(BUILD)/generated/shipped.cpp
# The page of `mmioscope open`, likewise; `make page` makes it (page/page.mk).
HOST_PAGE := $(BUILD)/generated/page.cpp
# All rooms except the commands are the library.
HOST_ROOMS := $(filter-out cli,$(sort $(patsubst host-tools/%/,%,$(dir $(wildcard host-tools/*/*.cpp)))))
HOST_UNITS_rooms = $(1:%=$(BUILD)/generated/rooms/%.cpp)
HOST_UNITS_files = $(wildcard $(1:%=host-tools/%/*.cpp))
# plan/ reads a board's device tree by the hypervisor's own code.
HOST_HYP_SOURCES := $(addprefix hyp/,$(addprefix start/dt/,board.cpp cpus.cpp placement.cpp regions.cpp tree.cpp uart.cpp) \
    start/region_map.cpp core/board/board.cpp core/trace/region_map.cpp)
HOST_LIB_SOURCES := $(call HOST_UNITS_$(UNITS),$(HOST_ROOMS)) $(HOST_SHIPPED) $(HOST_PAGE) $(HOST_HYP_SOURCES)
# The part of it that reads and writes files, wires and rings, for programs that need no more.
HOST_FILE_SOURCES := $(call HOST_UNITS_$(UNITS),system table tree records symbols file rings wire)
HOST_CLI_SOURCES := $(call HOST_UNITS_$(UNITS),cli)
HOST_MUTATE_SOURCES := tests/host-tools/mutate_trace.cpp
HOST_SAME_SOURCES := tests/host-tools/same_records.cpp
HOST_TRACE_OF_TEXT_SOURCES := tests/host-tools/trace_of_text.cpp tests/host-tools/trace_text.cpp
HOST_NAMED_SOURCES := tests/host-tools/named_code.cpp
HOST_FAULT_SOURCES := tests/diff/seed_fault.cpp tests/host-tools/trace_content.cpp
HOST_LOOPS_SOURCES := tests/polls/inject_loops.cpp tests/host-tools/trace_content.cpp
HOST_CATCH_SOURCES := $(sort $(wildcard tests/host-tools/test_*.cpp))
$(eval $(call test_units,host-tools,12,$(HOST_CATCH_SOURCES)))
HOST_TEST_SOURCES := $(filter-out $(HOST_CATCH_SOURCES) $(HOST_MUTATE_SOURCES) $(HOST_SAME_SOURCES) $(HOST_NAMED_SOURCES) \
                       tests/host-tools/trace_of_text.cpp,$(sort $(wildcard tests/host-tools/*.cpp))) \
                     $(addprefix guest-linux/program/,left_out.cpp wire_output.cpp sink.cpp connection.cpp announced.cpp) \
                     $(addprefix hyp/services/stream/,description.cpp frame_sender.cpp record_frame.cpp folder.cpp) hyp/start/crc32.cpp

# The fuzzers' functions, and their inputs in tests/fuzz/corpus/; the others are in tests/unit.mk.
HOST_REPLAYED := $(filter-out device_tree requests,$(notdir $(basename $(sort $(wildcard tests/fuzz/*.cpp)))))
HOST_REPLAY := $(BUILD)/generated/fuzz_replay.cpp

HOST_OBJECTS := $(patsubst %.cpp,$(BUILD)/host/%.o,$(HOST_LIB_SOURCES) $(HOST_CLI_SOURCES))
HOST_LIBRARY := $(BUILD)/libmmioscope.a
HOST_MUTATE_OBJECTS := $(HOST_MUTATE_SOURCES:%.cpp=$(BUILD)/host/%.o)
HOST_SAME_OBJECTS := $(HOST_SAME_SOURCES:%.cpp=$(BUILD)/host/%.o)
HOST_FAULT_OBJECTS := $(HOST_FAULT_SOURCES:%.cpp=$(BUILD)/host/%.o)
HOST_LOOPS_OBJECTS := $(HOST_LOOPS_SOURCES:%.cpp=$(BUILD)/host/%.o)
HOST_TRACE_OF_TEXT_OBJECTS := $(HOST_TRACE_OF_TEXT_SOURCES:%.cpp=$(BUILD)/host/%.o)
HOST_NAMED_OBJECTS := $(HOST_NAMED_SOURCES:%.cpp=$(BUILD)/host/%.o)
# Catch2's own code comes from the unit tests: with sanitizers it takes a minute.
HOST_TEST_OBJECTS := $(patsubst %.cpp,$(BUILD)/host-sanitized/%.o,\
                       $(HOST_LIB_SOURCES) $(test_units_of_host-tools) $(HOST_TEST_SOURCES)) \
                     $(BUILD)/unit/tests/unit/main.o \
                     $(HOST_REPLAY:%.cpp=$(BUILD)/host-sanitized/%.o)

.PHONY: host-tools
host-tools: $(BUILD)/mmioscope

$(patsubst %,$(BUILD)/generated/rooms/%.cpp,$(HOST_ROOMS) cli): $(BUILD)/generated/rooms/%.cpp: FORCE
	$(call write_unit,$(patsubst host-tools/%,%,$(sort $(wildcard host-tools/$*/*.cpp))))
.PHONY: FORCE
FORCE:

$(HOST_SHIPPED): host-tools/registers/embed.sh $(sort $(wildcard host-tools/devices/*.regs))
	@mkdir -p $(@D)
	@echo "  $@"
	@host-tools/registers/embed.sh $(filter %.regs,$^) > $@

$(HOST_PAGE): host-tools/page/embed.sh host-tools/page/page.html
	@mkdir -p $(@D)
	@echo "  $@"
	@$^ > $@

$(BUILD)/mmioscope: $(HOST_OBJECTS)
	@echo "  $@"
	@$(HOST_CXX) $(HOST_TOOL_LDFLAGS) -o $@ $^ $(HOST_TOOL_LIBS)

$(BUILD)/tests/host-tools: $(HOST_TEST_OBJECTS)
	@mkdir -p $(@D)
	@echo "  $@"
	@$(HOST_CXX) -fsanitize=address,undefined -o $@ $^ $(HOST_LIBS) $(CATCH_LIBS)

# A precompiled header of what most sources include, one for each kind of object. Each source still includes what it
# needs: file by file there is no such header.
HOST_COMMON := algorithm cstdint functional map memory optional span string vector fmt/format.h
# GCC takes parameters of the optimiser from it, so it must be rebuilt if the flags change.
define host_precompiled # DIRECTORY FLAGS HEADERS OBJECTS
$(BUILD)/$(1)/common.hpp.gch: host-tools/host.mk
	@mkdir -p $$(@D)
	@echo "  $$@"
	@printf '#include <%s>\n' $(3) > $$(basename $$@)
	@$$(HOST_CXX) $(2) -x c++-header -o $$@ $$(basename $$@)
ifeq ($(UNITS),rooms)
$(4): $(BUILD)/$(1)/common.hpp.gch
$(4): HOST_CPPFLAGS += -include $(BUILD)/$(1)/common.hpp
endif
endef
HOST_CATCH_OBJECTS := $(test_units_of_host-tools:%.cpp=$(BUILD)/host-sanitized/%.o)
$(HOST_CATCH_OBJECTS): HOST_CPPFLAGS += -Itests/host-tools
# The tests themselves are not optimised, only the code they test: optimisation takes three fifths of the compiler's
# time. Nor is undefined behaviour looked for in them, which takes a quarter of the rest.
HOST_CATCH_CXXFLAGS := $(subst -Og,-O0,$(HOST_TEST_CXXFLAGS)) -fno-sanitize=undefined
$(HOST_CATCH_OBJECTS): HOST_TEST_CXXFLAGS := $(HOST_CATCH_CXXFLAGS)
HOST_CLI_OBJECTS := $(HOST_CLI_SOURCES:%.cpp=$(BUILD)/host/%.o)
# Half of the program's code is CLI11's, which runs only once.
HOST_CLI_CXXFLAGS := $(subst -O2,-Os,$(HOST_CXXFLAGS))
$(HOST_CLI_OBJECTS): HOST_CXXFLAGS := $(HOST_CLI_CXXFLAGS)
$(eval $(call host_precompiled,host/pch,$(HOST_CXXFLAGS),$(HOST_COMMON),\
    $(patsubst %.cpp,$(BUILD)/host/%.o,$(HOST_LIB_SOURCES) $(wildcard tests/*/*.cpp))))
$(eval $(call host_precompiled,host/pch/cli,$(HOST_CLI_CXXFLAGS),$(HOST_COMMON) CLI/CLI.hpp,$(HOST_CLI_OBJECTS)))
$(eval $(call host_precompiled,host-sanitized/pch,$(HOST_TEST_CXXFLAGS),$(HOST_COMMON),\
    $(HOST_LIB_SOURCES:%.cpp=$(BUILD)/host-sanitized/%.o)))
$(eval $(call host_precompiled,host-sanitized/pch/catch,$(HOST_CATCH_CXXFLAGS),$(HOST_COMMON) catch_2_or_3.hpp,\
    $(HOST_CATCH_OBJECTS)))
$(BUILD)/host-sanitized/pch/catch/common.hpp.gch: tests/catch_2_or_3.hpp

$(HOST_CLI_OBJECTS): HOST_CPPFLAGS += -DMMIOSCOPE_VERSION='"$(shell cat VERSION)"'
$(HOST_CLI_OBJECTS): VERSION

# The fuzzers' functions in one unit, each by its file's name, and a table of them.
$(HOST_REPLAY): $(HOST_REPLAYED:%=tests/fuzz/%.cpp) tests/few_units.awk host-tools/host.mk
	@mkdir -p $(@D)
	@{ for name in $(HOST_REPLAYED); do \
	       printf '#undef LLVMFuzzerTestOneInput\n#define LLVMFuzzerTestOneInput fuzz_%s\n' $$name; \
	       awk -f tests/few_units.awk tests/fuzz/$$name.cpp; done; \
	   echo '#include "tests/host-tools/fuzz_replay.hpp"'; \
	   for name in $(HOST_REPLAYED); do echo "extern \"C\" int fuzz_$$name(const std::uint8_t*, std::size_t);"; done; \
	   echo 'std::map<std::string, mmioscope::test::FuzzFunction> mmioscope::test::fuzz_functions() {'; \
	   echo '    return {'; \
	   for name in $(HOST_REPLAYED); do echo "        {\"$$name\", fuzz_$$name},"; done; \
	   echo '    };'; echo '}'; } > $@
$(HOST_REPLAY:%.cpp=$(BUILD)/host-sanitized/%.o): HOST_CPPFLAGS += -I. -Itests

# Programs for tests: mutate-trace changes one record of a trace file, so that a test can show that verify notices;
# same-records compares the records of two files, bit by bit; trace-of-text writes a file from text
# (tests/host-tools/trace_text.hpp); named-code names the code of a trace's events; seed-fault puts a driver's fault into
# a trace, to judge diff; inject-loops puts loops into one, to judge polls.
HOST_TEST_TOOLS := $(addprefix $(BUILD)/tests/,mutate-trace same-records trace-of-text named-code seed-fault inject-loops)
$(BUILD)/tests/mutate-trace: $(HOST_MUTATE_OBJECTS)
$(BUILD)/tests/same-records: $(HOST_SAME_OBJECTS)
$(BUILD)/tests/trace-of-text: $(HOST_TRACE_OF_TEXT_OBJECTS)
$(BUILD)/tests/named-code: $(HOST_NAMED_OBJECTS)
$(BUILD)/tests/seed-fault: $(HOST_FAULT_OBJECTS)
$(BUILD)/tests/inject-loops: $(HOST_LOOPS_OBJECTS)
$(HOST_TEST_TOOLS): $(HOST_LIBRARY)
	@mkdir -p $(@D)
	@echo "  $@"
	@$(HOST_CXX) -o $@ $(filter %.o,$^) $(HOST_LIBRARY) $(HOST_LIBS)

$(BUILD)/host/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  $<"
	@$(HOST_CXX) $(HOST_CPPFLAGS) $(HOST_CXXFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/host-sanitized/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  $<"
	@$(HOST_CXX) $(HOST_CPPFLAGS) $(HYP_INCLUDES) $(HOST_TEST_CXXFLAGS) -MMD -MP -c -o $@ $<

include host-tools/install.mk

-include $(patsubst %.o,%.d,$(sort $(HOST_OBJECTS) $(HOST_MUTATE_OBJECTS) $(HOST_SAME_OBJECTS) \
                              $(HOST_TRACE_OF_TEXT_OBJECTS) $(HOST_NAMED_OBJECTS) \
                              $(HOST_FAULT_OBJECTS) $(HOST_LOOPS_OBJECTS) $(HOST_TEST_OBJECTS)))
