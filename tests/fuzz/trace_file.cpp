// A trace file is input: its readers give records that the file holds, or say what is damaged.
#include "lib/error.hpp"
#include "lib/trace_reader.hpp"

#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope::trace;
    MemorySource source(std::as_bytes(std::span(data, size)));
    try {
        TraceReader trace(source, [](const std::string&) {});
        while (!trace.next().empty()) {
        }
    } catch (const mmioscope::Error&) {
        // one clear line: what a command prints
    }
    return 0;
}
