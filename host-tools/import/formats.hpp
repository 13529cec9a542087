// The list of logs that can become a trace.
#pragma once

#include "import/importing.hpp"
#include "system/byte_source.hpp"

#include <span>
#include <string_view>

namespace mmioscope::importing {

struct Format {
    std::string_view name; ///< as --from takes it
    std::string_view help; ///< one line: what it is
    /// Writes the trace to `fd`. `first` and `second` give the same log, from its start, for those
    /// that read it twice. Throws Error (bad_input) if nothing in it can be used.
    Report (*import)(ByteSource& first, ByteSource& second, int fd);
};

/// All there are, in the order in which people are told of them.
std::span<const Format> formats();

/// Throws Error (bad_input) if there is none of that name.
const Format& format_of(std::string_view name);

} // namespace mmioscope::importing
