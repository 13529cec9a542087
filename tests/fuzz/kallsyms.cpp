// A kernel's image and lists of symbols are input: the result must be symbols, or one clear line of
// error. The first byte selects the reader.
#include "symbols/kernel_image.hpp"
#include "symbols/module_files.hpp"
#include "symbols/section.hpp"
#include "symbols/symbols.hpp"
#include "system/error.hpp"

#include <cstdlib>
#include <memory>
#include <span>

using namespace mmioscope::symbols;

namespace {

// Lookups must work in any list, and give the same results after the list went through a trace
// file. A trace file takes only plain names, and a limited number for one address.
void use(const SymbolList& symbols) {
    const auto payload = std::make_shared<const std::vector<std::byte>>(pack(symbols));
    const SymbolList packed = unpack(*payload);
    SectionFunctions section([&] { return payload; }, [](const std::string&) { std::abort(); });
    FunctionTable table(packed);
    for (std::uint32_t address : {0u, 0x7fff'fffcu, 0xc000'8000u, 0xffff'ffffu}) {
        mmioscope::Location location;
        mmioscope::Location of_section;
        if (section.locate(address, of_section) != table.locate(address, location) ||
            of_section.function != location.function || of_section.offset != location.offset) {
            std::abort();
        }
    }
}

void read(unsigned reader, std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    switch (reader % 5) {
    case 0: use(read_kernel_image(bytes).symbols); break;
    case 1: {
        const SymbolList packed = unpack(pack(read_kallsyms(text)));
        if (unpack(pack(packed)) != packed) {
            std::abort();
        }
        use(packed);
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
        // one clear line, as a command prints it
    }
    return 0;
}
