// Places in a trace at which reading can continue.
#pragma once

#include "file/trace_reader.hpp"
#include "records/marker_text.hpp"
#include "records/module_mark.hpp"
#include "registers/device_registers.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace mmioscope::reading {

struct Checkpoint {
    std::uint64_t in_front = 0; ///< records
    std::uint64_t latest = 0;   ///< of their times
    trace::TraceReader::Place place;
    registers::DeviceRegisters::Held held;
    trace::MarkerTexts markers;
    trace::ModuleMarks module_marks;
};

/// In the order of the trace, from when somebody goes back for the first time: most traces are read
/// once. When there are too many, or they hold too much together, every other one goes, and those
/// to come are twice as far apart.
class Checkpoints {
public:
    static constexpr std::size_t most = 64;
    static constexpr std::size_t most_bytes = 16 << 20;

    /// Another one is wanted behind so many records.
    bool wants(std::uint64_t in_front) const {
        return used_ && in_front >= all_.back().in_front + between_;
    }
    /// Behind all others; the first one, which stays, is the trace's beginning.
    void add(Checkpoint checkpoint);

    /// To go back to: the last one in front of all that are `behind`, or the first one. What
    /// follows one that is behind is, too.
    const Checkpoint& in_front_of(const std::function<bool(const Checkpoint&)>& behind);

    std::size_t size() const { return all_.size(); }
    std::size_t bytes() const; ///< of memory, about

private:
    std::vector<Checkpoint> all_;
    std::uint64_t between_ = 1 << 12; ///< records, at least
    bool used_ = false;               ///< somebody went back
};

} // namespace mmioscope::reading
