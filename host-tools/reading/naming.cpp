#include "reading/naming.hpp"

#include "reading/kept.hpp"
#include "records/groups.hpp"
#include "records/kinds.hpp"
#include "records/module_mark.hpp"
#include "records/record_text.hpp"
#include "registers/description.hpp"
#include "registers/fields_text.hpp"
#include "system/error.hpp"

#include <atomic>
#include <bit>
#include <cstring>

namespace mmioscope::reading {

std::string text_of(const abi::Record& record, std::span<const registers::Device> devices,
                    bool hidden) {
    using abi::RecordType;
    switch (record.type) {
    case RecordType::marker: return trace::marker_text(record);
    case RecordType::configuration:
        return hidden && names_pcs(record) ? "filter pc" : trace::change_text(record);
    case RecordType::fault: {
        const unsigned named = abi::fault_region(record.value);
        return trace::fault_text(record.value, named < devices.size() ? devices[named].path : "");
    }
    case RecordType::task: return trace::task_text(record);
    case RecordType::call: return hidden ? "" : trace::arguments_text(record);
    case RecordType::ret: return hidden ? "" : trace::result_text(record);
    case RecordType::hits: return trace::hits_text(record.value);
    case RecordType::move: return trace::move_text(record);
    case RecordType::payload: return trace::payload_text(record, hidden);
    default: return {};
    }
}

namespace {

// Everything that the place of a record depends on: 40 bits of address, 16 bits of the region, size
// and direction, whether it can be a register, and which registers the region has at the moment.
constexpr unsigned device_shift = 40;
constexpr unsigned access_shift = 56;
constexpr unsigned reaches_shift = 60;
constexpr unsigned variant_shift = 61;
static_assert(registers::DeviceRegisters::most_variants <= 8);

std::uint64_t place_key(const abi::Record& record, unsigned variant) {
    constexpr unsigned size_and_direction = 0xf;
    return abi::physical_address(record) | std::uint64_t{record.device} << device_shift |
           std::uint64_t{record.access & size_and_direction} << access_shift |
           std::uint64_t{trace::kind_of(record.type).is(trace::Is::of_register)} << reaches_shift |
           std::uint64_t{variant} << variant_shift;
}

constexpr std::size_t contexts = 2048;
constexpr unsigned context_bits = 13; ///< of an index in context_places_; few keys share one
constexpr std::size_t addresses = 2048;
constexpr unsigned place_bits = 10; ///< of an index in known_places_

static_assert(std::endian::native == std::endian::little);
static_assert(offsetof(abi::Record, access) == 6 && offsetof(abi::Record, mode) == 7);
static_assert(offsetof(abi::Record, flags) == 30 && offsetof(abi::Record, pa_high) == 31);
static_assert(offsetof(abi::Record, task) == offsetof(abi::Record, pa_low) + 4);

/// The value at byte `offset`.
template <typename T>
T loaded(const abi::Record& record, std::size_t offset) {
    T value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(&record) + offset, sizeof value);
    return value;
}

} // namespace

std::size_t Naming::Key::slot() const {
    return mixed(mixed(place_and_task ^ access) ^ code ^ std::uint64_t{stack} << 5) >>
           (64 - context_bits);
}

Naming::Naming(const trace::TraceReader& reader, const registers::Sources& sources)
    : reader_(reader), devices_(sources), contexts_(1),
      context_places_(std::size_t{1} << context_bits), known_places_(std::size_t{1} << place_bits),
      found_(addresses) {
    constexpr std::size_t most = most_kept + 2 * most_in_block + 1;
    contexts_.reserve(1 + contexts);
    places_.reserve(most);
    locations_.reserve(most);
    tasks_.reserve(most);
    texts_.reserve(most);
    // Context numbers differ between traces, because a printer of several traces keeps texts by
    // them.
    static std::atomic<std::uint64_t> traces{0};
    context_number_ = ++traces << 40;
    devices_.refresh(reader_);
}

std::size_t Naming::fill(std::span<Event> events, std::span<const abi::Record> records,
                         std::uint64_t which, std::uint64_t number) {
    if (!start_ && which != 0) {
        start_ = records[static_cast<std::size_t>(std::countr_zero(which))].time;
    }
    const std::uint64_t start = start_.value_or(0);
    const trace::TickLength tick(frequency_);
    Event* event = events.data();
    const auto make = [&](const abi::Record& record, std::uint64_t its_number) {
        event->record = record;
        event->number = its_number;
        event->nanoseconds = tick.nanoseconds(record.time - std::min(record.time, start));
        event->names = this;
        event->ids = {};
        event->context_number = 0;
        event->carried_out_id = no_id;
        event->payload_id = unasked;
        ++event;
    };
    if (which == UINT64_MAX >> (64 - records.size())) { // all: the usual case
        for (const abi::Record& record : records) {
            make(record, number++);
        }
    } else {
        for (; which != 0; which &= which - 1) {
            const auto at = static_cast<std::size_t>(std::countr_zero(which));
            make(records[at], number + at);
        }
    }
    const auto made = static_cast<std::size_t>(event - events.data());
    for (Event& stripped : hidden_ ? events.first(made) : std::span<Event>()) {
        strip_code(stripped.record);
    }
    if (watched_ && made != 0) { // the last record, if it is one of these
        Event& last = events[made - 1];
        last.carried_out_id =
            intern(devices_.registers().carried_out(last.record, watched_->offset));
    }
    return made;
}

// Takes what the sections before the next record changed.
void Naming::learn() {
    seen_changes_ = reader_.changes();
    frequency_ = reader_.info() ? reader_.info()->counter_frequency : 0;
    devices_.refresh(reader_);
    watches_ = devices_.registers().watches_any();
    if (reader_.device_changes() != seen_device_changes_) {
        seen_device_changes_ = reader_.device_changes();
        ++version_;
        forget_places();
        interrupt_ids_.clear();
    }
    if (reader_.tasks().version() != seen_tasks_) {
        seen_tasks_ = reader_.tasks().version();
        ++version_;
    }
    if (reader_.modules().version() != seen_modules_) {
        seen_modules_ = reader_.modules().version();
        ++version_;
        ++code_version_;
        location_ids_.clear(); // more may be known about a module now
        if (reach_) {
            reach_modules();
        }
    }
}

void Naming::apply_watched() {
    if (!devices_.registers().observe(watched_->record, watched_->offset)) {
        ++version_; // variants have new numbers
        forget_places();
    }
    watched_.reset();
}

registers::DeviceRegisters::Held Naming::held() {
    catch_up();
    return devices_.registers().held();
}

void Naming::go_to(const registers::DeviceRegisters::Held& held) {
    watched_.reset();
    learn();
    devices_.registers().hold(held);
    reach_.reset();
    forget();
}

bool Naming::full() const {
    return places_.size() > most_kept || locations_.size() > most_kept ||
           tasks_.size() > most_kept || texts_.size() > most_kept || payloads_.size() > most_kept ||
           text_bytes_ > most_text;
}

void Naming::forget() {
    ++code_version_;
    contexts_.resize(1);
    std::ranges::fill(context_places_, 0);
    newest_context_ = 0;
    forget_places();
    places_.resize(1);
    accessors_.clear();
    location_ids_.clear();
    locations_.resize(1);
    kept_locations_.clear();
    tasks_.resize(1);
    kept_tasks_.clear();
    task_ids_.clear();
    interrupt_ids_.clear();
    texts_.resize(1);
    text_ids_.clear();
    payloads_.resize(1);
    kept_payloads_.clear();
    text_bytes_ = 0;
}

// The names are the kernel's; a process has others.
bool Naming::has_code(const abi::Record& record) const {
    return !hidden_ && trace::in_kernel(record);
}

// 0 if LR is not an address of code, because the function uses it for data.
inline std::uint32_t Naming::return_address(const abi::Record& record, trace::Caller caller) {
    if (!reach_) [[unlikely]] {
        reach_symbols();
    }
    const std::uint32_t to = trace::return_address(record, caller);
    return reach_->has((to & ~1u) - 1) ? to : 0;
}

// Loads the fields together, in the record's layout: type, access and mode, without the CPU; device
// and pa_high, without the flags; pa_low and task. `access` keeps only size and direction.
inline Naming::Key Naming::key_of(const abi::Record& record, std::uint32_t returns_to) {
    const std::uint64_t access =
        loaded<std::uint32_t>(record, offsetof(abi::Record, type)) & 0xff0f'00ffu;
    const std::uint64_t device =
        loaded<std::uint32_t>(record, offsetof(abi::Record, device)) & 0xff00'ffffu;
    return {loaded<std::uint64_t>(record, offsetof(abi::Record, pa_low)),
            std::uint64_t{returns_to} << 32 | record.pc, device << 32 | access,
            trace::stack_of(record.sp) | variant(record)};
}

[[gnu::always_inline]] inline const Naming::Context& Naming::context(const abi::Record& record,
                                                                     trace::Caller caller) {
    const std::uint32_t returns_to = has_code(record) ? return_address(record, caller) : 0;
    const Key key = key_of(record, returns_to);
    const Context& context = contexts_[context_places_[key.slot()]];
    if (context.version != version_ || !(context.key == key) || !context.times.has(record.time))
        [[unlikely]] {
        renew(record, returns_to);
        return contexts_[context_places_[key.slot()]];
    }
    return context;
}

std::uint64_t Naming::context_of(const abi::Record& record, std::uint64_t number) {
    return context(record, caller_of(record, number)).number;
}

void Naming::resolve(std::span<const Event> events) {
    const std::span<const trace::Caller> callers = reader_.callers();
    const std::uint64_t first = reader_.first_number();
    for (const Event& event : events) {
        if (event.ids.caller != unasked) {
            continue;
        }
        const std::uint64_t at = event.number - first;
        const trace::Caller caller = at < callers.size() ? callers[at] : trace::lr_holds;
        const Context& of =
            context(event.record,
                    abi::goes_on(event.record) ? caller_of(event.record, event.number) : caller);
        event.ids.place = of.ids.place;
        event.ids.code = of.ids.code;
        event.ids.caller = of.ids.caller;
        event.ids.task = of.ids.task;
        event.ids.interrupt = of.ids.interrupt;
        event.context_number = of.number;
    }
}

// Most news about tasks and modules changes no name of this context: then it keeps its number.
void Naming::renew(const abi::Record& record, std::uint32_t returns_to) {
    const Key key = key_of(record, returns_to); // again, as the caller keeps it in registers
    std::uint16_t& place = context_places_[key.slot()];
    if (place == 0 || !(contexts_[place].key == key)) {
        place = next_context();
    }
    Context& context = contexts_[place];
    const Context before = context;
    context = {key, {}, before.number, version_, {}};
    find_all(record, returns_to, context);
    if (before.version == 0 || !(before.key == key) || !(before.ids == context.ids)) {
        context.number = ++context_number_;
    }
}

std::uint16_t Naming::next_context() {
    newest_context_ = newest_context_ % contexts + 1;
    if (newest_context_ == contexts_.size()) {
        contexts_.emplace_back();
    }
    return static_cast<std::uint16_t>(newest_context_);
}

void Naming::find_all(const abi::Record& record, std::uint32_t returns_to, Context& to) {
    to.ids.place = place_of(record);
    if (has_code(record)) {
        to.ids.code = location_of(record.pc & ~1u, record.time, to.times);
        // One byte before the return address: in the call, and odd, unlike a PC.
        const Id caller =
            returns_to == 0 ? no_id : location_of((returns_to & ~1u) - 1, record.time, to.times);
        to.ids.caller = in_one_function(caller, to.ids.code) ? no_id : caller;
    }
    to.ids.task = task_of(record, to.times);
    to.ids.interrupt = devices_.interrupts().are_of(record.device) ? unasked : no_id;
}

void Naming::forget_places() {
    place_ids_.clear();
    std::ranges::fill(known_places_, KnownPlace());
}

// Loads type and access together, in the record's layout; `access` keeps only size and direction.
// Likewise device and pa_high, without the flags.
[[gnu::always_inline]] inline Id Naming::known_place(const abi::Record& record) {
    const std::uint64_t device =
        loaded<std::uint32_t>(record, offsetof(abi::Record, device)) & 0xff00'ffffu;
    const std::uint64_t address = device << 32 | record.pa_low;
    const std::uint32_t access =
        (loaded<std::uint32_t>(record, offsetof(abi::Record, type)) & 0x000f'00ffu) |
        variant(record) << 8;
    KnownPlace& known = known_places_[mixed(address ^ access) >> (64 - place_bits)];
    if (known.address != address || known.access != access) [[unlikely]] {
        known = {address, access, find_place(record)};
    }
    return known.id;
}

Id Naming::place_of(const abi::Record& record) {
    return known_place(record);
}

void Naming::resolve_places(std::span<const Event> events) {
    for (const Event& event : events) {
        if (event.ids.place == unasked) {
            event.ids.place = known_place(event.record);
        }
    }
}

// Empty if the access goes no further than its first register.
std::string Naming::covered_by(const abi::Record& record, const Place& place) {
    const std::uint64_t end = place.offset + abi::access_size(record);
    const Register* last = place.reg;
    for (std::uint64_t at = last == nullptr ? place.offset : last->offset + last->size; at < end;) {
        const Register* const next =
            devices_.registers().find(record.device, at, 1, abi::is_write(record));
        last = next == nullptr ? last : next;
        at = next == nullptr ? at + 1 : std::max(next->offset + next->size, at + 1);
    }
    return last == place.reg
               ? ""
               : fmt::format("{}..{}", registers::register_text(place.reg, place.offset),
                             last->name);
}

const Register* Naming::variable_of(const abi::Record& record, std::uint64_t offset) {
    if (record.device != tree::guest_memory_in(reader_.regions())) {
        return nullptr;
    }
    if (!variables_) {
        variables_.emplace(reader_.symbols());
    }
    return variables_->find(record.va, offset);
}

Id Naming::find_place(const abi::Record& record) {
    const std::uint64_t key = place_key(record, variant(record));
    const auto [known, fresh] = place_ids_.try_emplace(key, static_cast<Id>(places_.size()));
    if (fresh) {
        const std::uint64_t address = abi::physical_address(record);
        const std::uint64_t base = reader_.names().base(record.device);
        Place place{text(intern(reader_.names()[record.device])),
                    address < base ? address : address - base};
        if (trace::kind_of(record.type).is(trace::Is::of_register)) {
            place.reg = devices_.registers().find(record.device, place.offset,
                                                  abi::access_size(record), abi::is_write(record));
            if (place.reg == nullptr) {
                place.reg = variable_of(record, place.offset);
            }
            if (const std::string all = covered_by(record, place); !all.empty()) {
                place.registers = text(intern(all));
            }
        }
        places_.push_back(place);
    }
    return known->second;
}

// Each address has two slots, with the recently used one first: with single slots, the 500
// addresses of a boot displace each other too often.
const Naming::Found& Naming::found_at(std::uint32_t address, std::uint64_t time) {
    const auto fits = [&](const Found& found) {
        return found.version == code_version_ && found.address == address && found.times.has(time);
    };
    Found* const found = &found_[(mixed(address) >> 40) % (addresses / 2) * 2];
    if (!fits(found[0])) [[unlikely]] {
        std::swap(found[0], found[1]);
        if (!fits(found[0])) {
            found[0] = {{}, code_version_, address, no_id};
            found[0].id = find_location(address, time, found[0]);
        }
    }
    return found[0];
}

Id Naming::location_of(std::uint32_t address, std::uint64_t time, Times& times) {
    const Found& found = found_at(address, time);
    times.narrow(found.times.from, found.times.to);
    return found.id;
}

Id Naming::code_of(const abi::Record& record) {
    return has_code(record) ? found_at(record.pc & ~1u, record.time).id : no_id;
}

bool Naming::each_name(std::string_view kind, const symbols::VisitName& visit) {
    if (kind == "function") {
        each_function(visit);
        return true;
    }
    const auto names = names_of(kind);
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
        visit(name);
    }
    return names.has_value();
}

std::optional<std::vector<std::string>> Naming::names_of(std::string_view kind) {
    if (kind == "task") {
        return reader_.tasks().names();
    }
    if (kind == "interrupt") {
        return devices_.interrupts().all_names();
    }
    std::vector<std::string> names;
    for (std::uint16_t i = 0; i < devices_.devices().size(); ++i) {
        const registers::Description* const description = devices_.registers().description(i);
        if (description != nullptr && !registers::add_names(*description, names)) {
            return std::nullopt;
        }
    }
    return names;
}

std::size_t Naming::TaskHash::operator()(const trace::KnownTask& task) const {
    static_assert(std::has_unique_object_representations_v<trace::KnownTask>);
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&task), sizeof task});
}

Id Naming::task_of(const abi::Record& record, Times& times) {
    if (record.type == abi::RecordType::payload) { // Record::task is a part of it
        return no_id;
    }
    const trace::TaskTable::Found found = reader_.tasks().find(record);
    times.narrow(found.from, found.to);
    if (found.task == nullptr) {
        return no_id;
    }
    const auto [known, fresh] = task_ids_.try_emplace(*found.task, static_cast<Id>(tasks_.size()));
    if (fresh) {
        tasks_.push_back(&kept_tasks_.emplace_back(trace::task_of(*found.task)));
    }
    return known->second;
}

// Most records are of no such device.
Id Naming::interrupt_of(const Event& event) {
    return event.record.type == abi::RecordType::access &&
                   devices_.interrupts().are_of(event.record.device)
               ? interrupt_in(event)
               : no_id;
}

Id Naming::interrupt_in(const Event& event) {
    registers::InterruptNames& names = devices_.interrupts();
    if (!names.says(event.record, event.offset())) {
        return no_id;
    }
    interrupt_ids_.resize(registers::InterruptNames::values);
    Id& id = interrupt_ids_[event.record.value % registers::InterruptNames::values];
    if (id == no_id) {
        id = intern(names.text(event.record.value));
    }
    return id;
}

Id Naming::text_of(const Event& event) {
    return intern(reading::text_of(event.record, devices_.devices(), hidden_));
}

// Its records follow its own in the section (TraceReader::records()).
Id Naming::payload_of(const Event& event) {
    const auto all = reader_.records();
    const auto group =
        all.subspan(std::min(event.number - reader_.first_number(), std::uint64_t{all.size()}));
    Payload& payload = kept_payloads_.emplace_back();
    payload.begins = event.record.type != abi::RecordType::payload;
    payload.ends = false;
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (i > 0 && !trace::belong_together(group[i - 1], group[i])) {
            break;
        }
        payload.ends = !abi::goes_on(group[i]);
        abi::Record piece = group[i];
        if (hidden_) {
            strip_code(piece);
        } else if (piece.type == abi::RecordType::payload) {
            const auto* const bytes = abi::bytes_of(piece);
            payload.bytes.insert(payload.bytes.end(), bytes, bytes + abi::bytes_in(piece));
        }
        if (i > 0) {
            payload.pieces.push_back(piece);
        }
    }
    text_bytes_ += payload.pieces.size() * sizeof(abi::Record);
    payloads_.push_back(&payload);
    return static_cast<Id>(payloads_.size() - 1);
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
