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
                 std::uint64_t memory) {
    Probes probes;
    const Code code(symbols::read_kernel_image(kernel));
    using Rule = std::vector<control::Ask>;
    const Rule plain = control::probe_rule("");
    struct Wanted {
        control::Instruction at;
        Rule rule;
    };
    std::map<std::uint32_t, Wanted> found; // by address
    const auto add = [&](const std::string& name, std::uint32_t flags, const Rule& rule) {
        for (const control::Instruction& at : code.find(name, flags)) {
            Wanted& there = found.try_emplace(at.address, at, rule).first->second;
            there.at.flags |= at.flags;
            if (rule != plain) {
                there.rule = rule;
            }
        }
    };
    for (const std::string& word : names_of(wanted)) {
        const std::size_t comma = std::min(word.find(','), word.size());
        const std::string name = word.substr(0, comma);
        const Rule rule = control::probe_rule(word.substr(std::min(comma + 1, word.size())));
        const bool counts =
            rule.front().first == static_cast<std::uint32_t>(abi::control::ProbeAction::count);
        if (!names_module(name)) {
            add(name, returns && !counts ? abi::control::returns : 0, rule);
        } else if (rule == plain) {
            probes.of_modules.push_back(name);
        } else {
            throw bad_input("--probe {}: all calls of a module's functions are recorded", word);
        }
    }
    if (!probes.of_modules.empty()) {
        const control::Instruction loads = code.find("do_init_module", 0).front();
        probes.loads_modules = std::vector{loads.address, loads.word};
    }
    // The kernel's first 128 MiB of memory are mapped in one piece (Documentation/arm/memory.rst),
    // and its decompressor puts it where the memory begins (AUTO_ZRELADDR).
    std::vector<std::uint32_t>& cells = probes.cells;
    cells = {static_cast<std::uint32_t>(memory) - memory_begin(*code.text.base())};
    const auto put = [&cells](std::uint32_t first, std::uint32_t second) {
        cells.insert(cells.end(), {first, second});
    };
    std::vector<const Wanted*> all;
    for (const auto& [address, one] : found) {
        all.push_back(&one);
    }
    std::ranges::stable_partition(all, [&](const Wanted* one) { return one->rule != plain; });
    const Rule* last = &plain;
    const auto begin_rule = [&](const Rule& rule) {
        for (const control::Ask& ask : rule == *last ? Rule{} : rule) {
            put(static_cast<std::uint32_t>(ask.command) | ask.first << 8, ask.second);
        }
        last = &rule;
    };
    for (const Wanted* one : all) {
        begin_rule(one->rule);
        const control::Ask ask = control::probe_of(one->at);
        put(ask.first, ask.second);
    }
    begin_rule(plain);
    // Where the kernel's module loader frees what a module, or BPF, has executed (the latter since
    // 6.10): it is no call.
    for (const std::string frees : {"module_memfree", "execmem_free"}) {
        if (code.has(frees)) {
            const control::Ask ask =
                control::probe_of(code.find(frees, abi::control::frees_code).front());
            put(ask.first, ask.second);
        }
    }
    return probes;
}

} // namespace mmioscope::run
