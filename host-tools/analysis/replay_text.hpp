// Steps as a program that does them.
#pragma once

#include "analysis/replay.hpp"
#include "system/text_buffer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::analysis {

/// What the steps are of.
struct ReplayOf {
    std::string device;
    std::uint64_t base = 0; ///< physical address
    std::string trace;      ///< its file
};

struct ReplayFormat {
    std::string_view name; ///< as --as takes it
    std::string_view help; ///< one line
    TextBuffer (*text)(const ReplayOf& of, std::span<const Step> steps);
};

/// All formats, in the order of --help.
std::span<const ReplayFormat> replay_formats();

} // namespace mmioscope::analysis
