#include "analysis/count.hpp"

#include "system/text_buffer.hpp"

#include <utility>

namespace mmioscope::analysis {

namespace {

void set(std::string& to, std::string_view first, char between, std::string_view second) {
    to = first;
    to += between;
    to += second;
}

void set_function(std::string& to, const Location* location, std::uint32_t address) {
    if (location == nullptr) {
        to = hex_text(address, 8);
        return;
    }
    to = location->function;
    if (!location->module.empty() || to.empty()) {
        to += to.empty() ? "[" : " [";
        to += location->module;
        to += ']';
    }
}

void set_register(std::string& to, const Event& event) {
    if (event.reg() != nullptr) {
        set(to, event.device(), ' ', event.reg()->name);
    } else {
        to = event.device();
        to += " +";
        to += hex_text(event.offset(), 3);
    }
}

void set_interrupt(std::string& to, const Event& event) {
    if (event.interrupt_id() != no_id) {
        to = event.interrupt();
    } else {
        set(to, "interrupt", ' ', std::to_string(event.record.value));
    }
}

} // namespace

void set_name(std::string& to, const Event& event, Key key) {
    const abi::Record& record = event.record;
    switch (key) {
    case Key::device: to = event.device(); return;
    case Key::reg: set_register(to, event); return;
    case Key::function: set_function(to, event.code(), record.pc); return;
    case Key::caller: // needs a function: only named code has a caller
        if (event.caller() == nullptr && event.code() != nullptr) {
            to = "(unknown)";
        } else {
            set_function(to, event.caller(), record.lr);
        }
        return;
    case Key::task:
        if (event.task() != nullptr) {
            set(to, event.task()->comm, ':', std::to_string(event.task()->pid));
        } else {
            to = hex_text(record.task, 8);
        }
        return;
    case Key::cpu:
        to = "cpu";
        to += std::to_string(record.cpu);
        return;
    case Key::interrupt: set_interrupt(to, event); return;
    case Key::stack:
        to = folded_stack(event);
        to = to.empty() ? "(no stack)" : to;
        return;
    case Key::size: set(to, std::to_string(abi::access_size(record)), ' ', "bytes"); return;
    }
}

std::string folded_stack(const Event& event) {
    std::string all, name;
    for (const Location* const location : event.stack()) {
        set_function(name, location, 0);
        all = all.empty() ? name : name + ';' + all;
    }
    return all;
}

std::string_view key_text(Key key) {
    static constexpr std::string_view words[] = {
        "device", "register", "function", "caller", "task", "cpu", "interrupt", "size", "stack"};
    return words[static_cast<unsigned>(key)];
}

std::vector<std::string> key_words() {
    std::vector<std::string> words;
    for (const Key key : all_keys()) {
        words.emplace_back(key_text(key));
    }
    words.emplace_back(key_text(Key::stack));
    return words;
}

const std::vector<Key>& all_keys() {
    static const std::vector<Key> all = {Key::device, Key::reg, Key::function,  Key::caller,
                                         Key::task,   Key::cpu, Key::interrupt, Key::size};
    return all;
}

void Count::add(const Count& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    reads += other.reads;
    writes += other.writes;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    duration += other.duration;
    longest = std::max(longest, other.longest);
}

namespace {

bool has(const std::vector<Key>& keys, Key key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// The id that stands for the event's name; `unasked`: none does.
Id id_of(Key key, const Event& event) {
    const auto known = [](Id id) { return id == no_id ? unasked : id; };
    switch (key) {
    case Key::device:
    case Key::reg: return event.place_id();
    case Key::function: return known(event.code_id());
    case Key::caller: return event.code_id() == no_id ? unasked : event.caller_id();
    case Key::task: return known(event.task_id());
    case Key::cpu: return event.record.cpu;
    case Key::interrupt: return known(event.interrupt_id());
    case Key::size: return abi::access_size(event.record);
    case Key::stack: return unasked;
    }
    return unasked;
}

bool is_of_place(Key key) {
    return key == Key::device || key == Key::reg || key == Key::size || key == Key::cpu;
}

} // namespace

Counts::Counts(std::vector<Key> keys, std::size_t most)
    : keys_(std::move(keys)), callers_(has(keys_, Key::caller)),
      interrupts_(has(keys_, Key::interrupt)), stacks_(has(keys_, Key::stack)),
      by_place_(std::ranges::all_of(keys_, is_of_place)) {
    for (const Key key : keys_) {
        tables_.try_emplace(key, Table{CountsByName(most), {}});
    }
}

void Counts::add_all(std::span<const Event> events) {
    if (by_place_) {
        Event::resolve_places(events);
        add_groups<false>(events, [](const Event& event) { return event.ids.place; });
        return;
    }
    Event::resolve(events);
    const auto context = [](const Event& event) {
        return event.context_number != 0 ? event.context_number : GroupKey::none;
    };
    if (interrupts_ || callers_ || stacks_) {
        add_groups<true>(events, context);
    } else {
        add_groups<false>(events, context);
    }
}

template <bool may_vary, typename Number>
void Counts::add_groups(std::span<const Event> events, const Number& number_of) {
    for (const Event& event : events) {
        const std::uint64_t number = number_of(event);
        const unsigned cpu = event.record.cpu;
        if (event.record.type != abi::RecordType::access || number == GroupKey::none) [[unlikely]] {
            add_other(event);
            continue;
        }
        Group& group = groups_.of({number, cpu}, [&](Group& other) {
            settle(other);
            begin(other, event);
        });
        group.count.add(event);
        if (may_vary && (stacks_ || event.interrupt_id() != no_id || event.code_id() == no_id))
            [[unlikely]] {
            add_varying(event);
        }
    }
}

// Counts an interrupt, or an access whose context and names are not kept.
void Counts::add_other(const Event& event) {
    if (event.record.type == abi::RecordType::access) {
        Group group;
        begin(group, event);
        group.count.add(event);
        settle(group);
        add_varying(event);
    } else if (interrupts_ && event.record.type == abi::RecordType::interrupt) {
        find(Key::interrupt, event).add(event);
    } else if (stacks_ && event.record.type == abi::RecordType::call &&
               abi::goes_on(event.record)) {
        find(Key::stack, event).add(event);
    }
}

// Counts by what a context does not determine: the stack, the interrupt, and the caller of unnamed
// code.
void Counts::add_varying(const Event& event) {
    if (stacks_) {
        find(Key::stack, event).add(event);
    }
    if (interrupts_ && event.interrupt_id() != no_id) {
        find(Key::interrupt, event).add(event);
    }
    if (callers_ && event.code_id() == no_id) {
        find(Key::caller, event).add(event);
    }
}

// Looks up its names once, now: those that come first stay.
void Counts::begin(Group& group, const Event& event) {
    for (auto& [key, table] : tables_) {
        const bool varies = key == Key::stack || key == Key::interrupt ||
                            (key == Key::caller && event.code_id() == no_id);
        group.names[static_cast<unsigned>(key)] = varies ? nullptr : &find(table, key, event);
    }
}

// Moves a group to the tables.
void Counts::settle(Group& group) {
    if (group.count.accesses() == 0) {
        return;
    }
    for (Count* name : group.names) {
        if (name != nullptr) {
            name->add(group.count);
        }
    }
    group.count = {};
}

Count& Counts::find(Table& table, Key key, const Event& event) {
    const Id id = id_of(key, event);
    if (id < table.by_id.size() && table.by_id[id] != nullptr) {
        return *table.by_id[id];
    }
    set_name(name_, event, key);
    Count& count = table.counts.of(name_);
    if (id != unasked) {
        table.by_id.resize(std::max<std::size_t>(table.by_id.size(), id + 1));
        table.by_id[id] = &count;
    }
    return count;
}

void Counts::forget() {
    groups_.forget([this](Group& group) { settle(group); });
    for (auto& [key, table] : tables_) {
        table.by_id.clear();
    }
}

const CountsByName& Counts::by(Key key) {
    forget();
    return tables_.at(key).counts;
}

} // namespace mmioscope::analysis
