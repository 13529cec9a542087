// SVD files are input: for any content, the result must be registers or one line of error.
#include "registers/description.hpp"
#include "system/error.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    using namespace mmioscope::registers;
    try {
        LeftOut left_out;
        for (const Description& description :
             read_svd({reinterpret_cast<const char*>(data), size}, "f", left_out)) {
            for (const Entry& entry : description.entries) {
                const auto start = start_of(entry, entry.first.offset + extent(entry) - 1);
                if (start) (void)instance(entry, *start);
            }
        }
    } catch (const Error& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    }
    return 0;
}
