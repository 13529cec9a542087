#include "symbols/section.hpp"

#include "lib/error.hpp"
#include "lib/file_reader.hpp"
#include "symbols/expand.hpp"
#include "symbols/function_table.hpp"
#include "symbols/function_text.hpp"
#include "symbols/kallsyms_text.hpp"

#include <string_view>

namespace mmioscope::symbols {

namespace {

constexpr std::size_t max_text = 128u << 20; ///< a stock kernel has 2 MB

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> lines(std::span<const std::byte> payload) {
    std::vector<std::byte> bytes = expand(Packing::zstd, payload, max_text);
    if (bytes.empty() != payload.empty() || (!bytes.empty() && text_of(bytes).back() != '\n')) {
        throw bad_input("the section of symbols is damaged");
    }
    return bytes;
}

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
    return read_kallsyms(text_of(lines(payload)));
}

std::unique_ptr<Source> SectionFunctions::unpacked() const {
    try {
        std::vector<std::byte> bytes = lines(payload_());
        if (auto text = FunctionText::of(bytes)) {
            return text;
        }
        return std::make_unique<FunctionTable>(read_kallsyms(text_of(bytes)));
    } catch (const Error& error) {
        report_(error.what());
        return std::make_unique<FunctionTable>(SymbolList());
    }
}

Source& SectionFunctions::functions() {
    if (!functions_) {
        functions_ = unpacked();
    }
    return *functions_;
}

bool SectionFunctions::locate(std::uint32_t address, Location& to) {
    return functions().locate(address, to);
}

Reach SectionFunctions::reach() {
    return functions().reach();
}

} // namespace mmioscope::symbols
