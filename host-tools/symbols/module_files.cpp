#include "symbols/module_files.hpp"

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

} // namespace mmioscope::symbols
