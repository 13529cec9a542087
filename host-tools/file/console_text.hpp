// What the guest printed on its console, as a section of the file (docs/man/mmioscope-trace.5).
#pragma once

#include "abi/container.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::trace {

inline constexpr abi::SectionType console_section{14};

/// In front of the bytes of one section.
struct ConsoleHeader {
    std::uint64_t time; ///< CNTPCT when they came, about; 0: not known
};
static_assert(sizeof(ConsoleHeader) == 8);

/// Bytes in one section, and in all of a file: a guest prints what it likes. Readers take no more.
inline constexpr std::size_t max_console_piece = 64 * 1024;
inline constexpr std::size_t max_console = 16u << 20;
inline constexpr std::size_t max_console_lines = 1u << 20;

/// The console's text, put together from its sections.
class ConsoleText {
public:
    /// Lines are whole only with those of later sections.
    struct Line {
        std::uint64_t time; ///< CNTPCT when its first byte came, about; 0: not known
        std::string text;   ///< without its end
    };

    void add(std::span<const std::byte> payload);
    std::span<const Line> lines() const { return lines_; }
    bool empty() const { return lines_.empty(); }

private:
    std::vector<Line> lines_;
    std::size_t size_ = 0;
    bool open_ = false; ///< the last line has no end yet
};

} // namespace mmioscope::trace
