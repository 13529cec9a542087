#include "run/probes.hpp"

#include "symbols/kernel_image.hpp"
#include "symbols/kernel_text.hpp"
#include "symbols/symbol_files.hpp"
#include "system/error.hpp"
#include "system/units.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <iterator>
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
        const std::size_t comma = std::min(word.find(','), word.size());
        std::ifstream file(word.substr(1, comma - 1));
        if (!file) {
            throw bad_input("--probe {}: cannot read the file", word);
        }
        for (std::string line; std::getline(file, line);) {
            if (!line.empty() && !line.starts_with('#')) {
                names.push_back(line + word.substr(comma));
            }
        }
    }
    return names;
}

/// A kernel's functions, and their instructions.
struct Code {
    Code(symbols::KernelImage image, bool returns, std::span<const std::string> module_files)
        : symbols(std::move(image.symbols)), text(std::move(image.memory), symbols),
          flags(returns ? abi::control::returns : 0) {
        if (!text.base()) {
            throw bad_input("the kernel's functions do not begin as in ARM state; in Thumb state "
                            "they have no probes");
        }
        std::ranges::move(symbols::symbols_of(module_files, modules), std::back_inserter(symbols));
    }

    std::optional<std::uint32_t> word(std::uint32_t address) const {
        std::optional<std::uint32_t> word = text.word(address);
        for (auto module = modules.begin(); !word && module != modules.end(); ++module) {
            word = (*module)->word(address);
        }
        return word;
    }

    /// Those called `name`, a pattern.
    std::vector<control::Instruction> functions(const std::string& name,
                                                std::uint32_t flags) const {
        std::vector<control::Instruction> found;
        for (const symbols::Symbol& symbol : symbols) {
            const bool named = is_function(symbol) && symbol.address % 4 == 0 &&
                               fits(name, symbol.module, symbol.name);
            const auto its_word = named ? word(symbol.address) : std::nullopt;
            if (its_word && (found.empty() || found.back().address != symbol.address)) {
                found.push_back({symbol.address, *its_word, flags, !symbol.module.empty()});
            }
        }
        return found;
    }

    /// Or the instruction at the address `name`. Throws if there is none.
    std::vector<control::Instruction> find(const std::string& name) const {
        auto found = functions(name, flags);
        const std::uint64_t address = parse_number(name).value_or(1);
        if (address % 4 == 0 && address <= UINT32_MAX) {
            const auto at = static_cast<std::uint32_t>(address);
            if (const auto its_word = word(at)) {
                found.push_back({at, *its_word, 0});
            }
        }
        if (found.empty()) {
            throw bad_input("{}: {} has no such function", name,
                            names_module(name) ? "--symbols" : "the kernel");
        }
        return found;
    }

    symbols::SymbolList symbols;
    symbols::KernelText text;
    symbols::ElfFiles modules;
    std::uint32_t flags; ///< of what find() finds by name
};

} // namespace

bool fits(const std::string& pattern, const std::string& module, const std::string& function) {
    return names_module(pattern) != module.empty() &&
           ::fnmatch(pattern.c_str(), (module.empty() ? function : module + ':' + function).c_str(),
                     0) == 0;
}

control::FindCode code_of(const Bytes& kernel, const std::vector<std::string>& modules,
                          bool returns) {
    const auto code = std::make_shared<Code>(symbols::read_kernel_image(kernel), returns, modules);
    return [code](const std::string& name) { return code->find(name); };
}

std::uint32_t memory_begin(std::uint32_t text) {
    constexpr std::uint32_t split = 16u << 20; // PAGE_OFFSET is a multiple of it
    return text / split * split;
}

Probes probes_of(const std::vector<std::string>& wanted, bool returns, const Bytes& kernel,
                 std::uint64_t memory) {
    Probes probes;
    const Code code(symbols::read_kernel_image(kernel), returns, {});
    using Instructions = std::vector<control::Instruction>;
    std::vector<std::string> words = {"probe"};
    for (const std::string& word : names_of(wanted)) {
        (names_module(word) ? probes.of_modules : words).push_back(word);
    }
    if (!probes.of_modules.empty()) {
        std::vector<std::string> later = {"probe"};
        std::ranges::copy(probes.of_modules, std::back_inserter(later));
        (void)control::asks_of(later, {}, [](const auto&) { return Instructions(); }); // throws
        const control::Instruction loads = code.find("do_init_module").front();
        probes.loads_modules = std::vector{loads.address, loads.word};
    }
    // The kernel's first 128 MiB of memory are mapped in one piece (Documentation/arm/memory.rst),
    // and its decompressor puts it where the memory begins (AUTO_ZRELADDR).
    std::vector<std::uint32_t>& cells = probes.cells;
    cells = {static_cast<std::uint32_t>(memory) - memory_begin(*code.text.base())};
    const auto put = [&cells](const control::Ask& ask) {
        const bool is_probe = ask.command == abi::control::Command::probe;
        const std::uint32_t rule = static_cast<std::uint32_t>(ask.command) | ask.first << 8;
        cells.insert(cells.end(), {is_probe ? ask.first : rule, ask.second});
    };
    if (words.size() > 1) {
        const auto find = [&](const std::string& name) { return code.find(name); };
        std::ranges::for_each(control::asks_of(words, {}, find), put);
    }
    // Where the kernel's module loader frees what a module, or BPF, has executed (the latter since
    // 6.10): it is no call.
    for (const char* const frees : {"module_memfree", "execmem_free"}) {
        for (const auto& at : code.functions(frees, abi::control::frees_code)) {
            put(control::probe_of(at));
        }
    }
    return probes;
}

} // namespace mmioscope::run
