#include "lib/module_table.hpp"

#include "lib/plain_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace mmioscope::trace {

namespace {

/// The words of a line; those beyond six are left out.
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

} // namespace

bool LoadedModule::has(std::uint32_t address) const {
    return std::any_of(text.begin(), text.end(),
                       [address](const Range& r) { return address - r.base < r.size; });
}

void ModuleTable::add(std::span<const std::byte> payload) {
    ++version_;
    const std::size_t before = modules_.size();
    std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        add_line(line);
    }
    for (std::size_t i = before; i < modules_.size(); ++i) {
        auto& functions = modules_[i].functions;
        std::stable_sort(functions.begin(), functions.end(),
                         [](const auto& a, const auto& b) { return a.address < b.address; });
    }
}

void ModuleTable::add(LoadedModule told) {
    const LoadedModule* const known = module_at(told.base, told.time);
    const bool same = known != nullptr && known->name == told.name && known->base == told.base &&
                      known->size >= told.size;
    if (!same && told_ < most_told) {
        modules_.push_back(std::move(told));
        ++told_;
        ++version_;
    }
}

void ModuleTable::go_back(const Mark& mark) {
    modules_.resize(mark.modules);
    told_ = mark.told;
    ++version_;
}

void ModuleTable::add_line(std::string_view line) {
    const auto words = words_of(line);
    if (words[0] == "module") {
        LoadedModule module;
        if (is_plain_word(words[1]) && number(words[2], 16, module.base) &&
            number(words[3], 10, module.size) && number(words[5], 10, module.time)) {
            module.name = words[1];
            module.live = words[4] == "live";
            modules_.push_back(std::move(module));
        }
        return;
    }
    if (modules_.empty()) {
        return;
    }
    if (LoadedModule::Range range{}; words[0] == "text") {
        if (number(words[1], 16, range.base) && number(words[2], 10, range.size)) {
            modules_.back().text.push_back(range);
        }
    } else if (LoadedModule::Function function{};
               number(words[0], 16, function.address) && is_plain_word(words[2])) {
        function.name = words[2];
        modules_.back().functions.push_back(std::move(function));
    }
}

const LoadedModule* ModuleTable::module_at(std::uint32_t address, std::uint64_t time) const {
    const LoadedModule* later = nullptr;
    for (auto module = modules_.rbegin(); module != modules_.rend(); ++module) {
        if (module->has(address)) {
            if (module->time <= time) {
                return &*module;
            }
            later = module->told ? later : &*module;
        }
    }
    return later;
}

ModuleTable::Found ModuleTable::find(std::uint32_t address, std::uint64_t time) const {
    Found found{module_at(address, time)};
    for (const LoadedModule& module : modules_) {
        if (!module.has(address)) {
            continue;
        }
        if (module.time <= time) {
            found.from = std::max(found.from, module.time);
        } else {
            found.to = std::min(found.to, module.time - 1);
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
    // Of several names of one address the first.
    const auto function =
        std::lower_bound(functions.begin(), behind, std::prev(behind)->address,
                         [](const auto& f, std::uint32_t a) { return f.address < a; });
    return Location{function->name, address - function->address, module->name, {}};
}

} // namespace mmioscope::trace
