#include "view/event_text.hpp"

#include "abi/stack.hpp"
#include "records/kinds.hpp"
#include "records/record_text.hpp"
#include "records/ticks.hpp"
#include "registers/fields_text.hpp"
#include "system/text_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mmioscope::view {

using abi::Record;
using abi::RecordType;

namespace {

bool goes_on(char c) { // a byte of a UTF-8 character after the first
    return (c & 0xc0) == 0x80;
}

} // namespace

std::size_t width_of(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, goes_on));
}

std::string cut(std::string_view text, std::size_t width) {
    if (width_of(text) <= width) {
        return std::string(text);
    }
    const std::size_t dots = std::min<std::size_t>(2, width);
    std::size_t end = 0;
    for (std::size_t left = width - dots; left > 0 || goes_on(text[end]); ++end) {
        left -= goes_on(text[end]) ? 0 : 1;
    }
    return std::string(text.substr(0, end)).append(dots, '.');
}

std::string_view short_name(const LineStyle& style, std::string_view device) {
    const auto found = style.short_names.find(device);
    return found == style.short_names.end() ? device : std::string_view(found->second);
}

std::string value_of(const Event& event) {
    const unsigned digits = std::min(abi::access_size(event.record), 8u) * 2;
    return value_known(event) ? fmt::format("{:#0{}x}", event.record.value, digits + 2) : "?";
}

std::string words_of(const LineStyle& style, const Event& event) {
    switch (event.record.type) {
    case RecordType::access:
    case RecordType::own: return "";
    case RecordType::fault:
    case RecordType::move: return std::string(event.text());
    case RecordType::begin: return std::string(begun_text(style));
    default: return fmt::format("({})", trace::type_word(event.record.type));
    }
}

std::string colored(const LineStyle& style, std::string_view color, std::string_view text) {
    return style.color ? fmt::format("\x1b[{}m{}\x1b[m", color, text) : std::string(text);
}

bool is_stack(const Payload& payload) {
    abi::PayloadKind kind{};
    if (payload.bytes.size() >= sizeof kind) {
        std::memcpy(&kind, payload.bytes.data(), sizeof kind);
    }
    return kind == abi::PayloadKind::stack && payload.begins && payload.ends;
}

std::vector<Event> pieces_of(const Event& owner) {
    const Payload& payload = owner.payload();
    std::vector<Event> events;
    Event event = owner;
    event.payload_id = no_id;
    const auto add = [&](const abi::Record& piece) {
        event.number += piece.cpu_sequence - event.record.cpu_sequence;
        event.record = piece;
        event.ids = {};
        event.context_number = 0;
        events.push_back(event);
    };
    std::ranges::for_each(payload.pieces, add);
    if (!payload.ends) {
        add(abi::next_piece(event.record));
    }
    return events;
}

bool value_known(const Event& event) {
    return trace::value_known(event.record);
}

std::string direction_text(const Record& record) {
    return (abi::is_write(record) ? 'W' : 'R') + std::to_string(abi::access_size(record));
}

std::string register_or_offset(const LineStyle& style, const Event& event) {
    const Place& place = event.place();
    return style.raw ? registers::register_text(nullptr, place.offset)
                     : registers::register_text(place);
}

std::string meaning_text(const Event& event) {
    std::string text;
    if (const Register* const reg = event.reg()) {
        text = registers::fields_text(*reg, event.record.value, abi::access_size(event.record),
                                      static_cast<unsigned>(event.offset() - reg->offset));
    }
    if (const std::string_view interrupt = event.interrupt(); !interrupt.empty()) {
        text += fmt::format("{}<{}>", text.empty() ? "" : " ", interrupt);
    }
    return with_carried_out(std::move(text), event);
}

std::string with_carried_out(std::string text, const Event& event) {
    if (const std::string_view carried_out = event.carried_out(); !carried_out.empty()) {
        text += fmt::format("{}-> {}", text.empty() ? "" : " ", carried_out);
    }
    return text;
}

// Only the place of a module may be known.
std::string code_text(const Location& location) {
    const std::string module = location.module.empty() ? "" : '[' + location.module + ']';
    const std::string offset = '+' + hex_text(location.offset);
    return location.function.empty() ? module + offset
           : module.empty()          ? location.function + offset
                                     : location.function + offset + ' ' + module;
}

std::string function_text(const Location& location) {
    return location.function.empty() ? '[' + location.module + ']' : location.function;
}

std::string function_of(const LineStyle& style, const Event& event) {
    const Record& record = event.record;
    std::string text;
    if (style.pc && (style.raw || event.code() == nullptr)) {
        const std::uint64_t high = record.pc == 0 ? 0 : std::uint64_t{style.pc_high} << 32;
        text = fmt::format(" pc {:#010x}{}", high | record.pc, trace::mode_text(record.mode));
    } else if (style.pc) {
        text = ' ' + colored(style, color::code, code_text(*event.code()));
        text += trace::mode_text(record.mode);
    }
    return text;
}

std::string caller_of(const LineStyle& style, const Event& event) {
    const bool shown = style.pc && !style.raw && event.caller() != nullptr;
    return shown ? function_text(*event.caller()) : "";
}

std::string code_of(const LineStyle& style, const Event& event) {
    std::string text = function_of(style, event);
    if (style.pc && !style.raw && event.caller() != nullptr) {
        text += " <- " + function_text(*event.caller());
    }
    return text;
}

// Without code addresses, also hides the address of a stack, which is the task in User mode.
std::string task_of(const LineStyle& style, const Event& event) {
    const Record& record = event.record;
    const bool begun = record.type == RecordType::begin; // has its own words
    if (!style.raw && event.task() != nullptr) {
        return " [" + event.task()->comm + ':' + std::to_string(event.task()->pid) + ']';
    }
    const bool shown =
        style.raw ? style.pc || !trace::in_user_mode(record) : trace::may_be_task(record);
    return style.task && !begun && shown ? fmt::format(" [{:#010x}]", record.task) : "";
}

std::string_view begun_text(const LineStyle& style) {
    return style.selected ? "(begun, no end selected)" : "(begun, no end recorded)";
}

// Like strace -T, but with more digits: many accesses take less than 1 us.
std::string duration_text(const LineStyle& style, const Record& record) {
    const char* const about = (record.flags & abi::flag_estimated) != 0 ? "~" : "";
    if (style.frequency == 0) {
        return fmt::format("<{}{}t>", about, record.duration);
    }
    const std::uint64_t nanoseconds = trace::nanoseconds(record.duration, style.frequency);
    return fmt::format("<{}{}.{:09}>", about, nanoseconds / 1'000'000'000,
                       nanoseconds % 1'000'000'000);
}

} // namespace mmioscope::view
