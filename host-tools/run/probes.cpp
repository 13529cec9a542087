#include "run/probes.hpp"

#include "linux/module_watch.hpp"
#include "linux/task_layout.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/symbol_files.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "system/units.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <bit>
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

control::FindDevice variables_in(symbols::SymbolList symbols, std::uint64_t ram_base) {
    using symbols::Symbol;
    std::erase_if(symbols, [](const Symbol& s) {
        return !s.module.empty() || s.type == 'a' || s.type == 'A';
    });
    std::ranges::sort(symbols, {}, &Symbol::address);
    const auto text = std::ranges::find_if(symbols, symbols::is_function);
    const std::uint32_t first = text != symbols.end() ? memory_begin(text->address) : 0;
    const auto all = std::make_shared<symbols::SymbolList>(std::move(symbols));
    return [all, first, ram_base](const std::string& name) {
        const auto found = std::ranges::find(*all, name, &Symbol::name);
        if (found == all->end() || found->address < first) {
            throw bad_input(
                "{}: no such variable; give its kernel's vmlinux or System.map, or BASE+SIZE",
                name);
        }
        const auto behind = std::ranges::upper_bound(*all, found->address, {}, &Symbol::address);
        const std::uint32_t size = behind != all->end() ? behind->address - found->address : 4;
        return std::vector{control::Place{ram_base + (found->address - first), size}};
    };
}

std::vector<std::uint32_t> watch_cells(const std::vector<std::string>& wanted,
                                       const control::FindDevice& find) {
    std::vector<std::uint32_t> cells;
    for (const std::string& word : wanted) {
        const std::vector<std::string> words{"watch", word};
        for (const control::Ask& ask : control::asks_of(words, find)) {
            cells.insert(cells.end(), {ask.first, ask.second});
        }
    }
    return cells;
}

std::vector<std::uint32_t> page_cells(const std::vector<std::string>& wanted,
                                      const control::FindDevice& find) {
    std::vector<std::uint32_t> cells, limit;
    for (const std::string& word : wanted) {
        if (word.starts_with("limit=")) {
            limit = {static_cast<std::uint32_t>(parse_number(word.substr(6)).value_or(0))};
        } else if (std::ranges::find(wanted, "all") == wanted.end()) {
            for (const control::Place& pages : control::pages_of(word, find)) {
                cells.insert(cells.end(), {static_cast<std::uint32_t>(pages.base),
                                           static_cast<std::uint32_t>(pages.size)});
            }
        }
    }
    cells.insert(cells.begin(), limit.begin(), limit.end());
    return cells;
}

namespace {

using abi::control::Mailbox;
using namespace std::chrono_literals;

using Words = std::array<std::uint32_t, 4>; // a Request, a Reply

} // namespace

ModuleProbes::ModuleProbes(const std::vector<std::string>& patterns, std::uint32_t flags,
                           std::span<std::byte> ram, std::uint64_t base, std::uint64_t mailbox)
    : patterns_(patterns), flags_(flags), memory_(ram, base),
      mailbox_(reinterpret_cast<volatile std::uint32_t*>(&ram[mailbox - base])) {}

// All of the guest's memory is hostile: each address is checked.
void ModuleProbes::look_at(std::uint32_t module) {
    constexpr std::size_t most_bytes = 8 << 20;
    module_ = module;
    refused_ = 0;
    asks_.clear();
    if (const auto kernel = linux_guest::KernelFinder(memory_).find()) {
        linux_guest::ModuleReader reader(*kernel);
        const auto loaded = reader.read(module);
        name_ = loaded ? loaded->name : "";
        const auto functions = loaded ? reader.functions(module, loaded->text, most_bytes)
                                      : std::vector<linux_guest::Module::Function>();
        const auto find = [&](const std::string& pattern) {
            std::vector<control::Instruction> found;
            std::set<std::uint32_t> seen;
            for (const auto& function : functions) {
                const auto word = kernel->space.word(function.address); // none: in Thumb state
                if (fits(pattern, name_, function.name) && word &&
                    seen.insert(function.address).second) {
                    found.push_back({function.address, *word, flags_});
                    used_.insert(pattern);
                }
            }
            return found;
        };
        std::vector<std::string> words = patterns_;
        words.insert(words.begin(), "probe");
        std::ranges::copy(control::asks_of(words, {}, find), std::back_inserter(asks_));
    }
    asks_.push_back({abi::control::Command::probe}); // there are no more
    send();
}

void ModuleProbes::send() {
    const control::Ask& ask = asks_.front();
    const auto request = abi::control::make_request(ask.command, ++id_, ask.first, ask.second);
    const auto words = std::bit_cast<Words>(request);
    for (std::size_t i = 0; i < words.size(); ++i) {
        mailbox_[offsetof(Mailbox, request) / 4 + i] = words[i];
    }
}

/// The hypervisor looks again and again, if the guest's CPU runs.
bool ModuleProbes::answered() {
    Words words;
    for (const auto give_up = Clock::now() + 2ms; Clock::now() < give_up;) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = mailbox_[offsetof(Mailbox, reply) / 4 + i];
        }
        const auto reply = std::bit_cast<abi::control::Reply>(words);
        if (reply.id == id_ && reply.check == abi::control::check_of(reply)) {
            refused_ += reply.status != abi::control::Status::done;
            return true;
        }
    }
    return false;
}

void ModuleProbes::pass() {
    if (patterns_.empty()) {
        return;
    }
    if (const std::uint32_t waits = mailbox_[0]; waits != 0 && waits != module_) {
        look_at(waits);
    }
    while (module_ != 0 && answered()) {
        asks_.pop_front();
        if (!asks_.empty()) {
            send();
            continue;
        }
        if (refused_ > 0) {
            print_message("mmioscope: {}: {} functions cannot have a probe\n", name_, refused_);
        }
        module_ = 0;
    }
}

void ModuleProbes::finish() const {
    for (const std::string& pattern : patterns_) {
        if (!used_.contains(pattern.substr(0, pattern.find(',')))) {
            print_message("mmioscope: --probe {}: no module that was loaded has such a function\n",
                          pattern);
        }
    }
}

} // namespace mmioscope::run
