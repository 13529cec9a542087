// The section of a trace file with the names of the guest's code (file/texts.hpp).
//
// Payload: SymbolsHead, SymbolsBlock[blocks], then zstd streams: the addresses, and the names of
// each block. So one name is found without unpacking the other blocks.
#pragma once

#include "symbols/symbols.hpp"

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
    std::uint32_t blocks;    ///< number of blocks of names
    std::uint32_t addresses; ///< bytes of their stream: for each symbol the distance of its address
                             ///< from the previous one, initially 0 (LEB128)
};
struct SymbolsBlock {
    std::uint32_t count; ///< symbols
    std::uint32_t size;  ///< bytes of its stream: lines of type and name, followed by "\t[module]"
};

/// Limit for a payload, in bytes: that of a section of a file.
inline constexpr std::size_t max_section = 16u << 20;

/// Makes the payload; empty if there are no symbols. Symbols must be sorted by address. Leaves out
/// mapping symbols and names that are not plain, and keeps at most 256 for an address. Throws Error
/// (bad_input) if there are more than a file may have.
std::vector<std::byte> pack(std::span<const Symbol> symbols);

/// Throws Error (bad_input) if `payload` is not from pack().
SymbolList unpack(std::span<const std::byte> payload);

/// A payload with only those symbols that are needed: a lookup of an address in `used`, which is
/// sorted, finds the same in it. Throws Error (bad_input) if `payload` is not from pack().
std::vector<std::byte> only_used(std::span<const std::byte> payload,
                                 std::span<const std::uint32_t> used);

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

/// The symbols of a section. Names are unpacked at the first request.
class PackedSymbols {
public:
    /// Throws Error (bad_input), like symbol(), if `payload` is not from pack().
    explicit PackedSymbols(SharedBytes payload);

    /// The addresses of all symbols, in order.
    std::span<const std::uint32_t> addresses() const { return addresses_; }
    Symbol symbol(std::size_t index);
    /// Calls `visit` with each symbol, in order. Keeps no more names than before.
    void each(const std::function<void(const Symbol&)>& visit);

private:
    struct Block {
        std::vector<std::byte> bytes;
        std::string_view text{};          ///< what they say
        std::vector<std::uint32_t> lines; ///< start of each, and the end of the last
    };
    struct Place {
        std::size_t first; ///< index of its first symbol
        std::size_t count;
        std::span<const std::byte> stream;
    };
    const Block& block(std::size_t index);

    SharedBytes payload_;
    std::vector<std::uint32_t> addresses_;
    std::vector<Place> places_;
    std::vector<std::unique_ptr<Block>> blocks_; ///< null: not unpacked
    std::size_t unpacked_ = 0;                   ///< number of those unpacked
};

/// The functions of a section, which is requested at the first lookup: many commands need none.
/// Gives the same results as FunctionTable for the same symbols.
class SectionFunctions : public Source {
public:
    using Payload = std::function<SharedBytes()>; ///< null or empty: there is none
    using Report = std::function<void(const std::string&)>;

    /// `report` gets the reason if there are none.
    SectionFunctions(Payload payload, Report report)
        : payload_(std::move(payload)), report_(std::move(report)) {}

    bool locate(std::uint32_t address, Location& to) override;
    void each_function(const VisitName& visit) override;
    Reach reach() override;

private:
    PackedSymbols* symbols();
    bool find(PackedSymbols& symbols, std::uint32_t address, Location& to);

    Payload payload_;
    Report report_;
    bool asked_ = false;
    std::unique_ptr<PackedSymbols> symbols_; ///< null: none, or not unpacked yet
};

} // namespace mmioscope::symbols
