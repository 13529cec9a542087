#include "symbols/module_files.hpp"

#include "system/error.hpp"

namespace mmioscope::symbols {

namespace {

/// A module may be loaded at one place, then at another. Its file stays at this address, far from
/// 0, where DWARF puts what is not placed.
constexpr std::uint32_t own_base = 0xbf00'0000;

} // namespace

void ModuleFiles::add(const std::string& module, std::unique_ptr<ElfFile> elf) {
    if (!files_.contains(module)) {
        elf->place(own_base, module);
        files_.emplace(module, std::move(elf));
    }
}

bool ModuleFiles::locate(const std::string& module, std::uint32_t offset, Location& to) {
    const auto file = files_.find(module);
    return file != files_.end() && file->second->locate(own_base + offset, to);
}

void ModuleFiles::each_function(const VisitName& visit) {
    for (const auto& [name, file] : files_) {
        file->each_function(visit);
    }
}

std::vector<std::string> ModuleFiles::modules() const {
    std::vector<std::string> names;
    for (const auto& [name, file] : files_) {
        names.push_back(name);
    }
    return names;
}

namespace {

std::optional<ModuleSpan> module_in(std::string_view line) {
    ModuleSpan span;
    span.name = next_word(line);
    const std::optional<std::uint32_t> size = number(next_word(line), 10);
    for (int column = 0; column < 3; ++column) {
        (void)next_word(line);
    }
    const std::string_view where = next_word(line);
    const std::optional<std::uint32_t> base =
        where.starts_with("0x") ? address(where.substr(2)) : std::nullopt;
    if (!size || !base) {
        return std::nullopt;
    }
    span.base = *base;
    span.size = *size;
    return span;
}

} // namespace

std::vector<ModuleSpan> read_modules(std::string_view text) {
    std::vector<ModuleSpan> modules;
    for (std::size_t count = 1; !text.empty(); ++count) {
        std::string_view line = next_line(text);
        if (is_blank(line)) {
            continue;
        }
        const std::optional<ModuleSpan> module = module_in(line);
        if (!module) {
            throw bad_input("line {} is not a line of /proc/modules", count);
        }
        if (module->base == 0) {
            throw bad_input("line {}: the address is 0: the kernel shows it only to root", count);
        }
        modules.push_back(*module);
    }
    return modules;
}

} // namespace mmioscope::symbols
