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
    /// Opens `path`; "-" is standard input. Decompresses zstd. Reports damage on standard error,
    /// and its position to `progress`, which must outlive this. Throws Error (bad_input) that names
    /// `path` if it is not a readable trace.
    TraceInput(const std::string& path, ReadProgress& progress);

    trace::TraceReader& reader() { return *reader_; }

private:
    std::unique_ptr<ByteSource> source_;
    std::unique_ptr<trace::TraceReader> reader_;
};

} // namespace mmioscope::cli
