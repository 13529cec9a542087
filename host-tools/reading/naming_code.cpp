// Finds the names of code addresses; naming.cpp keeps them.
#include "reading/naming.hpp"
#include "records/callers.hpp"
#include "symbols/section.hpp"
#include "symbols/symbols.hpp"
#include "system/error.hpp"

#include <algorithm>
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

/// What unwinding asks about the code, as it was at the time of a record.
class Naming::Code final : public symbols::CodeFacts {
public:
    Code(Naming& naming, std::uint64_t time) : naming_(naming), time_(time) {}

    std::optional<symbols::Opcodes> opcodes(std::uint32_t pc) override {
        const trace::LoadedModule* const module = naming_.reader_.modules().module_at(pc, time_);
        return (module != nullptr ? module->frames : naming_.kernel_frames()).find(pc);
    }
    std::uint32_t function(std::uint32_t pc) override {
        const Location* const at = naming_.location(naming_.found_at(pc, time_).id);
        return at == nullptr || at->function.empty() ? 0 : pc + (pc & 1) - at->offset;
    }

private:
    Naming& naming_;
    std::uint64_t time_;
};

const symbols::UnwindTable& Naming::kernel_frames() {
    if (!frames_) {
        frames_.emplace();
        try {
            if (const auto& section = reader_.frames()) {
                frames_.emplace(std::span<const std::byte>(*section));
            }
        } catch (const Error&) { // as if it were not there
        }
    }
    return *frames_;
}

// Its records follow its own in the section (TraceReader::records()).
std::vector<std::uint32_t> Naming::callers_on_stack(const abi::Record& record,
                                                    std::uint64_t number) {
    const auto all = reader_.records();
    const std::vector<std::uint32_t> stack = trace::stack_of(
        all.subspan(std::min(number - reader_.first_number(), std::uint64_t{all.size()})));
    if (!has_code(record) || stack.empty()) {
        return {};
    }
    symbols::CoreRegisters registers{};
    std::ranges::copy_n(stack.begin(), trace::stack_registers, registers.begin() + 4);
    registers[13] = record.sp;
    registers[14] = record.lr;
    registers[15] = record.pc;
    // What a recorder says of such a record, it has proved.
    const trace::Caller caller = reader_.caller_of(number);
    const auto word = [&](std::uint32_t at) {
        const std::uint32_t offset = at - record.sp;
        const std::size_t index = trace::stack_registers + offset / 4;
        return offset % 4 == 0 && index < stack.size() ? std::optional(stack[index]) : std::nullopt;
    };
    Code code(*this, record.time);
    const bool called =
        record.type == abi::RecordType::call && code.function(record.pc) == record.pc;
    return symbols::callers_of(registers, code, word, caller == trace::lr_holds ? 0 : caller,
                               called);
}

bool Naming::is_accessor(Id id) {
    std::uint8_t& known = accessors_[id];
    if (known == 0) {
        known = symbols::is_accessor(locations_[id]->function) ? 1 : 2;
    }
    return known == 1;
}

// By its stack; otherwise as the recorder says. Of an access, the first function that has not only
// carried it out for others; 0: which one that was lies beyond the recorded stack.
trace::Caller Naming::caller_of(const abi::Record& record, std::uint64_t number) {
    const std::vector<std::uint32_t> callers =
        abi::goes_on(record) ? callers_on_stack(record, number) : std::vector<std::uint32_t>();
    for (const std::uint32_t caller : callers) {
        const Id id = found_at(caller, record.time).id;
        if ((caller & 1) == 0 || id == no_id) { // interrupted
            return 0;
        }
        if (record.type != abi::RecordType::access || !is_accessor(id)) {
            return caller + 1;
        }
    }
    return callers.empty() ? reader_.caller_of(number) : 0;
}

std::vector<Id> Naming::stack_of(const Event& event) {
    const std::vector<std::uint32_t> callers = callers_on_stack(event.record, event.number);
    std::vector<Id> ids;
    if (!callers.empty()) {
        ids.push_back(event.code_id());
    }
    for (const std::uint32_t caller : callers) {
        ids.push_back(found_at(caller, event.record.time).id);
    }
    return ids;
}

std::vector<std::string> Naming::unplaced_modules() const {
    std::vector<std::string> names = module_files_.modules();
    for (const auto& module : reader_.modules().modules()) {
        std::erase(names, module->name);
    }
    return names;
}

} // namespace mmioscope::reading
