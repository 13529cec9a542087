// What a recorder knows about the guest before the first record.
#pragma once

#include "file/file_writer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mmioscope::trace {

/// Functions of the guest's kernel by address: lines as in /proc/kallsyms, compressed with zstd.
inline constexpr abi::SectionType symbols_section{11};

struct About {
    std::string lines;              ///< "key=value"
    std::vector<std::byte> symbols; ///< payload of symbols_section; empty: none
    std::vector<std::byte> tree;    ///< the board's device tree, for streams that only have aliases
};

inline void write_about(FileWriter& file, const About& about) {
    file.text(about.lines);
    if (!about.symbols.empty()) {
        file.section(symbols_section, about.symbols);
    }
}

} // namespace mmioscope::trace
