// Finds the function of an address in a list of symbols.
#pragma once

#include "mmioscope/event.hpp"
#include "symbols/symbols.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::symbols {

/// The range of a function's code.
struct Extent {
    std::uint32_t start;
    std::uint32_t size;
};

/// A function ends where the next symbol of any kind begins, and after 64 KiB at the latest,
/// because not every list tells where code ends. Of several symbols at one address the first
/// function in the list counts, as in the kernel's own messages. Ignores mapping symbols ($a, $d,
/// .L...).
class FunctionTable : public Source {
public:
    explicit FunctionTable(SymbolList symbols);

    bool locate(std::uint32_t address, Location& to) override;
    void each_function(const VisitName& visit) override;
    Reach reach() override { return code(); }

    /// The extent of the function at `address`; nothing if there is none.
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

    std::vector<Function> functions_; ///< sorted by address, without overlaps
};

// Lists of symbols as text, as in /proc/kallsyms and System.map.

/// Parses lines of `address type name`, optionally followed by `[module]`, all plain text. Throws
/// Error (bad_input) that names the line, not the file; also if the kernel hid the addresses.
SymbolList read_kallsyms(std::string_view text);

/// Parses one such line; nothing if it is not one.
std::optional<Symbol> read_symbol(std::string_view line);

} // namespace mmioscope::symbols
