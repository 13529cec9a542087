// Everything a user can say about recording a stream.
#pragma once

#include "view/live_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::record {

struct Options {
    std::string command;      ///< the command line that says all this; empty: none
    std::string source;       ///< transport/address.hpp
    unsigned baud = 115'200;  ///< of a serial port
    bool reconnect = true;    ///< when the other side was lost
    bool forever = false;     ///< go on when the machine went off: it may be switched on again
    std::string output;       ///< trace file; empty: not kept
    bool plain = false;       ///< its records are not packed in the end
    std::uint64_t rotate = 0; ///< bytes after which the next file begins; 0: never
    bool follow = false;      ///< print while recording
    view::LiveOptions live;   ///< what is printed, and how
    double time_limit = 0;    ///< seconds; 0: none
    std::string console;      ///< what else is on the wire goes here; empty: nothing is
    std::vector<std::string>
        symbols;         ///< files that name the guest's code (symbols/symbol_files.hpp)
    std::string tree;    ///< the board's device tree, for names; empty: not known
    std::string control; ///< unix socket through which others may steer; empty: none
};

/// Smaller files would hold little but their heads.
inline constexpr std::uint64_t min_rotate = 1 << 20;

} // namespace mmioscope::record
