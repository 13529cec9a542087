#include "run/kernel_names.hpp"

#include "run/input.hpp"
#include "run/kernel_cache.hpp"
#include "symbols/section.hpp"
#include "symbols/symbol_files.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

namespace mmioscope::run {

namespace {

/// Reads the image only if no run has kept what it says.
KernelFacts facts_of(const Bytes& image, const std::string& folder) {
    const KernelCache cache(folder, image);
    if (std::optional<KernelFacts> kept = cache.find()) {
        return std::move(*kept);
    }
    const symbols::KernelImage kernel = symbols::read_kernel_image(image);
    KernelFacts facts{kernel.banner, symbols::pack(kernel.symbols), kernel.task_offsets,
                      symbols::frames_of(kernel).bytes()};
    cache.keep(facts);
    return facts;
}

KernelFacts facts_of_kernel(const Options& options) {
    try {
        return facts_of(read_input(options.kernel, "kernel"),
                        options.no_cache ? "" : user_cache_folder("kernels"));
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
    KernelFacts kernel = options.bare ? KernelFacts() : facts_of_kernel(options);
    symbols::SymbolList own =
        kernel.symbols.empty() ? symbols::SymbolList() : symbols::unpack(kernel.symbols);
    if (!files.empty()) { // the user's files come first
        symbols::SymbolList all = symbols::unpack(symbols::section_of(files));
        all.insert(all.end(), own.begin(), own.end());
        kernel.symbols = symbols::pack(all);
    }
    return {std::move(kernel.banner), std::move(kernel.symbols), std::move(kernel.frames),
            kernel.task_offsets, symbols::FunctionTable(std::move(own))};
}

} // namespace mmioscope::run
