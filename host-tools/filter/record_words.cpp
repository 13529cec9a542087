#include "filter/record_words.hpp"

#include "registers/fields_text.hpp"

#include <fmt/compile.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace mmioscope::filter {

namespace {

constexpr std::array<std::string_view, 16> modes = {"usr", "fiq", "irq", "svc", "m4",  "m5",
                                                    "mon", "abt", "m8",  "m9",  "hyp", "und",
                                                    "m12", "m13", "m14", "sys"};

void append_word(std::string& to, std::string_view word) {
    to += to.empty() ? "" : " ";
    to += word;
}

std::string value_text(const Field& field, std::uint64_t bits) {
    const std::string* name = registers::value_name(field, bits);
    return name != nullptr    ? *name
           : field.width == 1 ? fmt::format(FMT_COMPILE("{}"), bits)
                              : fmt::format(FMT_COMPILE("{:#x}"), bits);
}

} // namespace

std::string mode_word(std::uint8_t mode) {
    std::string word(modes[mode & 0xfu]);
    return (mode & abi::mode_thumb) != 0 ? word + " thumb" : word;
}

std::string flag_words(const abi::Record& record) {
    static constexpr std::array<std::pair<unsigned, std::string_view>, 10> words = {{
        {abi::flag_value_unknown, "value_unknown"},
        {abi::flag_early, "early"},
        {abi::flag_same_instruction, "same_instruction"},
        {abi::flag_boot, "boot"},
        {abi::flag_estimated, "estimated"},
        {abi::flag_payload, "payload"},
        {abi::flag_returns, "returns"},
        {abi::access_sign_extend << 8, "sign_extended"},
        {abi::access_syndrome << 8, "syndrome"},
        {abi::access_emulated << 8, "emulated"},
    }};
    const bool piece = record.type == abi::RecordType::payload; // `access` is a number of bytes
    const unsigned bits = record.flags | (piece ? 0u : unsigned{record.access} << 8);
    std::string text;
    for (const auto& [bit, word] : words) {
        if ((bits & bit) != 0) {
            append_word(text, word);
        }
    }
    return text;
}

std::string code_words(const Location* code) {
    if (code == nullptr || code->function.empty()) {
        return {};
    }
    const std::string place = fmt::format(FMT_COMPILE("{}+{:#x}"), code->function, code->offset);
    return code->module.empty() ? place : fmt::format(FMT_COMPILE("{} [{}]"), place, code->module);
}

std::string source_words(const Location* code) {
    return code == nullptr || code->lines.empty()
               ? std::string()
               : fmt::format("{}:{}", code->lines.front().file, code->lines.front().line);
}

std::string field_words(const Event& event) {
    std::string text;
    if (event.reg() != nullptr && has_bus_value(event.record)) {
        const auto within = static_cast<unsigned>(event.offset() - event.reg()->offset);
        for (const Field& field : event.reg()->fields) {
            if (registers::holds(field, abi::access_size(event.record), within)) {
                const std::uint64_t bits =
                    registers::field_value(field, event.record.value, within);
                append_word(text, field.name + "=" + value_text(field, bits));
            }
        }
    }
    return text;
}

const Field* lone_field(const Event& event) {
    const Register* const reg = event.reg();
    const Field* lone = nullptr;
    if (reg == nullptr) {
        return nullptr;
    }
    for (const Field& field : reg->fields) {
        if (registers::holds(field, abi::access_size(event.record),
                             static_cast<unsigned>(event.offset() - reg->offset))) {
            if (lone != nullptr || field.width == 1 || !field.values.empty()) {
                return nullptr;
            }
            lone = &field;
        }
    }
    return lone;
}

std::string payload_words(const Event& event) {
    const Payload& payload = event.payload();
    if (payload.bytes.empty() && payload.begins && payload.ends) {
        return {};
    }
    return fmt::format("{}{:02x}{}", payload.begins ? "" : "..", fmt::join(payload.bytes, ""),
                       payload.ends ? "" : "..");
}

std::string_view plain_text(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? text.substr(1, text.size() - 2) : text;
}

} // namespace mmioscope::filter
