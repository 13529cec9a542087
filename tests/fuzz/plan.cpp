// The device tree of `mmioscope plan` is input: for any content there must be a plan or an error.
#include "plan/board_plan.hpp"
#include "system/error.hpp"

#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    try {
        const auto board = std::make_unique<plan::Survey>(std::as_bytes(std::span(data, size)));
        (void)plan::tables(*board);
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
