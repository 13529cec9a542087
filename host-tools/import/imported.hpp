// What an import keeps in a trace's text for other commands, besides PCIDEV lines.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mmioscope::importing {

/// The upper half of the addresses of code, in hexadecimal, if that of a kernel of 64 bits.
inline constexpr char pc_high_key[] = "pc-high";
inline constexpr char imported_key[] = "imported-from";

using Text = std::map<std::string, std::string>;

/// The upper half of the PCs of a trace with this text; 0: they have 32 bits.
inline std::uint32_t pc_high(const Text& text) {
    std::uint32_t high = 0;
    if (const auto found = text.find(pc_high_key); found != text.end()) {
        const std::string& digits = found->second;
        std::from_chars(digits.data(), digits.data() + digits.size(), high, 16);
    }
    return high;
}

/// Whether the trace's clock is printk's, in nanoseconds.
inline bool has_clock_of_printk(const Text& text) {
    const auto found = text.find(imported_key);
    return found != text.end() && found->second == "mmiotrace";
}

// Keeps the PCIDEV lines of an imported mmiotrace log for a later export: in the trace's text, with
// the key `pcidev-BBDF` and the rest of the line as the value.

inline constexpr std::string_view pci_key = "pcidev-";

} // namespace mmioscope::importing
