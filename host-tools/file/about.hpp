// What a recorder knows of the guest before its first record.
#pragma once

#include "file/file_writer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mmioscope::trace {

/// Functions of the guest's kernel, by their addresses: lines as of /proc/kallsyms, compressed by
/// zstd.
inline constexpr abi::SectionType symbols_section{11};

struct About {
    std::string lines;              ///< "key=value"
    std::vector<std::byte> symbols; ///< payload of that section; empty: none
    std::vector<std::byte> tree;    ///< the board's device tree, where a stream has only aliases
};

inline void write_about(FileWriter& file, const About& about) {
    file.text(about.lines);
    if (!about.symbols.empty()) {
        file.section(symbols_section, about.symbols);
    }
}

} // namespace mmioscope::trace
