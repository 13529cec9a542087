// The names of the guest's code.
#pragma once

#include "mmioscope/event.hpp"
#include "symbols/source.hpp"
#include "symbols/symbol.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace mmioscope::symbols {

/// How much a source is to be believed: the first that knows an address is taken.
enum class Trust {
    elf,    ///< an ELF file with symbols
    text,   ///< /proc/kallsyms, or what was found in the guest's memory
    image,  ///< the kernel's image, which knows no modules
    module, ///< where a module lies, and no more
};

/// Where a module of the guest's kernel was loaded.
struct ModuleSpan {
    std::string name;
    std::uint32_t base = 0;
    std::uint32_t size = 0; ///< bytes
};

class Symbols {
public:
    /// Of sources of one trust the one added first comes first. To be added before the first
    /// address is looked up: what was found stays as it was.
    void add(Trust trust, std::unique_ptr<Source> source);
    /// `functions`: the module's, as far as they are known. Without, a location in it has no
    /// function, and its offset is from `base`.
    void add_module(const ModuleSpan& span, SymbolList functions = {});

    /// What stands at `address` into `to`, which is empty: an even address is that of an
    /// instruction, an odd one that of the call in front of the next even one, which a function
    /// returns to; it may be the last instruction of its function. The offset is that of what the
    /// guest would have in a register. False if it is in no function that is known.
    bool locate(std::uint32_t address, Location& to) const;

    /// No address outside is in any function.
    Reach reach() const;

private:
    std::multimap<Trust, std::unique_ptr<Source>> sources_;
};

} // namespace mmioscope::symbols
