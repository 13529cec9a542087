// Makes kernel images for tests: the tables of kallsyms in each layout, and zImages around them.
#pragma once

#include "symbols/symbols.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::test {

/// What differs between kernel versions.
struct Layout {
    bool addresses_last = false; ///< after the tokens: 6.4 and later
    bool order = false;          ///< of the names, 3 bytes each: 6.1.y and later
    bool absolute = false;       ///< addresses, not offsets from a base
};

/// The tables of `symbols`, which must be sorted. `seed` selects the tokens, and the surrounding
/// bytes.
std::vector<std::byte> kallsyms_image(const symbols::SymbolList& symbols, const Layout& layout,
                                      unsigned seed);

enum class Payload { xz, lzma, gzip, lz4, zstd };

/// A zImage with this payload, after code that contains decoys of each format's magic.
std::vector<std::byte> zimage(const std::vector<std::byte>& kernel, Payload payload);

} // namespace mmioscope::test
