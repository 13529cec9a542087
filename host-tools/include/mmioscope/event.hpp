// One event of a trace, with the names of its numbers: what commands, filters, exports and plug-ins
// see. Of the library's headers this one and abi/record.hpp are all that a plug-in needs.
//
// An event is a row: its record, and small numbers (ids) that stand for names. A name is looked up
// when somebody asks for it, once for each thing that has it.
#pragma once

#include "abi/record.hpp"

#include <cstddef>
#include <cstdint>
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

/// A line of source code, and the function it is of.
struct SourceLine {
    std::string function;
    std::string file;
    unsigned line = 0;
};

/// What stands at an address of the guest's code.
struct Location {
    std::string function;
    std::uint32_t offset = 0; ///< bytes from the function's start
    std::string module;       ///< empty: the kernel itself
    /// Innermost first, as DWARF tells of inlined functions; empty without DWARF.
    std::vector<SourceLine> lines;
};

/// A task of the guest's.
struct Task {
    std::uint32_t pid = 0;  ///< of the thread, in the first PID namespace
    std::uint32_t tgid = 0; ///< of the process
    std::string comm;
};

/// Stands for a name of some kind (Names), from 1 on.
using Id = std::uint32_t;
inline constexpr Id no_id = 0;        ///< there is none
inline constexpr Id unasked = ~Id{0}; ///< nobody has asked yet

/// What an access was to.
struct Place {
    std::string_view device = "-"; ///< "-": the address belongs to no region
    std::uint64_t offset = 0;      ///< bytes from the region's start; without one the address
    const Register* reg = nullptr;
};

struct Event;

/// What the ids of a trace's events stand for. They hold until it forgets them: where a trace has
/// very many different ones, at the end of a block of records. Descriptions of registers stay.
/// Whoever keeps events over that is told (reading/consumer.hpp).
class Names {
public:
    virtual ~Names() = default;
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    const Place& place(Id id) const { return places_[id]; }
    const Location* location(Id id) const { return locations_[id]; } ///< null: no_id
    const Task* task(Id id) const { return tasks_[id]; }             ///< null: no_id
    std::string_view text(Id id) const { return texts_[id]; }        ///< empty: no_id

    /// Place, code, caller, task and context of those of the events whose caller nobody has asked
    /// for.
    virtual void resolve(std::span<const Event> events) = 0;
    /// The place of those of them whose place nobody has asked for.
    virtual void resolve_places(std::span<const Event> events) { resolve(events); }
    // Of an event that has not been asked before.
    virtual Id code_of(const Event& event);
    virtual Id interrupt_of(const Event& event) = 0;
    virtual Id text_of(const Event& event) = 0;

    /// The id of a text that no record says; no_id: texts are not kept here.
    virtual Id intern(std::string_view /*text*/) { return no_id; }

protected:
    Names() = default;

    // By id; elements of no_id are there.
    std::vector<Place> places_{1};
    std::vector<const Location*> locations_{nullptr};
    std::vector<const Task*> tasks_{nullptr};
    std::vector<std::string_view> texts_{{}};
};

/// The names of an event that has none.
inline Names& no_names();

/// A row: copying it is cheap, and a copy is as good as the event itself once settle() was called.
/// What is not known is null or empty.
struct Event {
    abi::Record record{};
    std::uint64_t number = 0;      ///< of the record in the trace, from 1 on; 0: it is none of it
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
    /// Stands for place, code, caller, task and mode together: events with the same number have the
    /// same. It is never used again, of other traces neither. 0: nobody has asked, or there is
    /// none.
    mutable std::uint64_t context_number = 0;

    // The ids, and what they stand for.
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
    /// An access has none but what somebody gave it.
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
    /// Of Record::pc.
    const Location* code() const { return names->location(code_id()); }
    /// Another function: by Record::lr, or what is known better.
    const Location* caller() const { return names->location(caller_id()); }
    const Task* task() const { return names->task(task_id()); }
    /// That a GIC acknowledged, or was told the end of: what it is called.
    std::string_view interrupt() const { return names->text(interrupt_id()); }
    /// Of a marker, and of other records that say something in words.
    std::string_view text() const { return names->text(text_id()); }

    /// Asks for the ids of all `events`, which are of one trace: that takes less than one by one.
    /// Nothing, if somebody has done so before.
    static void resolve(std::span<const Event> events) {
        if (!events.empty() && events.front().ids.caller == unasked) {
            events.front().names->resolve(events);
        }
    }
    /// Likewise for their places alone.
    static void resolve_places(std::span<const Event> events) {
        if (!events.empty() && events.front().ids.place == unasked) {
            events.front().names->resolve_places(events);
        }
    }
    /// Asks for all names: to be called while the event is the last one that was read, by whoever
    /// keeps a copy. What is learnt later of tasks, modules and registers changes nothing then.
    void settle() const { resolved(), interrupt_id(), text_id(); }

private:
    const Ids& resolved() const {
        if (ids.caller == unasked) [[unlikely]] {
            names->resolve({this, 1});
        }
        return ids;
    }
};
static_assert(std::is_trivially_copyable_v<Event> && sizeof(Event) == 128);

// Whoever finds it alone with less overrides this.
inline Id Names::code_of(const Event& event) {
    resolve({&event, 1});
    return event.ids.code;
}

/// For what takes either.
inline const abi::Record& record_of(const Event& event) {
    return event.record;
}
inline const abi::Record& record_of(const abi::Record& record) {
    return record;
}

/// Several events told as one: accesses that repeat, and whatever else somebody makes of them.
struct DerivedEvent {
    /// A number or a text that programs are given.
    struct Field {
        std::string_view name; ///< lower case, words joined by '_'
        std::variant<std::uint64_t, std::string> value;
    };

    std::string_view kind; ///< what it is, in one word: "repeat"
    Event first;           ///< settled
    abi::Record last;      ///< the record of the last one
    std::uint64_t last_number = 0;
    std::uint64_t last_nanoseconds = 0;
    std::uint64_t count = 1; ///< events
    std::string text;        ///< for people, behind what the first one says: "x12, last 0x5"
    std::vector<Field> fields;

    /// The first event, with a text that says `words`.
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
