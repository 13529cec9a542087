#include "run/probes.hpp"

#include "run/module_probes.hpp"
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

    /// With `flags` where they are functions.
    std::vector<control::Instruction> find(const std::string& name, std::uint32_t flags) const {
        std::vector<control::Instruction> found;
        const auto add = [&](std::uint32_t address, std::uint32_t flags) {
            if (const auto word = text.word(address)) {
                found.push_back({address, *word, flags});
            }
        };
        if (const std::optional<std::uint64_t> address = parse_number(name)) {
            if (*address % 4 == 0 && *address <= UINT32_MAX) {
                add(static_cast<std::uint32_t>(*address), 0);
            }
        }
        for (const symbols::Symbol& symbol : symbols) {
            if (is_function(symbol) && symbol.module.empty() && symbol.address % 4 == 0 &&
                ::fnmatch(name.c_str(), symbol.name.c_str(), 0) == 0) {
                add(symbol.address, flags);
            }
        }
        if (found.empty()) {
            throw bad_input("{}: the kernel has no such function", name);
        }
        return found;
    }

    bool has(const std::string& name) const {
        return std::ranges::find(symbols, name, &symbols::Symbol::name) != symbols.end();
    }

    symbols::SymbolList symbols;
    symbols::KernelText text;
};

} // namespace

control::FindCode code_of(const Bytes& kernel, bool returns) {
    const auto code = std::make_shared<Code>(symbols::read_kernel_image(kernel));
    return [code, flags = returns ? abi::control::returns : 0](const std::string& name) {
        return code->find(name, flags);
    };
}

std::uint32_t memory_begin(std::uint32_t text) {
    constexpr std::uint32_t split = 16u << 20; // PAGE_OFFSET is a multiple of it
    return text / split * split;
}

Probes probes_of(const std::vector<std::string>& wanted, bool returns, const Bytes& kernel,
                 const Board& board) {
    Probes probes;
    const Code code(symbols::read_kernel_image(kernel));
    std::map<std::uint32_t, control::Instruction> found; // by address
    const auto add = [&](const std::string& name, std::uint32_t flags) {
        for (const control::Instruction& at : code.find(name, flags)) {
            found.emplace(at.address, at).first->second.flags |= at.flags;
        }
    };
    for (const std::string& name : names_of(wanted)) {
        if (names_module(name)) {
            probes.of_modules.push_back(name);
        } else {
            add(name, returns ? abi::control::returns : 0);
        }
    }
    if (!probes.of_modules.empty()) {
        const control::Instruction loads = code.find("do_init_module", 0).front();
        probes.loads_modules = std::vector{loads.address, loads.word};
    }
    // Where the kernel's module loader frees what a module, or BPF, has executed (the latter since
    // 6.10).
    for (const std::string frees : {"module_memfree", "execmem_free"}) {
        if (!code.has(frees)) {
            continue;
        }
        const bool asked = found.contains(code.find(frees, 0).front().address);
        add(frees, abi::control::frees_code | (asked ? abi::control::returns : 0));
    }
    probes.cells = {static_cast<std::uint32_t>(board.ram_base) - memory_begin(*code.text.base())};
    for (const auto& [address, at] : found) {
        const control::Ask ask = control::probe_of(at);
        probes.cells.insert(probes.cells.end(), {ask.first, ask.second});
    }
    return probes;
}

} // namespace mmioscope::run
