// Makes events of records, and knows their names: devices, registers, functions, tasks.
#pragma once

#include "lib/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "registers/trace_devices.hpp"
#include "symbols/module_files.hpp"
#include "symbols/symbols.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mmioscope::reading {

/// What a marker, a change or a fault says in words; of a marker, this record's piece.
std::string text_of(const abi::Record& record);

/// `ticks` of a counter of `frequency` Hz, or themselves if that is 0.
std::uint64_t nanoseconds(std::uint64_t ticks, std::uint32_t frequency);

/// The most ticks that are no more than so many nanoseconds.
std::uint64_t ticks(std::uint64_t nanoseconds, std::uint32_t frequency);

class Naming final : public Names {
public:
    /// `reader` has read what stands in front of the records, and outlives this. `sources`: what
    /// the user says about devices. Throws Error (bad_input) about those.
    explicit Naming(const trace::TraceReader& reader, const registers::Sources& sources = {});

    /// Times are since `time` (CNTPCT) instead of the first record's.
    void start_at(std::uint64_t time) { start_ = time; }

    /// From now on events tell nobody where the guest's code is (strip_code.hpp).
    void hide_code() { hidden_ = true; }

    /// The next record of the trace as an event, which asks for its names here.
    Event event(const abi::Record& record, std::uint64_t number = 0);

    /// The next record, of which nobody wants an event.
    void pass(const abi::Record& record) {
        catch_up();
        watch(record);
    }

    /// So many names are kept that it is time to forget them: between two blocks of at most
    /// most_in_block records.
    bool full() const;
    /// Ids of places, code and texts mean nothing any more.
    void forget();
    static constexpr std::size_t most_in_block = 4096;

    /// The id of a text that no record says.
    Id intern(std::string_view text);

    Id place_of(const Event& event) override;
    Id code_of(const Event& event) override;
    Id caller_of(const Event& event) override;
    Id task_of(const Event& event) override;
    Id interrupt_of(const Event& event) override;
    Id text_of(const Event& event) override;

    /// Where functions get their names from; to be filled before the first event.
    symbols::Symbols& symbols() { return symbols_; }
    /// Files of modules that lie where the trace says; likewise.
    symbols::ModuleFiles& module_files() { return module_files_; }
    /// Those of which the trace has told no place so far.
    std::vector<std::string> unplaced_modules() const;

    /// Adds the functions that the trace itself carries; `report` is told why it cannot.
    void add_own_symbols(const trace::TraceReader::Report& report);

    /// The trace's devices, with what their tree and their descriptions say.
    const registers::TraceDevices& devices() const { return devices_; }

private:
    /// What was looked up last of all that would stand in the same slot: no map is asked twice in
    /// a row for the same. Good from `from` on for `span` ticks, and as long as nothing was learnt.
    struct Slot {
        std::uint64_t key = 0;
        std::uint64_t from = 0;
        std::uint64_t span = 0;
        std::uint32_t version = 0; ///< 0: nothing
        Id id = no_id;
    };
    template <std::size_t size>
    using Slots = std::array<Slot, size>;

    void catch_up() {
        if (reader_.changes() != seen_changes_) {
            learn();
        }
        if (watched_) {
            apply_watched();
        }
    }
    void learn();
    void watch(const abi::Record& record);
    void apply_watched();

    Id find_place(std::uint64_t key, const Event& event);
    Id location_of(std::uint32_t address, std::uint64_t time);
    Id find_location(std::uint32_t address, std::uint64_t time, Slot& slot);
    std::optional<Location> in_module(const trace::LoadedModule& module, std::uint32_t address,
                                      std::uint64_t time);
    Id function_of(Id location) const { return functions_[location]; }

    // Names are kept up to so many of a kind, and those of a block more.
    static constexpr std::size_t most_kept = 8192;
    static constexpr std::size_t most_text = 1 << 20; ///< characters, likewise

    const trace::TraceReader& reader_;
    symbols::Symbols symbols_;
    symbols::ModuleFiles module_files_;
    registers::TraceDevices devices_;
    std::optional<std::uint64_t> start_;
    std::uint32_t frequency_ = 0; ///< of the counter, Hz; 0: not known
    bool hidden_ = false;
    std::uint64_t seen_changes_ = 0;
    std::uint64_t seen_device_changes_ = 0;

    Slots<1024> place_slots_;
    std::unordered_map<std::uint64_t, Id> place_ids_; ///< by what find_place() makes of a record
    std::optional<abi::Record> watched_; ///< the event's, which registers' conditions depend on

    Slots<4096> location_slots_;
    std::uint32_t code_version_ = 1;
    std::size_t seen_modules_ = 0;
    std::unordered_map<std::uint64_t, Id> location_ids_; ///< by address and number of the module
    std::deque<Location> kept_locations_;
    std::vector<Id> functions_{no_id}; ///< of each location the first one in the same function
    std::unordered_map<std::string, Id> function_ids_;

    Slots<512> task_slots_;
    std::unordered_map<const Task*, Id> task_ids_;

    std::vector<Id> interrupt_ids_; ///< by the value's bits 12:0
    std::unordered_map<std::string, Id> text_ids_;
    std::size_t text_bytes_ = 0;
};

} // namespace mmioscope::reading
