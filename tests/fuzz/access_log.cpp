// QEMU's log and that of the PCs are input to verify: any content must be read to the end. Import
// must refuse it or make a sound trace.
#include "file/trace_reader.hpp"
#include "import/qemu_log.hpp"
#include "system/error.hpp"
#include "verify/compare.hpp"

#include <unistd.h>

#include <cstdlib>
#include <span>

namespace {

using namespace mmioscope;

void import(std::span<const std::byte> bytes) {
    MemorySource log(bytes);
    const FileDescriptor file = memory_file("fuzz", 0);
    std::uint64_t accesses = 0;
    try {
        accesses = importing::import_qemu_log(log, file.get()).accesses;
    } catch (const Error&) {
        return; // one clear line, as a command prints it
    }
    ::lseek(file.get(), 0, SEEK_SET);
    FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string&) { std::abort(); });
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        accesses -= block.size();
    }
    if (!reader.sound() || accesses != 0) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    MemorySource log(bytes);
    (void)importing::read_access_log(log);
    MemorySource pc_log(bytes);
    (void)verify::read_pc_log(pc_log);
    import(bytes);
    return 0;
}
