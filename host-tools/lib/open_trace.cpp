#include "lib/open_trace.hpp"

#include "lib/error.hpp"

namespace mmioscope::trace {

TraceReader::Report tell_of(const std::string& path) {
    return
        [path](const std::string& text) { fmt::print(stderr, "mmioscope: {}: {}\n", path, text); };
}

std::unique_ptr<TraceReader> read_trace(ByteSource& source, const std::string& path,
                                        const TraceReader::Report& report,
                                        const TraceReader::Others& others) {
    try {
        return std::make_unique<TraceReader>(source, report, others);
    } catch (const Error& error) {
        throw Error(error.status(), path + ": " + error.what());
    }
}

} // namespace mmioscope::trace
