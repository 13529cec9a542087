// A symbol, as nm, System.map and /proc/kallsyms list it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::symbols {

struct Symbol {
    std::uint32_t address = 0;
    char type = 't'; ///< of nm: t and T text, w and W weak, d data ...
    std::string name;
    std::string module; ///< empty: the kernel itself

    bool operator==(const Symbol&) const = default;
};

using SymbolList = std::vector<Symbol>;

} // namespace mmioscope::symbols
