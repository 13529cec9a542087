// The section of a trace file that holds the names of the guest's code (file/about.hpp).
//
// Payload: SymbolsHead, SymbolsBlock[blocks], then zstd streams: the addresses, and the names of
// each block. So a name is found without unpacking the others'.
#pragma once

#include "symbols/source.hpp"
#include "symbols/symbol.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::symbols {

struct SymbolsHead {
    std::uint32_t count;     ///< symbols
    std::uint32_t blocks;    ///< of names
    std::uint32_t addresses; ///< bytes of their stream: of each symbol by how much its address is
                             ///< above the one before (LEB128), at first above 0
};
struct SymbolsBlock {
    std::uint32_t count; ///< symbols
    std::uint32_t size;  ///< bytes of its stream: lines of type and name, "\t[module]" behind
};

/// Its payload; empty if there are no symbols. They come in the order of addresses, without mapping
/// symbols and names that are not plain, at most 256 of an address. Throws Error (bad_input) if
/// they are more than a file takes.
std::vector<std::byte> pack(std::span<const Symbol> symbols);

/// Throws Error (bad_input) if `payload` is nothing that pack() has made.
SymbolList unpack(std::span<const std::byte> payload);

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

/// The symbols of a section, whose names are unpacked when somebody asks for them.
class PackedSymbols {
public:
    /// Throws Error (bad_input), as symbol() does, if `payload` is nothing that pack() has made.
    explicit PackedSymbols(SharedBytes payload);

    /// Of all symbols, in their order.
    std::span<const std::uint32_t> addresses() const { return addresses_; }
    Symbol symbol(std::size_t index);

private:
    struct Block {
        std::string text;
        std::vector<std::uint32_t> lines; ///< where each begins, and behind the last one
    };
    struct Place {
        std::size_t first; ///< symbol
        std::size_t count;
        std::span<const std::byte> stream;
    };
    const Block& block(std::size_t index);

    SharedBytes payload_;
    std::vector<std::uint32_t> addresses_;
    std::vector<Place> places_;
    std::vector<std::unique_ptr<Block>> blocks_; ///< null: not unpacked
    std::size_t unpacked_ = 0;                   ///< of these
};

/// The functions of a section, which is asked for when the first address is looked up: many
/// commands need none. They are what FunctionTable tells of the same symbols.
class SectionFunctions : public Source {
public:
    using Payload = std::function<SharedBytes()>; ///< null, or empty: there is none
    using Report = std::function<void(const std::string&)>;

    /// `report` is told why there are none.
    SectionFunctions(Payload payload, Report report)
        : payload_(std::move(payload)), report_(std::move(report)) {}

    bool locate(std::uint32_t address, Location& to) override;
    Reach reach() override;

private:
    PackedSymbols* symbols();
    bool find(PackedSymbols& symbols, std::uint32_t address, Location& to);

    Payload payload_;
    Report report_;
    bool asked_ = false;
    std::unique_ptr<PackedSymbols> symbols_; ///< null: none, or none yet
};

} // namespace mmioscope::symbols
