// Places in a trace at which reading can continue.
#pragma once

#include "file/trace_reader.hpp"
#include "records/module_mark.hpp"
#include "registers/device_registers.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace mmioscope::reading {

struct Checkpoint {
    std::uint64_t in_front = 0; ///< number of records before it
    std::uint64_t latest = 0;   ///< latest time of these records
    trace::TraceReader::Place place;
    registers::DeviceRegisters::Held held;
    trace::MarkerTexts markers;
    trace::ModuleMarks module_marks;
};

/// Checkpoints in the order of the trace. Made only after the first step back, because most traces
/// are read once. If there are too many, or they use too much memory, every other one is dropped,
/// and the distance between new ones doubles.
class Checkpoints {
public:
    static constexpr std::size_t most = 64;
    static constexpr std::size_t most_bytes = 16 << 20;

    /// Whether to make another one after this many records.
    bool wants(std::uint64_t in_front) const {
        return used_ && in_front >= all_.back().in_front + between_;
    }
    /// Adds one after all others. The first one, which stays, is the start of the trace.
    void add(Checkpoint checkpoint);

    /// The checkpoint to go back to: the last one before all that are `behind`, or the first one.
    /// If one is behind, so are those after it.
    const Checkpoint& in_front_of(const std::function<bool(const Checkpoint&)>& behind);

    std::size_t size() const { return all_.size(); }
    std::size_t bytes() const; ///< approximate memory

private:
    std::vector<Checkpoint> all_;
    std::uint64_t between_ = 1 << 12; ///< least number of records between two
    bool used_ = false;               ///< somebody went back
};

// Finds marks in a trace: they stand for times in a range.

struct TraceOptions;

/// `options` with times in place of the marks that `from` and `to` name: the first one of that name
/// from `from` on, for `to` behind `from`'s. Reads the trace as far as needed if there are any.
/// Throws Error (bad_input) if the trace lacks one, or cannot be read twice.
TraceOptions with_times_of_marks(TraceOptions options);

} // namespace mmioscope::reading
