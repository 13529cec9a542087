#include "run/probes.hpp"

#include "symbols/kernel_image.hpp"
#include "symbols/kernel_text.hpp"
#include "system/error.hpp"
#include "system/units.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

namespace mmioscope::run {

namespace {

/// A line of a file is a name; blank lines, and those that begin with `#`, are none.
std::vector<std::string> names_of(const std::vector<std::string>& wanted) {
    std::vector<std::string> names;
    for (const std::string& word : wanted) {
        if (!word.starts_with('@')) {
            names.push_back(word);
            continue;
        }
        std::ifstream file(word.substr(1));
        if (!file) {
            throw bad_input("--probe {}: cannot read the file", word);
        }
        for (std::string line; std::getline(file, line);) {
            if (!line.empty() && !line.starts_with('#')) {
                names.push_back(line);
            }
        }
    }
    return names;
}

/// A kernel's functions, and their instructions.
struct Code {
    explicit Code(symbols::KernelImage image)
        : symbols(std::move(image.symbols)), text(std::move(image.memory), symbols) {
        if (!text.base()) {
            throw bad_input("it is not known where the kernel's functions lie");
        }
    }

    std::vector<control::Instruction> find(const std::string& name) const {
        std::vector<control::Instruction> found;
        const auto add = [&](std::uint32_t address) {
            if (const auto word = text.word(address)) {
                found.push_back({address, *word});
            }
        };
        if (const std::optional<std::uint64_t> address = parse_number(name)) {
            if (*address % 4 == 0 && *address <= UINT32_MAX) {
                add(static_cast<std::uint32_t>(*address));
            }
        }
        for (const symbols::Symbol& symbol : symbols) {
            if (is_function(symbol) && symbol.module.empty() && symbol.address % 4 == 0 &&
                ::fnmatch(name.c_str(), symbol.name.c_str(), 0) == 0) {
                add(symbol.address);
            }
        }
        if (found.empty()) {
            throw bad_input("{}: the kernel has no such function", name);
        }
        return found;
    }

    symbols::SymbolList symbols;
    symbols::KernelText text;
};

} // namespace

control::FindCode code_of(const Bytes& kernel) {
    return [code = std::make_shared<Code>(symbols::read_kernel_image(kernel))](
               const std::string& name) { return code->find(name); };
}

std::vector<std::uint32_t> probe_cells(const std::vector<std::string>& wanted, const Bytes& kernel,
                                       const Board& board) {
    constexpr std::uint32_t split = 16u << 20; // PAGE_OFFSET is a multiple of it
    const Code code(symbols::read_kernel_image(kernel));
    std::map<std::uint32_t, std::uint32_t> words; // by address
    for (const std::string& name : names_of(wanted)) {
        for (const control::Instruction& at : code.find(name)) {
            words.emplace(at.address, at.word);
        }
    }
    // The kernel's first 128 MiB of memory are mapped in one piece (Documentation/arm/memory.rst),
    // and its decompressor puts it where the memory begins (AUTO_ZRELADDR).
    std::vector<std::uint32_t> cells{static_cast<std::uint32_t>(board.ram_base) -
                                     *code.text.base() / split * split};
    for (const auto& [address, word] : words) {
        cells.insert(cells.end(), {address, word});
    }
    return cells;
}

} // namespace mmioscope::run
