// An mmiotrace log may be any text: import must refuse it, or make a sound trace.
#include "import/mmiotrace.hpp"

#include "file/trace_reader.hpp"
#include "system/error.hpp"

#include <unistd.h>

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    const auto bytes = std::as_bytes(std::span(data, size));
    MemorySource first(bytes);
    MemorySource second(bytes);
    const FileDescriptor file = memory_file("fuzz", 0);
    try {
        importing::import_mmiotrace(first, second, file.get());
    } catch (const Error&) {
        return 0;
    }
    ::lseek(file.get(), 0, SEEK_SET);
    FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string&) { std::abort(); });
    while (!reader.next().empty()) {
    }
    if (!reader.sound()) {
        std::abort();
    }
    return 0;
}
