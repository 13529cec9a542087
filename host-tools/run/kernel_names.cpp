#include "run/kernel_names.hpp"

#include "lib/error.hpp"
#include "run/input.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/section.hpp"

namespace mmioscope::run {

KernelNames::KernelNames(const Options& options) {
    if (!options.bare) {
        future_ = std::async(std::launch::async, decode, options.kernel);
    }
}

KernelNames::Names KernelNames::decode(const std::string& path) {
    Names names;
    try {
        symbols::KernelImage kernel = symbols::read_kernel_image(read_input(path, "kernel"));
        names.banner = std::move(kernel.banner);
        names.symbols = symbols::pack(kernel.symbols);
    } catch (const Error& error) {
        names.why_not = error.what();
    }
    return names;
}

void KernelNames::wait() {
    if (!future_.valid()) {
        return;
    }
    names_ = future_.get();
    if (!names_.why_not.empty()) {
        fmt::print(stderr, "mmioscope: warning: the trace has no names of functions: {}\n",
                   names_.why_not);
    }
}

} // namespace mmioscope::run
