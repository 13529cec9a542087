// Gives a record its names: the device, the register, the function, the task.
#pragma once

#include "lib/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "registers/trace_devices.hpp"
#include "symbols/module_files.hpp"
#include "symbols/symbols.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mmioscope::reading {

/// What a marker, a change or a fault says in words; of a marker, this record's piece.
std::string text_of(const abi::Record& record);

/// `ticks` of a counter of `frequency` Hz, or themselves if that is 0.
std::uint64_t nanoseconds(std::uint64_t ticks, std::uint32_t frequency);

/// The most ticks that are no more than so many nanoseconds.
std::uint64_t ticks(std::uint64_t nanoseconds, std::uint32_t frequency);

class Naming {
public:
    /// `reader` has read what stands in front of the records, and outlives this. `sources`: what
    /// the user says about devices. Throws Error (bad_input) about those.
    explicit Naming(const trace::TraceReader& reader, const registers::Sources& sources = {});

    /// Times are since `time` (CNTPCT) instead of the first record's.
    void start_at(std::uint64_t time) {
        start_ = time;
        started_ = true;
    }

    /// `record` with its names; both are good until the next call.
    Event event(const abi::Record& record);

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
    void name_code(Event& event);
    const Location* code_at(std::uint32_t address, const Location* named, std::uint64_t time);
    std::optional<Location> in_module(const trace::LoadedModule& module, std::uint32_t address,
                                      std::uint64_t time);
    void name_register(Event& event);

    const trace::TraceReader& reader_;
    symbols::Symbols symbols_;
    symbols::ModuleFiles module_files_;
    std::unordered_map<std::uint64_t, std::optional<Location>> of_modules_; ///< its elements stay
    registers::TraceDevices devices_;
    std::string text_;
    std::uint64_t start_ = 0;
    bool started_ = false;
};

} // namespace mmioscope::reading
