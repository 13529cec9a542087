// The list of log formats that can become a trace.
#pragma once

#include "import/importing.hpp"
#include "system/byte_source.hpp"

#include <span>
#include <string_view>

namespace mmioscope::importing {

struct Format {
    std::string_view name; ///< as --as takes it
    std::string_view help; ///< one line: what it is
    /// Writes the trace to `fd`. `first` and `second` provide the same log, each from its start,
    /// for formats that need two passes. Throws Error (bad_input) if the log has nothing usable.
    Report (*import)(ByteSource& first, ByteSource& second, int fd);
};

/// All formats, in the order of --help.
std::span<const Format> formats();

/// Throws Error (bad_input) if no format has this name.
const Format& format_of(std::string_view name);

} // namespace mmioscope::importing
