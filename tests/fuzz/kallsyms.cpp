// A kernel's image and lists of symbols are input: they give symbols, or one clear line. The first
// byte chooses the reader.
#include "lib/error.hpp"
#include "symbols/function_table.hpp"
#include "symbols/function_text.hpp"
#include "symbols/kallsyms_text.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/module_list.hpp"
#include "symbols/section.hpp"
#include "symbols/symbols.hpp"
#include "symbols/task_offsets.hpp"

#include <cstdlib>
#include <memory>
#include <span>

using namespace mmioscope::symbols;

namespace {

// Any list can be looked up in, and is the same after it went through a trace file.
void use(const SymbolList& symbols) {
    const std::string lines = kallsyms_text(symbols);
    const auto bytes = std::as_bytes(std::span(lines));
    std::vector<std::byte> own(bytes.begin(), bytes.end());
    const auto text = FunctionText::of(own);
    FunctionTable table(text ? read_kallsyms(lines) : symbols);
    for (std::uint32_t address : {0u, 0x7fff'fffcu, 0xc000'8000u, 0xffff'ffffu}) {
        mmioscope::Location location;
        mmioscope::Location by_text;
        if (text && (text->locate(address, by_text) != table.locate(address, location) ||
                     by_text.function != location.function || by_text.offset != location.offset)) {
            std::abort();
        }
        location = {};
        if (table.locate(address, location) && location.function.empty() && !symbols.empty()) {
            return;
        }
    }
}

void read(unsigned reader, std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    switch (reader % 5) {
    case 0: use(read_kernel_image(bytes).symbols); break;
    case 1: {
        const SymbolList symbols = read_kallsyms(text);
        if (unpack(pack(symbols)) != symbols) {
            std::abort();
        }
        use(symbols);
        break;
    }
    case 2: read_modules(text); break;
    case 4: find_task_offsets(bytes, reader % 2 != 0); break;
    default: use(unpack(bytes)); break;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    try {
        read(data[0], std::as_bytes(std::span(data, size)).subspan(1));
    } catch (const mmioscope::Error&) {
        // one clear line: what a command prints
    }
    return 0;
}
