// The options for recording a stream.
#pragma once

#include "view/live_printer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::record {

struct Options {
    std::string command;      ///< the complete command line; empty: none
    std::string source;       ///< wire/address.hpp
    unsigned baud = 115'200;  ///< of a serial port
    bool reconnect = true;    ///< reconnect when the other side is lost
    bool forever = false;     ///< continue after power-off: the machine may be switched on again
    std::string output;       ///< trace file; empty: none
    bool plain = false;       ///< leave its records unpacked
    std::uint64_t rotate = 0; ///< bytes after which a new file begins; 0: never
    bool follow = false;      ///< print while recording
    view::LiveOptions live;   ///< what to print, and how
    double time_limit = 0;    ///< seconds; 0: none
    std::string console;      ///< file for everything else on the wire; empty: none
    std::vector<std::string>
        symbols;         ///< files that name the guest's code (symbols/symbol_files.hpp)
    std::string tree;    ///< the board's device tree, for names; empty: unknown
    std::string control; ///< unix socket through which others may send commands; empty: none

    /// All files that are read.
    std::vector<std::string> inputs() const {
        std::vector<std::string> all = symbols;
        all.insert(all.end(), {source, tree});
        all.insert(all.end(), live.events.registers.begin(), live.events.registers.end());
        return all;
    }
};

/// Smaller files would contain little but their heads.
inline constexpr std::uint64_t min_rotate = 1 << 20;

} // namespace mmioscope::record
