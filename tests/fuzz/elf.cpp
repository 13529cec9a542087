// An ELF file with symbols is input: the result must be functions and lines, or one clear line of
// error.
#include "symbols/elf_file.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <span>

#ifndef LLVMFuzzerTestOneInput // only in the fuzzer, not when unit tests replay its inputs
// libdw leaks memory for files that are damaged in certain ways.
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    const FileDescriptor file = memory_file("elf", 0);
    append(file.get(), std::as_bytes(std::span(data, size)), "the input");
    try {
        symbols::ElfFile elf(file);
        if (elf.relocatable()) {
            elf.place(0xbf00'0000, "module");
        }
        const symbols::SymbolList all = elf.symbols();
        for (std::size_t i = 0; i < all.size() && i < 64; ++i) {
            Location location;
            (void)elf.locate(all[i].address, location);
        }
    } catch (const Error&) {
        // one clear line, as a command prints it
    }
    return 0;
}
