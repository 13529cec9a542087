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
    std::vector<std::uint32_t> next_sequence; ///< cpu_sequence behind each CPU's last record
    std::string text;                         ///< lines "key=value"
};

/// Everything throws Error if it cannot be written.
class Output {
public:
    virtual ~Output() = default;

    /// Takes records, in the order of time.
    virtual void append(std::span<const abi::Record> records) = 0;
    /// What was taken is written.
    virtual void flush() = 0;
    /// Nothing follows.
    virtual void finish(const Closing& closing) = 0;

    /// Why what was taken may not all be there, in spite of all; empty: it is.
    virtual std::string doubt() const { return ""; }
};

} // namespace mmioscope::guest
