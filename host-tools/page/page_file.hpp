// Writes a trace as one page for a browser. The page (app/) is compiled into the program; it holds
// the trace itself, byte for byte, and what only the program can tell of its events.
#pragma once

#include "analysis/dmesg.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "records/notes.hpp"
#include "system/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::page {

/// The page without data, with @FACTS@, @NAMES@ and @TRACE@ where they go (made by embed.sh).
std::string_view shell();

struct What {
    std::string name;            ///< of the trace, as people know it
    reading::TraceOptions trace; ///< of a packed trace that can be read twice; selects nothing
    reading::DriveOptions drive;
    bool cut = false;                                 ///< it has only a part of a longer one
    std::vector<analysis::DmesgLine> kernel_log = {}; ///< with the trace's times
    trace::Notes notes = {};
};

/// Called with each piece of the page.
using Write = std::function<void(std::string_view)>;

/// Whether the file can be embedded as it is: a trace in one file, sound, and packed.
bool is_packed_file(const std::string& path);

struct Verdict {
    std::string text;
    Status status;
    std::uint64_t records;
};

/// Reads the trace. Throws Error (bad_input) if it is too large for a browser.
Verdict write_page(const What& what, const Write& write);

} // namespace mmioscope::page
