// QEMU's log is input to verify: whatever stands in it, it is read to the end.
#include "verify/access_log.hpp"

#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    mmioscope::trace::MemorySource source(std::as_bytes(std::span(data, size)));
    (void)mmioscope::verify::read_access_log(source);
    return 0;
}
