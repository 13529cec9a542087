// Gives a record its names: the device, the register, the function, the task.
#pragma once

#include "lib/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "symbols/symbols.hpp"

#include <string>

namespace mmioscope::reading {

class Naming {
public:
    /// `reader` has read what stands in front of the records, and outlives this.
    explicit Naming(const trace::TraceReader& reader) : reader_(reader) {}

    /// `record` with its names; both are good until the next call.
    Event event(const abi::Record& record);

    /// Where functions get their names from; to be filled before the first event.
    symbols::Symbols& symbols() { return symbols_; }

private:
    std::uint64_t nanoseconds(std::uint64_t time) const;
    void name_code(Event& event);

    const trace::TraceReader& reader_;
    symbols::Symbols symbols_;
    std::string text_;
    std::uint64_t start_ = 0;
    bool started_ = false;
};

} // namespace mmioscope::reading
