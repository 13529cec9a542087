#include "records/module_table.hpp"

#include "system/escape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

namespace mmioscope::trace {

namespace {

/// Takes the first line from `rest`. Returns it without its end.
std::string_view next_line(std::string_view& rest) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
}

/// The first six words of a line.
std::array<std::string_view, 6> words_of(std::string_view line) {
    std::array<std::string_view, 6> words;
    for (std::string_view& word : words) {
        word = line.substr(0, line.find(' '));
        line.remove_prefix(std::min(line.size(), word.size() + 1));
    }
    return words;
}

template <typename T>
bool number(std::string_view word, int base, T& value) {
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, value, base);
    return error == std::errc() && rest == end;
}

std::optional<LoadedModule> module_of(const std::array<std::string_view, 6>& words) {
    LoadedModule module;
    if (!is_plain_word(words[1]) || words[1].size() > LoadedModule::most_name ||
        !number(words[2], 16, module.base) || !number(words[3], 10, module.size) ||
        !number(words[5], 10, module.time)) {
        return std::nullopt;
    }
    module.name = words[1];
    module.live = words[4] == "live";
    return module;
}

/// Of hexadecimal digits, or "-".
std::optional<std::vector<std::uint8_t>> opcodes_of(std::string_view digits) {
    std::vector<std::uint8_t> opcodes;
    if (digits != "-" && (digits.empty() || digits.size() % 2 != 0)) {
        return std::nullopt;
    }
    for (; digits.size() > 1; digits.remove_prefix(2)) {
        std::uint8_t& opcode = opcodes.emplace_back();
        if (!number(digits.substr(0, 2), 16, opcode)) {
            return std::nullopt;
        }
    }
    return opcodes;
}

// Adds a line that follows the module's own.
void add_line(LoadedModule& module, const std::array<std::string_view, 6>& words) {
    if (module.bytes() + words[2].size() > ModuleTable::most_bytes / 4) {
        return;
    }
    if (LoadedModule::Range range{}; words[0] == "text") {
        if (number(words[1], 16, range.base) && number(words[2], 10, range.size)) {
            module.text.push_back(range);
        }
    } else if (words[0] == "frame") {
        std::uint32_t start = 0;
        const std::optional<std::vector<std::uint8_t>> opcodes = opcodes_of(words[2]);
        if (number(words[1], 16, start) && opcodes) {
            module.frames.add(start, *opcodes);
        }
    } else if (LoadedModule::Function function{};
               number(words[0], 16, function.address) && is_plain_word(words[2])) {
        function.name = static_cast<std::uint32_t>(module.names.size());
        module.names.append(words[2]).push_back('\0');
        module.functions.push_back(function);
    }
}

} // namespace

bool LoadedModule::has(std::uint32_t address) const {
    return std::any_of(text.begin(), text.end(),
                       [address](const Range& r) { return address - r.base < r.size; });
}

std::size_t LoadedModule::bytes() const {
    return sizeof *this + name.size() + text.size() * sizeof(Range) +
           functions.size() * sizeof(Function) + names.size() + frames.size();
}

std::string only_used(std::string_view payload, std::span<const std::uint32_t> used) {
    // A function ends where the next one of its module begins.
    std::vector<std::uint32_t> starts;
    const auto is_used = [&](std::uint32_t start) {
        const auto end = std::ranges::upper_bound(starts, start);
        const auto first = std::ranges::lower_bound(used, start);
        return first != used.end() && (end == starts.end() || *first < *end);
    };
    std::string kept;
    for (std::string_view rest = payload; !rest.empty();) {
        starts.clear();
        std::string_view ahead = rest;
        do {
            const auto words = words_of(next_line(ahead));
            if (std::uint32_t start = 0; number(words[0], 16, start)) {
                starts.push_back(start);
            }
        } while (!ahead.empty() && !ahead.starts_with("module "));
        std::ranges::sort(starts);
        while (rest.data() != ahead.data() && !rest.empty()) {
            const char* const begin = rest.data();
            const auto words = words_of(next_line(rest));
            std::uint32_t start = 0;
            if (!number(words[0], 16, start) || is_used(start)) {
                kept.append(begin, rest.data()); // with the end of the line, if it has one
            }
        }
    }
    return kept;
}

void ModuleTable::add(std::span<const std::byte> payload) {
    ++version_;
    std::optional<LoadedModule> module;
    std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
    while (!rest.empty()) {
        const std::string_view line = next_line(rest);
        const auto words = words_of(line);
        if (words[0] == "module") {
            if (std::optional<LoadedModule> next = module_of(words)) {
                if (module) {
                    learn(std::move(*module));
                }
                module = std::move(next);
            }
        } else if (module) {
            add_line(*module, words);
        }
    }
    if (module) {
        learn(std::move(*module));
    }
}

void ModuleTable::add(LoadedModule module) {
    const LoadedModule* const known = module_at(module.base, module.time);
    const bool same = known != nullptr && known->name == module.name &&
                      known->base == module.base && known->size >= module.size;
    if (!same) {
        learn(std::move(module));
    }
}

void ModuleTable::learn(LoadedModule module) {
    std::stable_sort(module.functions.begin(), module.functions.end(),
                     [](const auto& a, const auto& b) { return a.address < b.address; });
    module.frames.sort();
    module.names.shrink_to_fit();
    module.functions.shrink_to_fit();
    module.number = ++learnt_;
    ++version_;
    bytes_ += module.bytes();
    modules_.push_back(std::make_shared<LoadedModule>(std::move(module)));
    if (modules_.size() > most_modules || bytes_ > most_bytes ||
        learnt_ - forgot_ >= most_replaced) {
        forget();
    }
}

// Forgets modules replaced long ago. If there is too much, keeps half of it, first the modules that
// are not replaced.
void ModuleTable::forget() {
    forgot_ = learnt_;
    const bool full = modules_.size() > most_modules || bytes_ > most_bytes;
    std::unordered_map<std::string_view, std::uint64_t> next;       // the next number, by name
    std::vector<std::shared_ptr<const LoadedModule>> all, replaced; // latest first
    for (auto at = modules_.rbegin(); at != modules_.rend(); ++at) {
        const auto& module = *at;
        const auto [by, last] = next.try_emplace(module->name, module->number);
        if (last) {
            all.push_back(module);
        } else if (std::exchange(by->second, module->number) + most_replaced > learnt_) {
            replaced.push_back(module);
        }
    }
    all.insert(all.end(), replaced.begin(), replaced.end());
    modules_.clear();
    bytes_ = 0;
    for (const auto& module : all) {
        if (full &&
            (modules_.size() >= most_modules / 2 || bytes_ + module->bytes() > most_bytes / 2)) {
            break;
        }
        modules_.push_back(module);
        bytes_ += module->bytes();
    }
    std::ranges::sort(modules_, {}, [](const auto& module) { return module->number; });
}

std::size_t ModuleTable::bytes_beside(const ModuleTable& other) const {
    std::size_t bytes = modules_.size() * sizeof modules_[0];
    for (const auto& module : modules_) {
        bytes += module->number > other.learnt_ ? module->bytes() : 0;
    }
    return bytes;
}

const LoadedModule* ModuleTable::module_at(std::uint32_t address, std::uint64_t time) const {
    const LoadedModule* later = nullptr;
    for (auto at = modules_.rbegin(); at != modules_.rend(); ++at) {
        const LoadedModule& module = **at;
        if (module.has(address)) {
            if (module.time <= time) {
                return &module;
            }
            later = module.marked ? later : &module;
        }
    }
    return later;
}

ModuleTable::Found ModuleTable::find(std::uint32_t address, std::uint64_t time) const {
    Found found{module_at(address, time)};
    for (const auto& module : modules_) {
        if (!module->has(address)) {
            continue;
        }
        if (module->time <= time) {
            found.from = std::max(found.from, module->time);
        } else {
            found.to = std::min(found.to, module->time - 1);
        }
    }
    return found;
}

std::optional<Location> ModuleTable::function_at(std::uint32_t address, std::uint64_t time) const {
    const LoadedModule* const module = module_at(address, time);
    if (module == nullptr) {
        return std::nullopt;
    }
    const auto& functions = module->functions;
    const auto behind = std::upper_bound(
        functions.begin(), functions.end(), address,
        [](std::uint32_t a, const auto& function) { return a < function.address; });
    if (behind == functions.begin()) {
        return std::nullopt;
    }
    // If an address has several names, the first.
    const auto function =
        std::lower_bound(functions.begin(), behind, std::prev(behind)->address,
                         [](const auto& f, std::uint32_t a) { return f.address < a; });
    return Location{module->name_of(*function), address - function->address, module->name, {}};
}

} // namespace mmioscope::trace
