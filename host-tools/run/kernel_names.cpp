#include "run/kernel_names.hpp"

#include "lib/error.hpp"
#include "run/input.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/section.hpp"

namespace mmioscope::run {

KernelNames kernel_names(const Options& options) {
    if (options.bare) {
        return {};
    }
    try {
        symbols::KernelImage kernel =
            symbols::read_kernel_image(read_input(options.kernel, "kernel"));
        std::vector<std::byte> packed = symbols::pack(kernel.symbols);
        return {std::move(kernel.banner), std::move(packed), kernel.task_offsets,
                symbols::FunctionTable(std::move(kernel.symbols))};
    } catch (const Error& error) {
        fmt::print(stderr, "mmioscope: warning: the trace has no names of functions: {}\n",
                   error.what());
        return {};
    }
}

} // namespace mmioscope::run
