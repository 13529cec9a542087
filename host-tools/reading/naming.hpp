// Makes events from records, and finds their names: devices, registers, functions, tasks.
#pragma once

#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "reading/strip_code.hpp"
#include "reading/variables.hpp"
#include "records/notes.hpp"
#include "records/ticks.hpp"
#include "registers/trace_devices.hpp"
#include "symbols/module_files.hpp"
#include "symbols/symbols.hpp"
#include "symbols/unwind.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mmioscope::reading {

/// The words for a record whose kind has some; for a marker, only this record's piece. `devices`:
/// the trace's, if known. `hidden`: without what shows the guest's code.
std::string text_of(const abi::Record& record, std::span<const registers::Device> devices = {},
                    bool hidden = false);

class Naming final : public Names {
public:
    /// `reader` has read everything before the records, and outlives this. `sources`: what the user
    /// says about devices. Throws Error (bad_input) if that is wrong.
    explicit Naming(const trace::TraceReader& reader, const registers::Sources& sources = {});

    /// What the user should know of the files with descriptions (TraceDevices::remarks()).
    std::vector<std::string> remarks() { return devices_.remarks(); }

    /// Sets CNTPCT at time 0, instead of the first record's.
    void start_at(std::uint64_t time) { start_ = time; }

    /// What a person noted of the events.
    void note(trace::Notes notes) { notes_ = std::move(notes); }

    /// From now on events do not show where the guest's code is (strip_code.hpp).
    void hide_code() { hidden_ = true; }

    /// Makes an event, which looks up its names here, from the next record of the trace.
    Event event(const abi::Record& record, std::uint64_t number = 0) {
        Event event;
        make(event, record, number);
        return event;
    }
    /// Likewise, in place of an older event.
    void make(Event& event, const abi::Record& record, std::uint64_t number) {
        pass(record);
        fill(event, record, number);
    }

    /// Call it for the next record if there will be no event for it, or fill() makes it.
    void pass(const abi::Record& record) {
        catch_up();
        if (watches_) {
            watch(record);
        }
    }
    /// Whether pass() must be called for all records up to the next section of the trace; otherwise
    /// for none.
    bool minds_passing() {
        catch_up();
        return watches_;
    }
    /// Likewise, from what is known so far: for use while a section is read.
    bool minded_passing() const { return watches_; }
    /// Makes `event` from `record`, the last record passed if passing is needed.
    void fill(Event& event, const abi::Record& record, std::uint64_t number) {
        fill({&event, 1}, {&record, 1}, 1, number);
    }

    /// Makes events from those of `records`, at most 64, with a bit set in `which`; they need not
    /// be passed. `number` is the first record's. Returns the number of events.
    std::size_t fill(std::span<Event> events, std::span<const abi::Record> records,
                     std::uint64_t which, std::uint64_t number);

    /// The register contents that other registers depend on, before the next record.
    registers::DeviceRegisters::Held held();
    /// The reader has moved to a place where registers hold `held`; also forgets names.
    void go_to(const registers::DeviceRegisters::Held& held);

    // For a record from which fill() may make an event.
    Id place_of(const abi::Record& record);
    Id code_of(const abi::Record& record);
    std::uint64_t context_of(const abi::Record& record, std::uint64_t number);

    /// Whether there are so many names that they should be forgotten. Call it between blocks of at
    /// most most_in_block records.
    bool full() const;
    /// Makes all ids invalid.
    void forget();
    static constexpr std::size_t most_in_block = 256;

    Id intern(std::string_view text) override;
    void resolve(std::span<const Event> events) override;
    void resolve_places(std::span<const Event> events) override;
    Id code_of(const Event& event) override { return code_of(event.record); }
    Id interrupt_of(const Event& event) override;
    Id text_of(const Event& event) override;
    Id payload_of(const Event& event) override;
    std::vector<Id> stack_of(const Event& event) override;
    /// The addresses of stack_of() behind the first, as symbols::callers_of() has them, of a record
    /// of the last block.
    std::vector<std::uint32_t> callers_on_stack(const abi::Record& record, std::uint64_t number);

    /// Where function names come from; fill it before the first event.
    symbols::Symbols& symbols() { return symbols_; }
    /// Files for modules, which lie where the trace says; fill it likewise.
    symbols::ModuleFiles& module_files() { return module_files_; }
    /// Calls `visit` with each name of a `kind`: "register" and "interrupt" of the trace's devices,
    /// "task" and "function" as far as they are known. False: there are too many.
    bool each_name(std::string_view kind, const symbols::VisitName& visit);

    /// Modules whose address is not known so far.
    std::vector<std::string> unplaced_modules() const;

    /// Adds the functions that the trace itself has; `report` gets the reason if it cannot.
    void add_own_symbols(const trace::TraceReader::Report& report);

    /// The trace's devices, with what their tree and descriptions say.
    const registers::TraceDevices& devices() const { return devices_; }

private:
    /// When something is valid: the first and the last tick.
    struct Times {
        std::uint64_t from = 0;
        std::uint64_t to = UINT64_MAX;

        bool has(std::uint64_t time) const { return time >= from && time <= to; }
        void narrow(std::uint64_t to_from, std::uint64_t to_to) {
            from = std::max(from, to_from);
            to = std::min(to, to_to);
        }
    };
    /// The result for a code address.
    struct Found {
        Times times;
        std::uint32_t version = 0; ///< value of code_version_; 0: empty
        std::uint32_t address = 0;
        Id id = no_id;
    };
    /// The result for a place, and all fields of a record that it depends on.
    struct KnownPlace {
        std::uint64_t address = 0;  ///< together with the region's device
        std::uint32_t access = ~0u; ///< initial value that no record has
        Id id = no_id;
    };
    /// All fields of a record that place, code, caller and task depend on.
    struct Key {
        std::uint64_t place_and_task = 0; ///< their addresses
        std::uint64_t code = 0;
        std::uint64_t access = 0;
        std::uint32_t stack = 0; ///< and which registers the region has at the moment
        bool operator==(const Key&) const = default;
        std::size_t slot() const; ///< index in context_places_
    };
    /// The result of the last lookup.
    struct Context {
        Key key;
        Times times;
        std::uint64_t number = 0;
        std::uint32_t version = 0; ///< value of version_; 0: empty
        struct Ids {
            Id place = no_id;
            Id code = no_id;
            Id caller = no_id;
            Id task = no_id;
            Id interrupt = no_id; ///< unasked: depends on the value
            bool operator==(const Ids&) const = default;
        } ids;
    };

    // The watched record belongs to the devices as they were before the trace changed them.
    void catch_up() {
        if (watched_) {
            apply_watched();
        }
        if (reader_.changes() != seen_changes_) {
            learn();
        }
    }
    std::optional<std::vector<std::string>> names_of(std::string_view kind);
    void each_function(const symbols::VisitName& visit);
    void learn();
    unsigned variant(const abi::Record& record) {
        return watches_ ? devices_.registers().variant(record.device) : 0;
    }
    // A field's value may decide which register another access means; this takes effect with the
    // next record.
    void watch(const abi::Record& record) {
        if (devices_.registers().watches(record.device)) {
            watched_ = {record,
                        abi::physical_address(record) - reader_.names().base(record.device)};
        }
    }
    void apply_watched();

    class Code;

    bool has_code(const abi::Record& record) const;
    trace::Caller caller_of(const abi::Record& record, std::uint64_t number);
    const symbols::UnwindTable& kernel_frames();
    std::uint32_t return_address(const abi::Record& record, trace::Caller caller);
    Key key_of(const abi::Record& record, std::uint32_t returns_to);
    const Context& context(const abi::Record& record, trace::Caller caller);
    void reach_symbols();
    void reach_modules();
    void renew(const abi::Record& record, std::uint32_t returns_to);
    std::uint16_t next_context();
    void find_all(const abi::Record& record, std::uint32_t returns_to, Context& to);
    Id known_place(const abi::Record& record);
    Id find_place(const abi::Record& record);
    const Register* variable_of(const abi::Record& record, std::uint64_t offset);
    std::string covered_by(const abi::Record& record, const Place& place);
    void forget_places();
    Id task_of(const abi::Record& record, Times& times);
    Id interrupt_in(const Event& event);
    const Found& found_at(std::uint32_t address, std::uint64_t time);
    Id location_of(std::uint32_t address, std::uint64_t time, Times& times);
    bool in_one_function(Id left, Id right) const;
    bool is_accessor(Id id);
    Id find_location(std::uint32_t address, std::uint64_t time, Found& found);
    std::optional<Location> in_module(const trace::LoadedModule& module, std::uint32_t address,
                                      std::uint64_t time);

    // Limit of names of a kind, beyond which only one more block's are added.
    static constexpr std::size_t most_kept = 1024;
    static constexpr std::size_t most_text = 1 << 20; ///< limit in characters, likewise

    const trace::TraceReader& reader_;
    symbols::Symbols symbols_;
    symbols::ModuleFiles module_files_;
    registers::TraceDevices devices_;
    std::optional<std::uint64_t> start_;
    std::uint32_t frequency_ = 0; ///< of the counter, Hz; 0: unknown
    bool hidden_ = false;
    bool watches_ = false; ///< some device has registers that depend on others
    std::uint64_t seen_changes_ = 0;
    std::uint64_t seen_device_changes_ = 0;

    std::vector<Context> contexts_; ///< the first one is unused; the oldest is replaced first
    std::vector<std::uint16_t> context_places_; ///< in contexts_
    std::size_t newest_context_ = 0;
    std::uint64_t context_number_ = 0;                ///< the last number given
    std::uint32_t version_ = 1;                       ///< grows with everything learnt
    std::unordered_map<std::uint64_t, Id> place_ids_; ///< by place_key()
    std::vector<KnownPlace> known_places_;            ///< the recent ones
    struct Watched {
        abi::Record record;
        std::uint64_t offset;
    };
    std::optional<Watched> watched_; ///< the last record that registers' conditions depend on

    std::vector<Found> found_;
    std::uint32_t code_version_ = 1;
    std::optional<Variables> variables_;         ///< nothing: not asked for
    std::optional<symbols::UnwindTable> frames_; ///< the kernel's; nothing: not asked for
    std::optional<symbols::Reach> reach_;        ///< of all code with names; nothing: unknown
    std::uint32_t seen_modules_ = 0;
    std::uint32_t seen_tasks_ = 0;
    std::unordered_map<Id, std::uint8_t> accessors_;     ///< 1: it is one, 2: it is none
    std::unordered_map<std::uint64_t, Id> location_ids_; ///< by address and number of the module
    std::deque<Location> kept_locations_;

    struct TaskHash {
        std::size_t operator()(const trace::KnownTask& task) const;
    };
    std::unordered_map<trace::KnownTask, Id, TaskHash> task_ids_;
    std::deque<Task> kept_tasks_;

    std::vector<Id> interrupt_ids_; ///< by the value's bits 12:0
    std::unordered_map<std::string, Id> text_ids_;
    std::size_t text_bytes_ = 0; ///< and those of payloads
    std::deque<Payload> kept_payloads_;
};

} // namespace mmioscope::reading
