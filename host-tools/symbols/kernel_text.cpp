#include "symbols/kernel_text.hpp"

#include "symbols/function_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mmioscope::symbols {

namespace {

/// PUSH with LR among its registers, or of LR alone (ARM ARM A8.8.133, encodings A1 and A2).
bool saves_lr(std::uint32_t word) {
    return (word & 0xffff'4000) == 0xe92d'4000 || word == 0xe52d'e004;
}

} // namespace

KernelText::KernelText(std::vector<std::byte> memory, const SymbolList& symbols)
    : memory_(std::move(memory)) {
    constexpr std::uint32_t step = 0x8000; // TEXT_OFFSET is a multiple of it
    constexpr std::uint32_t farthest = 16u << 20;
    constexpr std::size_t enough = 2000;
    std::vector<std::uint32_t> functions;
    for (const Symbol& symbol : symbols) {
        if (is_function(symbol) && symbol.module.empty() && functions.size() < enough) {
            functions.push_back(symbol.address);
        }
    }
    if (functions.empty()) {
        return;
    }
    std::size_t most = functions.size() / 2;
    const std::uint32_t first = *std::ranges::min_element(functions) & ~(step - 1);
    for (std::uint32_t back = 0; back < farthest && back <= first; back += step) {
        const std::optional<std::uint32_t> before = std::exchange(base_, first - back);
        const auto found = static_cast<std::size_t>(
            std::ranges::count_if(functions, [this](std::uint32_t address) {
                return saves_lr(word(address).value_or(0));
            }));
        if (found > most) {
            most = found;
        } else {
            base_ = before;
        }
    }
}

std::optional<std::uint32_t> KernelText::word(std::uint32_t address) const {
    const std::size_t at = address - base_.value_or(address + 4); // far behind the end
    if (memory_.size() < 4 || at > memory_.size() - 4) {
        return std::nullopt;
    }
    std::uint32_t word = 0;
    std::memcpy(&word, memory_.data() + at, sizeof word);
    return word;
}

UnwindTable frames_of(const KernelImage& kernel) {
    constexpr std::size_t fewest = 1000; // a stock kernel has 34,000
    const std::optional<std::uint32_t> base = KernelText(kernel.memory, kernel.symbols).base();
    const Reach code = FunctionTable(kernel.symbols).code();
    return base ? UnwindTable(kernel.memory, *base, fewest,
                              [&](std::uint32_t address) { return code.has(address); })
                : UnwindTable();
}

} // namespace mmioscope::symbols
