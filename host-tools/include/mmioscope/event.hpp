// One event of a trace, with the names of its numbers: what commands, filters, exports and plug-ins
// see. A plug-in needs only this header, abi/record.hpp and abi/payload.hpp.
//
// An event is its record plus small numbers (ids) that stand for names. A name is looked up on
// demand, once for each thing that it names.
#pragma once

#include "abi/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace mmioscope {

/// Some bits of a register.
struct Field {
    std::string name;
    unsigned low = 0;   ///< least significant bit, 0 to 63
    unsigned width = 1; ///< bits, 1 to 64
    /// Names of values, if any.
    std::vector<std::pair<std::uint64_t, std::string>> values;
};

/// A register of a device, from its description.
struct Register {
    std::string name;
    std::uint64_t offset = 0; ///< bytes from the start of the `reg` entry
    unsigned size = 4;        ///< bytes
    std::string description;  ///< one line, may be empty
    std::vector<Field> fields;
};

/// A line of source code, and its function.
struct SourceLine {
    std::string function;
    std::string file;
    unsigned line = 0;
};

/// The function at an address of the guest's code.
struct Location {
    std::string function;
    std::uint32_t offset = 0; ///< bytes from the function's start
    std::string module;       ///< empty: the kernel itself
    /// Inlined functions from DWARF, innermost first; empty without DWARF.
    std::vector<SourceLine> lines;
    /// Bytes of the function, all of which have this name; 0: not known.
    std::uint32_t size = 0;
};

/// A task of the guest.
struct Task {
    std::uint32_t pid = 0;  ///< of the thread, in the first PID namespace
    std::uint32_t tgid = 0; ///< of the process
    std::string comm;
};

/// Stands for a name of some kind (Names); the first is 1.
using Id = std::uint32_t;
inline constexpr Id no_id = 0;        ///< no name
inline constexpr Id unasked = ~Id{0}; ///< not looked up yet

/// The device and register of an access.
struct Place {
    std::string_view device = "-"; ///< "-": the address belongs to no region
    std::uint64_t offset = 0;      ///< bytes from the region's start; without a region the address
    const Register* reg = nullptr; ///< of its first byte
    /// If it covers more than that register: the names of the first and the last one, "LO..HI".
    std::string_view registers = {};
};

/// The bytes that a record owns (abi/payload.hpp).
struct Payload {
    std::vector<std::uint8_t> bytes;
    std::vector<abi::Record> pieces; ///< the records behind the event's own that have them
    bool begins = true;              ///< false: the record that owns them is missing
    bool ends = true;                ///< false: their end is missing
};

struct Event;

/// The names that the ids of a trace's events stand for. Ids are valid until the trace forgets
/// them: at the end of a block of records, if there are very many different names. Consumers are
/// told when this happens (reading/drive.hpp). Descriptions of registers are never forgotten.
class Names {
public:
    virtual ~Names() = default;
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    const Place& place(Id id) const { return places_[id]; }
    const Location* location(Id id) const { return locations_[id]; } ///< null: no_id
    const Task* task(Id id) const { return tasks_[id]; }             ///< null: no_id
    std::string_view text(Id id) const { return texts_[id]; }        ///< empty: no_id
    const Payload& payload(Id id) const { return *payloads_[id]; }   ///< without bytes: no_id

    /// Looks up place, code, caller, task and context of those events whose caller has not been
    /// looked up.
    virtual void resolve(std::span<const Event> events) = 0;
    /// Looks up the place of those events whose place has not been looked up.
    virtual void resolve_places(std::span<const Event> events) { resolve(events); }
    // For an event whose id has not been looked up.
    virtual Id code_of(const Event& event);
    virtual Id interrupt_of(const Event& event) = 0;
    virtual Id text_of(const Event& event) = 0;
    virtual Id payload_of(const Event& /*event*/) { return no_id; }
    /// Places of code (location()): that of the event, and where its function and that one's
    /// callers were called, as far as known.
    virtual std::vector<Id> stack_of(const Event& /*event*/) { return {}; }

    /// What a person noted of events, by Event::number.
    const std::map<std::uint64_t, std::string>& notes() const { return notes_; }

    /// The id of a text that is in no record; no_id: this object keeps no texts.
    virtual Id intern(std::string_view /*text*/) { return no_id; }

protected:
    Names() = default;

    // Indexed by id; element 0 is for no_id.
    std::vector<Place> places_{1};
    std::vector<const Location*> locations_{nullptr};
    std::vector<const Task*> tasks_{nullptr};
    std::vector<std::string_view> texts_{{}};
    inline static const Payload no_payload{};
    std::vector<const Payload*> payloads_{&no_payload};
    std::map<std::uint64_t, std::string> notes_;
};

/// The Names of an event without names.
inline Names& no_names();

/// Cheap to copy; a copy stays valid if settle() was called first. Unknown values are null or
/// empty.
struct Event {
    abi::Record record{};
    std::uint64_t number = 0;      ///< of the record in the trace, from 1 on; 0: not from a trace
    std::uint64_t nanoseconds = 0; ///< since the trace's first record
    Names* names = &no_names();
    struct Ids {
        Id place = unasked;
        Id code = unasked;
        Id caller = unasked;
        Id task = unasked;
        Id interrupt = unasked;
        Id text = unasked;
    };
    mutable Ids ids{};
    /// Events with the same number have the same place, code, caller, task and mode. Numbers are
    /// never reused, not even for other traces. 0: not looked up, or none.
    mutable std::uint64_t context_number = 0;
    Id carried_out_id = no_id;       ///< of a text, carried_out()
    mutable Id payload_id = unasked; ///< of payload()

    // The ids, and their names.
    Id place_id() const {
        if (ids.place == unasked) [[unlikely]] {
            names->resolve_places({this, 1});
        }
        return ids.place;
    }
    Id code_id() const {
        return ids.code != unasked ? ids.code : (ids.code = names->code_of(*this));
    }
    Id caller_id() const { return resolved().caller; }
    Id task_id() const { return resolved().task; }
    Id interrupt_id() const {
        return ids.interrupt != unasked ? ids.interrupt
                                        : (ids.interrupt = names->interrupt_of(*this));
    }
    /// An access has a text only if the program gave it one.
    Id text_id() const {
        if (ids.text == unasked) {
            ids.text = record.type == abi::RecordType::access ? no_id : names->text_of(*this);
        }
        return ids.text;
    }
    std::uint64_t context() const { return resolved(), context_number; }

    const Place& place() const { return names->place(place_id()); }
    std::string_view device() const { return place().device; }
    std::uint64_t offset() const { return place().offset; }
    const Register* reg() const { return place().reg; }
    /// The function at Record::pc.
    const Location* code() const { return names->location(code_id()); }
    /// The caller of that function: from Record::lr, or from a better source.
    const Location* caller() const { return names->location(caller_id()); }
    const Task* task() const { return names->task(task_id()); }
    /// The name of the interrupt that this access to a GIC acknowledged or ended.
    std::string_view interrupt() const { return names->text(interrupt_id()); }
    /// The text of a marker, or of another record that has one.
    std::string_view text() const { return names->text(text_id()); }

    /// What a person noted of it; empty: nothing.
    std::string_view note() const {
        const auto& notes = names->notes();
        const auto found = notes.empty() ? notes.end() : notes.find(number);
        return found == notes.end() ? std::string_view() : std::string_view(found->second);
    }

    /// Of a command: the register and value, written before it, that it carries out.
    std::string_view carried_out() const { return names->text(carried_out_id); }

    /// The bytes behind its record: they are part of the event, as far as they are not lost. A
    /// piece whose owner is lost is an event of its own, and has its bytes and those behind it.
    const Payload& payload() const {
        if (payload_id == unasked) {
            const bool none = record.type != abi::RecordType::payload && !abi::goes_on(record);
            payload_id = none ? no_id : names->payload_of(*this);
        }
        return names->payload(payload_id);
    }

    /// The functions that had not returned, the event's own first; empty: it has no stack.
    std::vector<const Location*> stack() const {
        std::vector<const Location*> all;
        if (abi::goes_on(record)) {
            for (const Id id : names->stack_of(*this)) {
                all.push_back(names->location(id));
            }
        }
        return all;
    }

    /// Looks up the ids of all `events`, which must be of one trace: faster than one by one. Does
    /// nothing if this has been done.
    static void resolve(std::span<const Event> events) {
        if (!events.empty() && events.front().ids.caller == unasked) {
            events.front().names->resolve(events);
        }
    }
    /// Looks up only their places.
    static void resolve_places(std::span<const Event> events) {
        if (!events.empty() && events.front().ids.place == unasked) {
            events.front().names->resolve_places(events);
        }
    }
    /// Looks up all names, and the payload. Call this before you keep a copy, while the event is
    /// the last one that was read: what the trace says later about tasks, modules and registers
    /// then changes nothing.
    void settle() const { resolved(), interrupt_id(), text_id(), payload(); }

private:
    const Ids& resolved() const {
        if (ids.caller == unasked) [[unlikely]] {
            names->resolve({this, 1});
        }
        return ids;
    }
};
static_assert(std::is_trivially_copyable_v<Event> && sizeof(Event) == 128);

// Override this to look up the code alone, if that is cheaper.
inline Id Names::code_of(const Event& event) {
    resolve({&event, 1});
    return event.ids.code;
}

/// A copy of an event that may outlive its trace.
struct KeptEvent {
    KeptEvent() = default;
    explicit KeptEvent(const Event& event)
        : record(event.record), number(event.number), nanoseconds(event.nanoseconds),
          device(event.device()), offset(event.offset()), interrupt(event.interrupt()),
          text(event.text()), carried_out(event.carried_out()), payload(event.payload()) {
        const auto copy = [](auto& to, const auto* from) {
            if (from != nullptr) {
                to = *from;
            }
        };
        copy(reg, event.reg()), copy(code, event.code());
        copy(caller, event.caller()), copy(task, event.task());
    }

    abi::Record record{};
    std::uint64_t number = 0;
    std::uint64_t nanoseconds = 0;
    std::string device = "-";
    std::uint64_t offset = 0;
    // Empty: not known.
    std::optional<Register> reg;
    std::optional<Location> code;
    std::optional<Location> caller;
    std::optional<Task> task;
    std::string interrupt;
    std::string text;
    std::string carried_out;
    Payload payload;
};

/// For templates that take events or records.
inline const abi::Record& record_of(const Event& event) {
    return event.record;
}
inline const abi::Record& record_of(const abi::Record& record) {
    return record;
}

/// One event that stands for several, such as repeated accesses.
struct DerivedEvent {
    /// A number or a text in output for programs.
    struct Field {
        std::string_view name; ///< lower case, words joined by '_'
        std::variant<std::uint64_t, std::string> value;
    };

    std::string_view kind; ///< one word, such as "repeat"
    Event first;           ///< settled
    abi::Record last;      ///< the record of the last event
    std::uint64_t last_number = 0;
    std::uint64_t last_nanoseconds = 0;
    std::uint64_t count = 1; ///< events
    std::string text;        ///< for people, printed after the first event: "x12"
    std::vector<Field> fields;

    /// The first event, with the text `words`.
    Event with_text(std::string_view words) const {
        Event event = first;
        event.ids.text = event.names->intern(words);
        return event;
    }
};

inline Names& no_names() {
    class None final : public Names {
        void resolve(std::span<const Event> events) override {
            for (const Event& event : events) {
                if (event.ids.caller == unasked) {
                    event.ids.place = event.ids.code = event.ids.caller = event.ids.task = no_id;
                }
            }
        }
        Id interrupt_of(const Event&) override { return no_id; }
        Id text_of(const Event&) override { return no_id; }
    };
    static None none;
    return none;
}

} // namespace mmioscope
