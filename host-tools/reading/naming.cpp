#include "reading/naming.hpp"

#include "lib/change_text.hpp"
#include "lib/error.hpp"
#include "lib/marker_text.hpp"
#include "lib/record_text.hpp"
#include "reading/strip_code.hpp"
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

constexpr std::uint64_t giga = 1'000'000'000;

bool reaches_a_register(abi::RecordType type) {
    return type == abi::RecordType::access || type == abi::RecordType::begin ||
           type == abi::RecordType::own || type == abi::RecordType::fault;
}

// All that the place of a record depends on: 40 bits of address, 16 of the region, size and
// direction, whether it can be a register, and which registers the region has just now.
constexpr unsigned device_shift = 40;
constexpr unsigned access_shift = 56;
constexpr unsigned reaches_shift = 60;
constexpr unsigned variant_shift = 61;
static_assert(registers::DeviceRegisters::most_variants <= 8);

std::uint64_t place_key(const abi::Record& record, unsigned variant) {
    constexpr unsigned size_and_direction = 0xf;
    return abi::physical_address(record) | std::uint64_t{record.device} << device_shift |
           std::uint64_t{record.access & size_and_direction} << access_shift |
           std::uint64_t{reaches_a_register(record.type)} << reaches_shift |
           std::uint64_t{variant} << variant_shift;
}

/// The slot of `key` (Knuth's multiplicative hash).
template <typename Slots>
auto& slot_of(Slots& slots, std::uint64_t key) {
    static_assert((std::tuple_size_v<Slots> & (std::tuple_size_v<Slots> - 1)) == 0);
    const std::uint64_t hash = key * 0x9e37'79b9'7f4a'7c15;
    return slots[(hash >> 40) & (std::tuple_size_v<Slots> - 1)];
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
    constexpr std::size_t most = most_kept + 2 * most_in_block + 1;
    places_.reserve(most);
    locations_.reserve(most);
    functions_.reserve(most);
    texts_.reserve(most);
    learn();
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

Event Naming::event(const abi::Record& record, std::uint64_t number) {
    catch_up();
    watch(record);
    if (!start_) {
        start_ = record.time;
    }
    Event event{record,
                number,
                nanoseconds(record.time - std::min(record.time, *start_), frequency_),
                this,
                {}};
    if (hidden_) {
        strip_code(event.record);
    }
    return event;
}

// What a section told behind which the next record stands.
void Naming::learn() {
    seen_changes_ = reader_.changes();
    frequency_ = reader_.info() ? reader_.info()->counter_frequency : 0;
    devices_.refresh(reader_);
    if (reader_.device_changes() != seen_device_changes_) {
        seen_device_changes_ = reader_.device_changes();
        place_slots_ = {};
        place_ids_.clear();
        interrupt_ids_.clear();
    }
    if (reader_.modules().modules().size() != seen_modules_) {
        seen_modules_ = reader_.modules().modules().size();
        ++code_version_;
    }
}

// A register is another one while a field of a third has some value: that counts from the next
// record on.
void Naming::watch(const abi::Record& record) {
    if (devices_.registers().watches(record.device)) {
        watched_ = record;
    }
}

void Naming::apply_watched() {
    const abi::Record& record = *watched_;
    const std::uint64_t base = reader_.names().base(record.device);
    if (!devices_.registers().tell(record, abi::physical_address(record) - base)) {
        place_slots_ = {}; // the variants are numbered anew
        place_ids_.clear();
    }
    watched_.reset();
}

bool Naming::full() const {
    return places_.size() > most_kept || locations_.size() > most_kept ||
           texts_.size() > most_kept || text_bytes_ > most_text;
}

void Naming::forget() {
    place_slots_ = {};
    place_ids_.clear();
    places_.resize(1);
    location_slots_ = {};
    location_ids_.clear();
    locations_.resize(1);
    kept_locations_.clear();
    functions_.resize(1);
    function_ids_.clear();
    interrupt_ids_.clear();
    texts_.resize(1);
    text_ids_.clear();
    text_bytes_ = 0;
}

Id Naming::place_of(const Event& event) {
    const std::uint64_t key =
        place_key(event.record, devices_.registers().variant(event.record.device));
    Slot& slot = slot_of(place_slots_, key);
    if (slot.version == 0 || slot.key != key) {
        slot = {.key = key, .version = 1, .id = find_place(key, event)};
    }
    return slot.id;
}

Id Naming::find_place(std::uint64_t key, const Event& event) {
    const auto [known, fresh] = place_ids_.try_emplace(key, static_cast<Id>(places_.size()));
    if (fresh) {
        const abi::Record& record = event.record;
        const std::uint64_t address = abi::physical_address(record);
        const std::uint64_t base = reader_.names().base(record.device);
        Place place{text(intern(reader_.names()[record.device])),
                    address < base ? address : address - base};
        if (reaches_a_register(record.type)) {
            place.reg = devices_.registers().find(record.device, place.offset,
                                                  abi::access_size(record), abi::is_write(record));
        }
        places_.push_back(place);
    }
    return known->second;
}

Id Naming::code_of(const Event& event) {
    // The kernel's names are not those of a process.
    return hidden_ || !trace::in_kernel(event.record)
               ? no_id
               : location_of(event.record.pc & ~1u, event.record.time);
}

// The address of the call, one before the return: so it is odd, and no other code's.
Id Naming::caller_of(const Event& event) {
    const abi::Record& record = event.record;
    if (hidden_ || !trace::in_kernel(record)) {
        return no_id;
    }
    const std::uint32_t to = reader_.callers().of(record).value_or(record.lr);
    if (to == 0) {
        return no_id;
    }
    const Id caller = location_of((to & ~1u) - 1, record.time);
    return function_of(caller) == function_of(event.code_id()) ? no_id : caller;
}

Id Naming::location_of(std::uint32_t address, std::uint64_t time) {
    Slot& slot = slot_of(location_slots_, address);
    const bool holds =
        slot.version == code_version_ && slot.key == address && time - slot.from <= slot.span;
    return holds ? slot.id : find_location(address, time, slot);
}

// By what is known beforehand. Else by the modules found while the trace was recorded; one address
// may be of several, one after the other.
Id Naming::find_location(std::uint32_t address, std::uint64_t time, Slot& slot) {
    slot = {address, 0, UINT64_MAX, code_version_, no_id};
    Location named;
    const bool known = symbols_.locate(address, named);
    const trace::LoadedModule* module = nullptr;
    if (!known || named.function.empty()) {
        const trace::ModuleTable::Found found = reader_.modules().find(address, time);
        module = found.module;
        slot.from = found.from;
        slot.span = found.to - found.from;
    }
    if (!known && module == nullptr) {
        return no_id;
    }
    const std::uint64_t number =
        module == nullptr
            ? 0
            : static_cast<std::uint64_t>(module - reader_.modules().modules().data()) + 1;
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
        const Location& stays = kept_locations_.emplace_back(std::move(*location));
        locations_.push_back(&stays);
        functions_.push_back(
            function_ids_.try_emplace(stays.function + '\0' + stays.module, kept->second)
                .first->second);
    }
    return slot.id = kept->second;
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

Id Naming::task_of(const Event& event) {
    const abi::Record& record = event.record;
    const trace::TaskTable& tasks = reader_.tasks();
    const std::uint64_t key = std::uint64_t{record.task} << 32 | trace::stack_of(record.sp) |
                              (trace::in_user_mode(record) ? 1 : 0);
    Slot& slot = slot_of(task_slots_, key);
    if (slot.version != tasks.version() || slot.key != key || record.time - slot.from > slot.span) {
        const trace::TaskTable::Found found = tasks.find(record);
        slot = {key, found.from, found.to - found.from, tasks.version(), no_id};
        if (found.task != nullptr) {
            const auto [known, fresh] =
                task_ids_.try_emplace(found.task, static_cast<Id>(tasks_.size()));
            if (fresh) {
                tasks_.push_back(found.task);
            }
            slot.id = known->second;
        }
    }
    return slot.id;
}

Id Naming::interrupt_of(const Event& event) {
    const abi::Record& record = event.record;
    registers::InterruptNames& names = devices_.interrupts();
    if (record.type != abi::RecordType::access || !names.are_of(record.device)) {
        return no_id;
    }
    const std::string* const name = names.find(record, event.offset());
    if (name == nullptr) {
        return no_id;
    }
    interrupt_ids_.resize(registers::InterruptNames::values);
    Id& id = interrupt_ids_[record.value % registers::InterruptNames::values];
    if (id == no_id) {
        id = intern(*name);
    }
    return id;
}

Id Naming::text_of(const Event& event) {
    switch (event.record.type) {
    case abi::RecordType::marker:
    case abi::RecordType::configuration:
    case abi::RecordType::fault:
    case abi::RecordType::task:
        return intern(hidden_ && names_pcs(event.record) ? "filter pc"
                                                         : reading::text_of(event.record));
    default: return no_id;
    }
}

Id Naming::intern(std::string_view text) {
    if (text.empty()) {
        return no_id;
    }
    const auto [known, fresh] =
        text_ids_.try_emplace(std::string(text), static_cast<Id>(texts_.size()));
    if (fresh) {
        texts_.push_back(known->first);
        text_bytes_ += text.size();
    }
    return known->second;
}

} // namespace mmioscope::reading
