// A trace file as an argument of a command.
#pragma once

#include "cli/read_progress.hpp"
#include "file/trace_reader.hpp"
#include "system/byte_source.hpp"

#include <memory>
#include <string>

namespace mmioscope::cli {

class TraceInput {
public:
    /// Opens `path`; "-" is standard input. What is compressed with zstd is decompressed. Damage is
    /// told on standard error, what is read to `progress`, which outlives this. Throws Error
    /// (bad_input) that names `path` if it cannot be read as a trace.
    TraceInput(const std::string& path, ReadProgress& progress);

    trace::TraceReader& reader() { return *reader_; }

private:
    std::unique_ptr<ByteSource> source_;
    std::unique_ptr<trace::TraceReader> reader_;
};

} // namespace mmioscope::cli
