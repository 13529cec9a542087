#include "run/kernel_names.hpp"

#include "run/elf_segments.hpp"
#include "run/input.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/section.hpp"
#include "symbols/symbol_files.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

namespace mmioscope::run {

namespace {

symbols::KernelImage of_image(const Options& options) {
    if (options.bare) {
        return {};
    }
    try {
        return symbols::read_kernel_image(read_input(options.kernel, "kernel"));
    } catch (const Error& error) {
        print_message("mmioscope: warning: no names of functions found in the kernel image: {}\n",
                      error.what());
        return {};
    }
}

} // namespace

KernelNames kernel_names(const Options& options) {
    std::vector<std::string> files = options.symbols;
    if (options.bare && is_elf(read_input(options.kernel, "kernel"))) {
        files.push_back(options.kernel);
    }
    symbols::SymbolList all =
        files.empty() ? symbols::SymbolList() : symbols::unpack(symbols::section_of(files));
    symbols::KernelImage kernel = of_image(options);
    all.insert(all.end(), kernel.symbols.begin(), kernel.symbols.end());
    return {std::move(kernel.banner), symbols::pack(all), kernel.task_offsets,
            symbols::FunctionTable(std::move(kernel.symbols))};
}

} // namespace mmioscope::run
