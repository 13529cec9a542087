// Lines of source code from DWARF.
#pragma once

#include "mmioscope/event.hpp"

#include <elfutils/libdwfl.h>

#include <memory>
#include <vector>

namespace mmioscope::symbols {

class DwarfLines {
public:
    /// Lines of `elf`, whose sections must have their addresses in memory.
    explicit DwarfLines(Elf* elf);

    /// The line at `address`, and the lines that inlined it, innermost first; empty without DWARF
    /// for it.
    std::vector<SourceLine> at(Dwarf_Addr address) const;

private:
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };

    std::unique_ptr<Dwfl, End> dwfl_;
    Dwfl_Module* file_ = nullptr;
};

} // namespace mmioscope::symbols
