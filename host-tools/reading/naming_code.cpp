// Finds the names of code addresses; naming.cpp keeps them.
#include "reading/naming.hpp"
#include "symbols/section.hpp"

#include <memory>
#include <utility>

namespace mmioscope::reading {

void Naming::add_own_symbols(const trace::TraceReader::Report& report) {
    symbols_.add(symbols::Trust::image, std::make_unique<symbols::SectionFunctions>(
                                            [this] { return reader_.symbols(); }, report));
}

void Naming::each_function(const symbols::VisitName& visit) {
    symbols_.each_function(visit);
    module_files_.each_function(visit);
    for (const auto& module : reader_.modules().modules()) {
        for (const trace::LoadedModule::Function& function : module->functions) {
            visit(module->name_of(function));
        }
    }
}

// Not before the first function is needed: it reads all symbols.
void Naming::reach_symbols() {
    reach_ = symbols_.reach();
    reach_modules();
}

void Naming::reach_modules() {
    for (const auto& module : reader_.modules().modules()) {
        for (const trace::LoadedModule::Range& range : module->text) {
            reach_->add(range.base, std::uint64_t{range.base} + range.size);
        }
    }
}

bool Naming::in_one_function(Id left, Id right) const {
    if (left == right || left == no_id || right == no_id) {
        return left == right;
    }
    const Location &one = *locations_[left], &other = *locations_[right];
    return one.function == other.function && one.module == other.module;
}

// First by the given symbols, then by the modules that were found while the trace was recorded. One
// address may belong to several modules, one after another.
Id Naming::find_location(std::uint32_t address, std::uint64_t time, Found& found) {
    Location named;
    const bool known = symbols_.locate(address, named);
    const trace::LoadedModule* module = nullptr;
    if (!known || named.function.empty()) {
        const trace::ModuleTable::Found of_module = reader_.modules().find(address, time);
        module = of_module.module;
        found.times = {of_module.from, of_module.to};
    }
    if (!known && module == nullptr) {
        return no_id;
    }
    const std::uint64_t number = module == nullptr ? 0 : module->number;
    const auto [kept, fresh] =
        location_ids_.try_emplace(number << 32 | address, static_cast<Id>(locations_.size()));
    if (fresh) {
        std::optional<Location> location =
            module != nullptr ? in_module(*module, address, time) : std::nullopt;
        if (location) {
            location->offset += address & 1;
        } else if (known) {
            location = std::move(named);
        }
        if (!location) {
            location_ids_.erase(kept);
            return no_id;
        }
        locations_.push_back(&kept_locations_.emplace_back(std::move(*location)));
    }
    return kept->second;
}

// First by the user's file for the module, then by the functions that the recorder found. A module
// that only the guest reported has no functions.
std::optional<Location> Naming::in_module(const trace::LoadedModule& module, std::uint32_t address,
                                          std::uint64_t time) {
    const std::uint32_t offset = address - module.base;
    const bool inside = offset < module.size;
    if (Location location; inside && module_files_.locate(module.name, offset, location)) {
        return location;
    }
    if (auto found = reader_.modules().function_at(address, time)) {
        return found;
    }
    return inside ? std::optional(Location{"", offset, module.name, {}}) : std::nullopt;
}

std::vector<std::string> Naming::unplaced_modules() const {
    std::vector<std::string> names = module_files_.modules();
    for (const auto& module : reader_.modules().modules()) {
        std::erase(names, module->name);
    }
    return names;
}

} // namespace mmioscope::reading
