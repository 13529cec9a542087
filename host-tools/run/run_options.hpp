// All options of a run.
#pragma once

#include "run/board.hpp"
#include "view/live_printer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::run {

struct Options {
    std::string command; ///< the complete command line; empty: none
    std::string board = board_names().front();
    std::optional<Board> tried_board; ///< nothing: `board` has a row
    std::string hypervisor;           ///< ELF; empty: run/input.hpp finds it
    std::string kernel;               ///< zImage; if `bare`, a raw binary or an ELF file
    std::string tree;                 ///< the board's device tree
    std::string ramdisk;              ///< empty: none
    std::string sd_image;             ///< empty: no card
    std::optional<std::string> command_line;
    std::optional<bool> network; ///< nothing: the board's default
    bool bare = false;
    std::optional<std::uint32_t> load_at; ///< of a raw binary; nothing: the board's kernel address
    std::optional<std::uint32_t> entry;   ///< of a raw binary; nothing: its first byte
    std::optional<std::uint32_t>
        tree_at; ///< the guest's device tree; nothing: below the hypervisor
    unsigned cpus = 2;
    std::uint64_t memory = 0; ///< bytes; 0: the board's default
    bool at_top = false;      ///< the hypervisor lies at the end of the RAM
    std::string ram;          ///< file behind the RAM, kept afterwards; empty: none

    std::vector<std::string> trace;      ///< selections, unparsed
    std::string engine;                  ///< empty: the hypervisor's default
    std::string policy;                  ///< empty: the hypervisor's default
    bool slow_path = false;              ///< no access takes the fast path
    bool no_breakpoints = false;         ///< as where DBGEN is low
    bool pre = false;                    ///< a record before each access, too
    std::uint64_t area_size = 64u << 20; ///< bytes
    bool guest_reader = false;           ///< the guest may map the trace area
    std::optional<bool> control_page;    ///< and accept requests over the wire; default: yes
    std::vector<std::string> at_start;   ///< commands of ctl, unparsed
    std::vector<std::string> probes;     ///< functions, unparsed (run/probes.hpp)
    bool returns = false;                ///< of these, too
    bool probes_later = false;           ///< requests may set probes
    std::vector<std::string> watches;    ///< memory, unparsed (run/probes.hpp)
    bool watches_later = false;          ///< requests may watch memory
    std::vector<std::string> pages;      ///< memory whose pages move, unparsed (run/probes.hpp)

    std::string stacks; ///< devices whose accesses have stacks, unparsed

    std::string stream;                     ///< UART for the trace; empty: none
    std::string stream_file;                ///< file for its bytes; empty: none
    bool stream_shared = false;             ///< that UART is the guest's console, too
    bool stream_beside = false;             ///< but read the trace from shared memory
    std::optional<unsigned> stream_baud;    ///< limit in bits/s
    std::optional<unsigned> stream_quantum; ///< ns
    std::string stream_fold;                ///< empty: the hypervisor's default

    std::string control; ///< unix socket for mmioscope ctl; empty: none

    /// Whether the trace comes from the stream.
    bool reads_stream() const { return !stream.empty() && !stream_beside; }

    std::string output;      ///< trace file; empty: none
    bool plain = false;      ///< leave its records unpacked
    std::string console_log; ///< empty: none
    std::string hypervisor_log;
    std::string access_log; ///< QEMU's own log of accesses; empty: none
    bool console = false;   ///< connect the guest's console to this terminal
    view::LiveOptions live; ///< what to print, and how
    std::vector<std::string>
        symbols;               ///< files that name the guest's code (symbols/symbol_files.hpp)
    bool no_cache = false;     ///< read the kernel's image anew (run/kernel_cache.hpp)
    std::optional<bool> print; ///< nothing: print unless the console is here

    std::string qemu = "qemu-system-arm";
    std::vector<std::string> qemu_arguments;
    unsigned reboots = 0;    ///< number of resets by the guest after which the run continues
    double time_limit = 0;   ///< seconds; 0: none
    double ready_limit = 30; ///< seconds until the hypervisor must have set up its area
    std::string stop_at;     ///< the run ends when the guest's console says this; empty: not
    std::string expect;      ///< the guest's console must contain a line with this
};

} // namespace mmioscope::run
