// A trace opened for reading, from a path or standard input: its head, then event after event.
#pragma once

#include "lib/file_descriptor.hpp"
#include "reading/naming.hpp"

#include <memory>
#include <span>
#include <string>

namespace mmioscope::reading {

struct TraceOptions {
    std::string path = "-"; ///< "-": standard input
};

class Trace {
public:
    /// Reads up to the first record. Throws Error (bad_input) if this is no trace; tells of damaged
    /// parts on standard error, a line each.
    explicit Trace(const TraceOptions& options);

    /// The next event in the order of time; null at the end. It holds until the next call.
    const Event* next();

    /// The head, and after the last event the losses and the end.
    const trace::TraceReader& reader() const { return *reader_; }
    Naming& naming() { return *naming_; }

private:
    FileDescriptor file_;
    trace::FileSource source_;
    std::unique_ptr<trace::TraceReader> reader_;
    std::unique_ptr<Naming> naming_;
    std::span<const abi::Record> block_; ///< what has not been returned of the block read last
    Event event_;
};

} // namespace mmioscope::reading
