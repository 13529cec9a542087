#include "run/probes.hpp"

#include "symbols/kernel_image.hpp"
#include "symbols/kernel_text.hpp"
#include "system/error.hpp"
#include "system/units.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <set>

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

void add(std::set<std::uint32_t>& to, const std::string& name, const symbols::SymbolList& symbols) {
    if (const std::optional<std::uint64_t> address = parse_number(name)) {
        if (*address % 4 != 0 || *address > UINT32_MAX) {
            throw bad_input("--probe {}: not the address of an ARM instruction", name);
        }
        to.insert(static_cast<std::uint32_t>(*address));
        return;
    }
    bool found = false;
    for (const symbols::Symbol& symbol : symbols) {
        if (is_function(symbol) && symbol.module.empty() && symbol.address % 4 == 0 &&
            ::fnmatch(name.c_str(), symbol.name.c_str(), 0) == 0) {
            to.insert(symbol.address);
            found = true;
        }
    }
    if (!found) {
        throw bad_input("--probe {}: the kernel has no such function", name);
    }
}

} // namespace

std::vector<std::uint32_t> probe_cells(const std::vector<std::string>& wanted, const Bytes& kernel,
                                       const Board& board) {
    constexpr std::uint32_t split = 16u << 20; // PAGE_OFFSET is a multiple of it
    symbols::KernelImage image = symbols::read_kernel_image(kernel);
    const symbols::KernelText text(std::move(image.memory), image.symbols);
    if (!text.base()) {
        throw bad_input("--probe: not known where the kernel's functions lie");
    }
    std::set<std::uint32_t> addresses;
    for (const std::string& name : names_of(wanted)) {
        add(addresses, name, image.symbols);
    }
    // The kernel's first 128 MiB of memory are mapped in one piece (Documentation/arm/memory.rst),
    // and its decompressor puts it where the memory begins (AUTO_ZRELADDR).
    std::vector<std::uint32_t> cells{static_cast<std::uint32_t>(board.ram_base) -
                                     *text.base() / split * split};
    for (const std::uint32_t address : addresses) {
        const std::optional<std::uint32_t> word = text.word(address);
        if (!word) {
            throw bad_input("--probe {:#x}: the kernel has no code there", address);
        }
        cells.insert(cells.end(), {address, *word});
    }
    return cells;
}

} // namespace mmioscope::run
