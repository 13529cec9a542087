// The variables of the guest's kernel in watched memory, as registers of it.
#pragma once

#include "mmioscope/event.hpp"
#include "symbols/section.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace mmioscope::reading {

class Variables {
public:
    /// `symbols`: a section of the trace; empty: there are none. Throws Error (bad_input).
    explicit Variables(const symbols::SharedBytes& symbols) {
        if (symbols != nullptr && !symbols->empty()) {
            symbols_.emplace(symbols);
        }
    }

    /// That at the virtual address `va`, which is at `offset` in memory; null: not known. It is
    /// valid as long as this.
    const Register* find(std::uint32_t va, std::uint64_t offset);

private:
    std::optional<symbols::PackedSymbols> symbols_;
    std::map<std::uint32_t, Register> known_; ///< by virtual address
};

} // namespace mmioscope::reading
