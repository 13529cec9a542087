// Description files are input: for any content, the result must be registers or one line of error.
#include "registers/description.hpp"
#include "registers/fields_text.hpp"
#include "registers/register_book.hpp"
#include "system/error.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace mmioscope;
    using namespace mmioscope::registers;
    RegisterBook book;
    try {
        book.add(read_regs({reinterpret_cast<const char*>(data), size}, "f"),
                 [](const std::string&) { return std::vector<Description>(); });
    } catch (const Error& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
        return 0;
    }
    for (const Description& description : book.descriptions()) {
        (void)overlap(description);
        for (const Entry& entry : description.entries) {
            const std::uint64_t end = entry.first.offset + extent(entry);
            for (const std::uint64_t offset : {entry.first.offset, end - 1, end / 2}) {
                const auto start = start_of(entry, offset);
                if (!start) continue;
                if (*start > offset || offset - *start >= entry.first.size) std::abort();
                const Register reg = instance(entry, *start);
                (void)fields_text(reg, 0xa5a5'a5a5'a5a5'a5a5, 4,
                                  static_cast<unsigned>(offset - *start));
            }
        }
    }
    return 0;
}
