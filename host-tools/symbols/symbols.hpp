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

/// Trust in a source: the first one that knows an address wins.
enum class Trust {
    elf,    ///< an ELF file with symbols
    text,   ///< /proc/kallsyms, or found in the guest's memory
    image,  ///< the kernel's image, which has no modules
    module, ///< only the address of a module
};

/// The place of a module in the guest's kernel.
struct ModuleSpan {
    std::string name;
    std::uint32_t base = 0;
    std::uint32_t size = 0; ///< bytes
};

class Symbols {
public:
    /// With equal trust, the source added first wins. Add all sources before the first lookup:
    /// results are kept.
    void add(Trust trust, std::unique_ptr<Source> source);
    /// `functions`: the module's, as far as known. Without them, a location in it has no function,
    /// and its offset is from `base`.
    void add_module(const ModuleSpan& span, SymbolList functions = {});

    /// Stores what is at `address` in `to`, which must be empty. An even address is that of an
    /// instruction. An odd one, 1 below a return address, is that of the call before it, which may
    /// be the last instruction of its function. The offset is that of the value in the guest's
    /// register. False if no known function contains it.
    bool locate(std::uint32_t address, Location& to) const;

    /// Calls `visit` with the name of each function that is known; a name may come several times.
    void each_function(const VisitName& visit) const;

    /// No function is outside this range.
    Reach reach() const;

private:
    std::multimap<Trust, std::unique_ptr<Source>> sources_;
};

} // namespace mmioscope::symbols
