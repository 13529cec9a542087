#include "symbols/section.hpp"

#include "system/error.hpp"
#include "system/escape.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t symbols_in_block = 1024;
constexpr std::size_t text_in_block = 64u << 10; ///< exceeded by one line at most
constexpr std::size_t longest_line = 64u << 10;
constexpr std::size_t most_at_one_address = 256; ///< all are compared; a stock kernel has 79
constexpr std::size_t most_unpacked = 64;        ///< limit for blocks in memory

Error damaged() {
    return bad_input("the section of symbols is damaged");
}

SymbolList in_order(std::span<const Symbol> symbols) {
    SymbolList all;
    std::ranges::copy_if(symbols, std::back_inserter(all), [](const Symbol& symbol) {
        return is_plain_word(symbol.name) && !is_mark(symbol.name);
    });
    std::ranges::stable_sort(all, {}, &Symbol::address);
    SymbolList kept;
    std::size_t same = 0;
    for (Symbol& symbol : all) {
        same = !kept.empty() && kept.back().address == symbol.address ? same + 1 : 1;
        if (same <= most_at_one_address) {
            kept.push_back(std::move(symbol));
        }
    }
    return kept;
}

std::string line_of(const Symbol& symbol) {
    std::string line = symbol.type + symbol.name;
    if (!symbol.module.empty()) {
        line += "\t[" + symbol.module + ']';
    }
    return line + '\n';
}

// The line without its end.
Symbol symbol_of(std::uint32_t address, std::string_view line) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    const std::string_view module = line.substr(std::min(tab + 1, line.size()));
    const bool named = module.size() > 2 && module.front() == '[' && module.back() == ']';
    if (line.empty() || !is_plain_word(line.substr(0, tab)) || (tab < line.size() && !named) ||
        (named && !is_plain_word(module))) {
        throw damaged();
    }
    return {address, line[0], std::string(line.substr(1, tab - 1)),
            std::string(named ? module.substr(1, module.size() - 2) : module)};
}

void append_leb128(std::string& to, std::uint32_t number) {
    for (; number >= 0x80; number >>= 7) {
        to += static_cast<char>(number | 0x80);
    }
    to += static_cast<char>(number);
}

// `count` addresses, which must not decrease.
std::vector<std::uint32_t> addresses_of(std::span<const std::byte> stream, std::size_t count) {
    const std::vector<std::byte> bytes = expand(Packing::zstd, stream, 5 * count);
    if (bytes.size() < count) {
        throw damaged();
    }
    std::vector<std::uint32_t> addresses(count);
    std::uint64_t address = 0;
    auto at = bytes.begin();
    for (std::uint32_t& to : addresses) {
        std::uint64_t above = 0, bits = 0x80;
        for (unsigned shift = 0; bits >= 0x80; shift += 7, ++at) {
            if (at == bytes.end() || shift > 28) {
                throw damaged();
            }
            bits = static_cast<std::uint64_t>(*at);
            above |= (bits & 0x7f) << shift;
        }
        address += above;
        if (address > UINT32_MAX) {
            throw damaged();
        }
        to = static_cast<std::uint32_t>(address);
    }
    if (at != bytes.end()) {
        throw damaged();
    }
    return addresses;
}

template <typename T>
T take(std::span<const std::byte>& from) {
    T value;
    if (from.size() < sizeof value) {
        throw damaged();
    }
    std::memcpy(&value, from.data(), sizeof value);
    from = from.subspan(sizeof value);
    return value;
}

std::span<const std::byte> take(std::span<const std::byte>& from, std::size_t size) {
    if (from.size() < size) {
        throw damaged();
    }
    const std::span<const std::byte> taken = from.first(size);
    from = from.subspan(size);
    return taken;
}

template <typename T>
void append_value(std::vector<std::byte>& to, const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

} // namespace

std::vector<std::byte> pack(std::span<const Symbol> symbols) {
    constexpr int level = 19; // they are written once
    const SymbolList all = in_order(symbols);
    if (all.empty()) {
        return {};
    }
    std::string addresses, text;
    std::vector<SymbolsBlock> blocks;
    std::vector<std::byte> names;
    std::uint32_t last = 0, count = 0;
    const auto end_block = [&] {
        const std::vector<std::byte> stream = zstd_compress(std::as_bytes(std::span(text)), level);
        blocks.push_back({std::exchange(count, 0), static_cast<std::uint32_t>(stream.size())});
        names.insert(names.end(), stream.begin(), stream.end());
        text.clear();
    };
    for (const Symbol& symbol : all) {
        append_leb128(addresses, symbol.address - std::exchange(last, symbol.address));
        const std::string line = line_of(symbol);
        if (line.size() > longest_line) {
            throw bad_input("a symbol of {} bytes is too long for a trace file", line.size());
        }
        text += line;
        if (++count == symbols_in_block || text.size() >= text_in_block) {
            end_block();
        }
    }
    if (count > 0) {
        end_block();
    }
    const std::vector<std::byte> stream = zstd_compress(std::as_bytes(std::span(addresses)), level);
    std::vector<std::byte> payload;
    append_value(payload, SymbolsHead{static_cast<std::uint32_t>(all.size()),
                                      static_cast<std::uint32_t>(blocks.size()),
                                      static_cast<std::uint32_t>(stream.size())});
    for (const SymbolsBlock& block : blocks) {
        append_value(payload, block);
    }
    payload.insert(payload.end(), stream.begin(), stream.end());
    payload.insert(payload.end(), names.begin(), names.end());
    if (all.size() > max_symbols || payload.size() > max_section) {
        throw bad_input("too many symbols for a trace file: {}", all.size());
    }
    return payload;
}

SymbolList unpack(std::span<const std::byte> payload) {
    if (payload.empty()) {
        return {};
    }
    PackedSymbols symbols(
        std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end()));
    SymbolList all;
    for (std::size_t i = 0; i < symbols.addresses().size(); ++i) {
        all.push_back(symbols.symbol(i));
    }
    return all;
}

std::vector<std::byte> only_used(std::span<const std::byte> payload,
                                 std::span<const std::uint32_t> used) {
    PackedSymbols symbols(
        std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end()));
    const std::span<const std::uint32_t> all = symbols.addresses();
    SymbolList kept;
    for (auto next = used.begin(); next != used.end();) {
        const auto behind = std::ranges::upper_bound(all, *next);
        if (behind != all.begin()) { // the last symbols that begin before it
            const auto first = std::ranges::lower_bound(all, behind[-1]);
            for (auto at = first; at != behind; ++at) {
                kept.push_back(symbols.symbol(static_cast<std::size_t>(at - all.begin())));
            }
        }
        next = behind == all.end() ? used.end() : std::lower_bound(next, used.end(), *behind);
    }
    return pack(kept);
}

PackedSymbols::PackedSymbols(SharedBytes payload) : payload_(std::move(payload)) {
    std::span<const std::byte> rest(*payload_);
    const auto head = take<SymbolsHead>(rest);
    if (head.count == 0 || head.count > max_symbols || head.blocks > head.count) {
        throw damaged();
    }
    std::span<const std::byte> blocks = take(rest, head.blocks * sizeof(SymbolsBlock));
    addresses_ = addresses_of(take(rest, head.addresses), head.count);
    std::size_t first = 0;
    while (!blocks.empty()) {
        const auto block = take<SymbolsBlock>(blocks);
        if (block.count == 0 || block.count > head.count - first) {
            throw damaged();
        }
        places_.push_back({first, block.count, take(rest, block.size)});
        first += block.count;
    }
    if (first != head.count || !rest.empty()) {
        throw damaged();
    }
    blocks_.resize(places_.size());
}

const PackedSymbols::Block& PackedSymbols::block(std::size_t index) {
    std::unique_ptr<Block>& kept = blocks_[index];
    if (kept) {
        return *kept;
    }
    const Place& place = places_[index];
    auto block = std::make_unique<Block>();
    block->bytes = expand(Packing::zstd, place.stream, text_in_block + longest_line);
    const std::string_view text(reinterpret_cast<const char*>(block->bytes.data()),
                                block->bytes.size());
    block->text = text;
    block->lines.reserve(place.count + 1);
    for (std::size_t at = 0; at < text.size(); ++at) {
        block->lines.push_back(static_cast<std::uint32_t>(at));
        at = text.find('\n', at);
        if (at == text.npos) {
            throw damaged();
        }
    }
    if (block->lines.size() != place.count) {
        throw damaged();
    }
    block->lines.push_back(static_cast<std::uint32_t>(text.size()));
    if (unpacked_ == most_unpacked) {
        for (std::unique_ptr<Block>& one : blocks_) {
            one.reset();
        }
        unpacked_ = 0;
    }
    ++unpacked_;
    kept = std::move(block);
    return *kept;
}

Symbol PackedSymbols::symbol(std::size_t index) {
    const auto behind = std::ranges::upper_bound(places_, index, {}, &Place::first);
    const auto at = static_cast<std::size_t>(behind - places_.begin()) - 1;
    const Block& names = block(at);
    const std::size_t line = index - places_[at].first;
    const std::uint32_t begin = names.lines[line];
    return symbol_of(addresses_[index],
                     names.text.substr(begin, names.lines[line + 1] - begin - 1));
}

void PackedSymbols::each(const std::function<void(const Symbol&)>& visit) {
    for (std::size_t at = 0; at < places_.size(); ++at) {
        const bool kept = blocks_[at] != nullptr;
        for (std::size_t i = 0; i < places_[at].count; ++i) {
            visit(symbol(places_[at].first + i));
        }
        if (!kept) {
            blocks_[at].reset();
            --unpacked_;
        }
    }
}

PackedSymbols* SectionFunctions::symbols() {
    if (!std::exchange(asked_, true)) {
        const SharedBytes payload = payload_();
        try {
            if (payload && !payload->empty()) {
                symbols_ = std::make_unique<PackedSymbols>(payload);
            }
        } catch (const Error& error) {
            report_(error.what());
        }
    }
    return symbols_.get();
}

bool SectionFunctions::locate(std::uint32_t address, Location& to) {
    PackedSymbols* const all = symbols();
    try {
        return all != nullptr && find(*all, address, to);
    } catch (const Error& error) {
        report_(error.what());
        symbols_.reset();
        return false;
    }
}

// A function ends where the next symbol of any kind begins (FunctionTable).
bool SectionFunctions::find(PackedSymbols& symbols, std::uint32_t address, Location& to) {
    const std::span<const std::uint32_t> all = symbols.addresses();
    const auto behind = std::ranges::upper_bound(all, address);
    if (behind == all.begin()) {
        return false;
    }
    const std::uint32_t start = behind[-1];
    const std::uint32_t size =
        behind == all.end() ? max_function_size : std::min(*behind - start, max_function_size);
    if (address - start >= size) {
        return false;
    }
    auto first = behind - 1;
    while (first != all.begin() && first[-1] == start) {
        --first;
    }
    const auto same = std::min<std::size_t>(most_at_one_address, behind - first);
    for (std::size_t i = 0; i < same; ++i) {
        Symbol symbol = symbols.symbol(static_cast<std::size_t>(first - all.begin()) + i);
        if (is_function(symbol)) {
            to = {std::move(symbol.name), address - start, std::move(symbol.module), {}, size};
            return true;
        }
    }
    return false;
}

// Finds only the first of several symbols at one address.
void SectionFunctions::each_function(const VisitName& visit) {
    PackedSymbols* const all = symbols();
    if (all == nullptr) {
        return;
    }
    std::optional<std::uint32_t> last;
    try {
        all->each([&](const Symbol& symbol) {
            if (is_function(symbol) && last != symbol.address) {
                visit(symbol.name);
                last = symbol.address;
            }
        });
    } catch (const Error& error) {
        report_(error.what());
        symbols_.reset();
    }
}

Reach SectionFunctions::reach() {
    Reach reach;
    if (const PackedSymbols* const all = symbols(); all != nullptr && !all->addresses().empty()) {
        reach.add(all->addresses().front(),
                  std::uint64_t{all->addresses().back()} + max_function_size);
    }
    return reach;
}

} // namespace mmioscope::symbols
