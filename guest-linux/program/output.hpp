// Where a recording goes: a trace file, or the stream of a board (abi/wire.hpp).
#pragma once

#include "rings/area.hpp"
#include "records/losses.hpp"

#include <span>
#include <string>
#include <vector>

namespace mmioscope::guest {

/// What is known once a recording has ended.
struct Closing {
    abi::Ending ending;
    const trace::LossCounter& losses;
    std::vector<abi::Statistics> statistics;  ///< of each CPU
    std::vector<std::uint32_t> next_sequence; ///< cpu_sequence after each CPU's last record
    std::string text;                         ///< lines "key=value"
};

/// Each function throws Error if writing fails.
class Output {
public:
    virtual ~Output() = default;

    /// Adds records, in the order of time.
    virtual void append(std::span<const abi::Record> records) = 0;
    /// Writes what was added so far.
    virtual void flush() = 0;
    /// Ends the recording: nothing follows.
    virtual void finish(const Closing& closing) = 0;

    /// Why some of the added records may be missing; empty: none is.
    virtual std::string doubt() const { return ""; }
};

} // namespace mmioscope::guest
