// A trace file is input: its readers give records that the file holds, or say what is damaged;
// whole, through its index, from a zstd stream, and as `mmioscope check` reads it.
#include "lib/error.hpp"
#include "lib/trace_check.hpp"
#include "lib/trace_reader.hpp"
#include "lib/zstd_source.hpp"

#include <optional>
#include <span>

namespace {

using namespace mmioscope::trace;

void read(ByteSource& source, std::optional<TimeSpan> times = {}) try {
    TraceReader trace(source, [](const std::string&) {});
    if (times) {
        trace.select(*times);
    }
    while (!trace.next().empty()) {
    }
} catch (const mmioscope::Error&) {
    // one clear line: what a command prints
}

void check(ByteSource& source) try { check_trace(source); } catch (const mmioscope::Error&) {
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    MemorySource whole(bytes);
    read(whole);
    // Of some time, perhaps one that is in it.
    std::uint64_t time = 0;
    std::memcpy(&time, data + size / 2 / 8 * 8, size / 2 / 8 * 8 + 8 <= size ? 8 : 0);
    MemorySource ranged(bytes);
    read(ranged, TimeSpan{time, time + 1000});
    MemorySource compressed(bytes);
    ZstdSource decompressed(compressed);
    read(decompressed);
    MemorySource checked(bytes);
    check(checked);
    return 0;
}
