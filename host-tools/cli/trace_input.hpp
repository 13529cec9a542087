// A trace file as an argument of a command.
#pragma once

#include "lib/byte_source.hpp"
#include "lib/trace_reader.hpp"

#include <memory>
#include <string>

namespace mmioscope::cli {

class TraceInput {
public:
    /// Opens `path`; "-" is standard input. What is compressed with zstd is decompressed. Damage is
    /// told on standard error. Throws Error (bad_input) that names `path` if it cannot be read as a
    /// trace.
    explicit TraceInput(const std::string& path);

    trace::TraceReader& reader() { return *reader_; }

private:
    std::unique_ptr<trace::ByteSource> source_;
    std::unique_ptr<trace::TraceReader> reader_;
};

} // namespace mmioscope::cli
