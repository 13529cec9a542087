// QEMU's log and that of the PCs are input to verify: whatever stands in them, they are read to the
// end.
#include "verify/access_log.hpp"
#include "verify/pc_log.hpp"

#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    mmioscope::trace::MemorySource log(bytes);
    (void)mmioscope::verify::read_access_log(log);
    mmioscope::trace::MemorySource pc_log(bytes);
    (void)mmioscope::verify::read_pc_log(pc_log);
    return 0;
}
