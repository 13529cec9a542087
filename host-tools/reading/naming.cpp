#include "reading/naming.hpp"

#include "lib/change_text.hpp"
#include "lib/error.hpp"
#include "lib/marker_text.hpp"
#include "lib/record_text.hpp"
#include "symbols/function_table.hpp"
#include "symbols/section.hpp"

#include <algorithm>
#include <limits>

namespace mmioscope::reading {

std::string text_of(const abi::Record& record) {
    switch (record.type) {
    case abi::RecordType::marker: return trace::marker_text(record);
    case abi::RecordType::configuration: return trace::change_text(record);
    case abi::RecordType::fault: return std::string(trace::fault_text(record.value));
    case abi::RecordType::task: return trace::task_text(record);
    default: return {};
    }
}

namespace {

/// So many addresses of modules are kept: a trace may hold any number of them.
constexpr std::size_t most_kept = 1u << 20;

constexpr std::uint64_t giga = 1'000'000'000;

bool reaches_a_register(abi::RecordType type) {
    return type == abi::RecordType::access || type == abi::RecordType::begin ||
           type == abi::RecordType::own || type == abi::RecordType::fault;
}

} // namespace

// In two parts: the product of a long trace's ticks with 10^9 does not fit 64 bits.
std::uint64_t nanoseconds(std::uint64_t ticks, std::uint32_t frequency) {
    return frequency == 0 ? ticks : ticks / frequency * giga + ticks % frequency * giga / frequency;
}

// One tick more would be told as more nanoseconds.
std::uint64_t ticks(std::uint64_t nanoseconds, std::uint32_t frequency) {
    if (frequency == 0) {
        return nanoseconds;
    }
    const std::uint64_t seconds = nanoseconds / giga;
    const std::uint64_t rest = ((nanoseconds % giga + 1) * frequency - 1) / giga;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return seconds > (most - rest) / frequency ? most : seconds * frequency + rest;
}

Naming::Naming(const trace::TraceReader& reader, const registers::Sources& sources)
    : reader_(reader), devices_(sources) {
    devices_.refresh(reader_);
}

void Naming::add_own_symbols(const trace::TraceReader::Report& report) {
    try {
        symbols::SymbolList own = symbols::unpack(reader_.symbols());
        symbols_.add(symbols::Trust::image,
                     std::make_unique<symbols::FunctionTable>(std::move(own)));
    } catch (const Error& error) {
        report(error.what());
    }
}

Event Naming::event(const abi::Record& record) {
    if (!started_) {
        start_ = record.time;
        started_ = true;
    }
    text_ = text_of(record);
    Event event;
    event.record = &record;
    event.nanoseconds = nanoseconds(record.time - std::min(record.time, start_),
                                    reader_.info() ? reader_.info()->counter_frequency : 0);
    event.device = reader_.names()[record.device];
    event.offset = abi::physical_address(record) - reader_.names().base(record.device);
    event.task = reader_.tasks().of(record);
    event.text = text_;
    name_code(event);
    if (reaches_a_register(record.type)) {
        name_register(event);
    }
    return event;
}

// `named`: by what is known beforehand. Else by the modules found while the trace was recorded; one
// address may be of several, one after the other. An odd address is of a call, one before the
// return.
const Location* Naming::code_at(std::uint32_t address, const Location* named, std::uint64_t time) {
    if (named != nullptr && !named->function.empty()) {
        return named;
    }
    const trace::LoadedModule* module = reader_.modules().module_at(address, time);
    if (module == nullptr) {
        return named;
    }
    const auto index = static_cast<std::uint64_t>(module - reader_.modules().modules().data());
    const auto [found, fresh] = of_modules_.try_emplace(index << 32 | address);
    if (fresh) {
        found->second = in_module(*module, address, time);
        if (found->second) {
            found->second->offset += address & 1;
        }
    }
    return found->second ? &*found->second : named;
}

// By the user's file of it, else as the recorder has found its functions. The guest's own word is
// of no functions.
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
    for (const trace::LoadedModule& module : reader_.modules().modules()) {
        std::erase(names, module.name);
    }
    return names;
}

void Naming::name_code(Event& event) {
    const abi::Record& record = *event.record;
    if (!trace::in_kernel(record)) { // the kernel's names are not those of a process
        return;
    }
    if (of_modules_.size() >= most_kept) { // here, as both names of an event must stay
        of_modules_.clear();
    }
    event.code = code_at(record.pc & ~1u, symbols_.at(record.pc), record.time);
    const std::uint32_t to = reader_.callers().of(record).value_or(record.lr);
    const Location* caller =
        to == 0 ? nullptr : code_at((to & ~1u) - 1, symbols_.caller(to), record.time);
    const bool same =
        event.code != nullptr && caller != nullptr && symbols::same_function(*event.code, *caller);
    event.caller = same ? nullptr : caller;
}

void Naming::name_register(Event& event) {
    devices_.refresh(reader_);
    event.reg = devices_.registers().find(*event.record, event.offset);
    if (event.record->type == abi::RecordType::access) {
        const std::string* interrupt = devices_.interrupts().find(*event.record, event.offset);
        event.interrupt = interrupt != nullptr ? std::string_view(*interrupt) : "";
    }
}

} // namespace mmioscope::reading
