// Lines of source code by DWARF.
#pragma once

#include "mmioscope/event.hpp"

#include <elfutils/libdwfl.h>

#include <memory>
#include <vector>

namespace mmioscope::symbols {

class DwarfLines {
public:
    /// Of `elf`, whose sections have the addresses that they have in memory.
    explicit DwarfLines(Elf* elf);

    /// The line at `address`, and those from where functions were inlined there, innermost first;
    /// empty without DWARF for it.
    std::vector<SourceLine> at(Dwarf_Addr address) const;

private:
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };

    std::unique_ptr<Dwfl, End> dwfl_;
    Dwfl_Module* file_ = nullptr;
};

} // namespace mmioscope::symbols
