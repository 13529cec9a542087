#include "symbols/section.hpp"

#include "lib/error.hpp"
#include "lib/file_reader.hpp"
#include "symbols/expand.hpp"
#include "symbols/kallsyms_text.hpp"

#include <string_view>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t max_text = 128u << 20; ///< a stock kernel has 2 MB

} // namespace

std::vector<std::byte> pack(std::span<const Symbol> symbols) {
    if (symbols.empty()) {
        return {};
    }
    const std::string text = kallsyms_text(symbols);
    std::vector<std::byte> payload = compress(std::as_bytes(std::span(text)));
    if (text.size() > max_text || payload.size() > trace::max_payload) {
        throw bad_input("too many symbols for a trace file: {} bytes", text.size());
    }
    return payload;
}

SymbolList unpack(std::span<const std::byte> payload) {
    const std::vector<std::byte> bytes = expand(Packing::zstd, payload, max_text);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.empty() != payload.empty() || (!text.empty() && text.back() != '\n')) {
        throw bad_input("the section of symbols is damaged");
    }
    return read_kallsyms(text);
}

} // namespace mmioscope::symbols
