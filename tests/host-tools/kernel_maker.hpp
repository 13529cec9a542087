// Images of kernels made up for tests: the tables of kallsyms in each layout, and zImages around
// them.
#pragma once

#include "symbols/symbol.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::test {

/// What kernels of several versions have in another place or way.
struct Layout {
    bool addresses_last = false; ///< behind the tokens: 6.4 and later
    bool order = false;          ///< of the names, 3 bytes each: 6.1.y and later
    bool absolute = false;       ///< addresses, not offsets from a base
};

/// The tables of `symbols`, which are sorted. `seed` chooses the tokens, and what is around it all.
std::vector<std::byte> kallsyms_image(const symbols::SymbolList& symbols, const Layout& layout,
                                      unsigned seed);

enum class Payload { xz, lzma, gzip, lz4, zstd };

/// A zImage with that payload; code in front of it that looks like the beginning of each.
std::vector<std::byte> zimage(const std::vector<std::byte>& kernel, Payload payload);

} // namespace mmioscope::test
