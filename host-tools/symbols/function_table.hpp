// Which function an address belongs to, by a list of symbols.
#pragma once

#include "mmioscope/event.hpp"
#include "symbols/source.hpp"
#include "symbols/symbol.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace mmioscope::symbols {

/// Where a function's code is.
struct Extent {
    std::uint32_t start;
    std::uint32_t size;
};

/// A function ends where the next symbol of any kind begins, and after 64 KiB at the latest: where
/// the code ends is not said by every list. Of several symbols at one address the first function of
/// the list counts, as in the kernel's own messages. Mapping symbols ($a, $d, .L...) count as
/// nothing.
class FunctionTable : public Source {
public:
    explicit FunctionTable(SymbolList symbols);

    bool locate(std::uint32_t address, Location& to) override;
    Reach reach() override { return code(); }

    /// Of the function at `address`; nothing if there is none.
    std::optional<Extent> extent(std::uint32_t address) const;

    Reach code() const; ///< of all functions

private:
    struct Function {
        std::uint32_t start;
        std::uint32_t size;
        std::string name;
        std::string module;
    };

    const Function* find(std::uint32_t address) const;

    std::vector<Function> functions_; ///< by address, none in another
};

} // namespace mmioscope::symbols
